"""Runs beside each other: what changed between two of them, and all of a directory over time."""
