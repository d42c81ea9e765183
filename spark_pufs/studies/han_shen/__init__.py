"""Experiments of Han & Shen 2016 (PUFS)."""
