"""Experiments of Uchikoshi & Akimoto (FSCPU)."""
