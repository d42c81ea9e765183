"""The run directory: one run at a time, files replaced whole, the manifest last; MLflow."""
