"""Mutual information, G-tests and their power, from integer counts; surrogates of the hidden class."""
