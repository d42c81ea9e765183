"""Parquet files read column by column with pyarrow: the values that Spark's reader gives, or none."""
