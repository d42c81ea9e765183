"""Everything that touches pyspark; nothing else in the package imports it."""
