"""Soft labels: a cross-fitted teacher says of every row how likely it is positive, students say by which columns."""
