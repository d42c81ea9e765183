"""Searches over feature masks: ask for a generation, tell its scores; no I/O, no engine."""
