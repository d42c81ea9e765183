"""Kernels of methods made for positive-unlabelled rows: PRFS, puCFS, PUFS."""
