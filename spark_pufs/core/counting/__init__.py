"""One pass over rows: kernels with states that merge to the same integers however the rows are partitioned."""
