"""The checked, binned, packed table, and counts of it on demand."""
