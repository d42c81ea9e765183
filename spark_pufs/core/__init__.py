"""Pure numerical kernels: numpy and scipy only, no Spark, no files, no clock, no global random state."""
