"""Methods: each reads like its algorithm and asks an engine for counts or rows; ``registry`` has them by name."""
