"""What the command line and spark-submit start: a configuration in, a run directory out."""
