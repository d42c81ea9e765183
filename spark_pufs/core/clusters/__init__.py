"""Gaussian mixtures on masked columns, and how well their clusters concentrate the labelled rows."""
