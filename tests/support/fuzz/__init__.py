"""Doors of the package, cases drawn for them, and what must hold after each."""
