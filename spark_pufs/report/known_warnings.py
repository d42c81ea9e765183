"""Warnings of an answer that the report tells in a place of its own."""

from __future__ import annotations

__all__ = ["NOTHING_CHOSEN", "few_labels"]

NOTHING_CHOSEN = (
    "No feature was chosen: table() ranks them; semi-jmi and other methods that rank choose as many as k says."
)


def few_labels(labelled: int) -> str:
    """The warning of an answer that hangs on so few labelled rows."""
    return f"Only {labelled:,} row{'' if labelled == 1 else 's'} labelled positive: expect changes with more labels."
