"""Parquet files that the tasks themselves read: whether they may, and how."""
