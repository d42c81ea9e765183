"""Experiments of Sechidis & Brown 2017."""
