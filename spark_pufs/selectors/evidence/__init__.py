"""Methods run again on parts of a bounded sample: comparison, sizes, stability, the automatic choice."""
