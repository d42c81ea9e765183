"""Kernels of the papers' baselines: rows in, one score per feature out. No input, no output, no global randomness."""
