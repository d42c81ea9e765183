"""Wrappers: features are chosen by how well a model learns from them."""
