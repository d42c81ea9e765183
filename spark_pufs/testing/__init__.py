"""For authors of methods: what every method owes, as checks to run in tests of their own."""

from spark_pufs.testing.conformance import CHECKS, Subject, check_method

__all__ = ["CHECKS", "Subject", "check_method"]
