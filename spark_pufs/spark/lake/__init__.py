"""Tables of Delta and Iceberg: which state is read, and results as such tables."""
