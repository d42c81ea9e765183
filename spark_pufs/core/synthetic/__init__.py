"""Data with a known answer: artificial conditions, Bayesian networks, labelling mechanisms."""
