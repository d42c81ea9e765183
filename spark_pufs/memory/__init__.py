"""Counts per partition of a table, kept between runs: a run reads what is new and adds."""
