"""The selectors as a scikit-learn transformer, on pandas tables and in this process."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_pufs.local.selector import PUSelector

__all__ = ["PUSelector"]


def __getattr__(name: str) -> object:
    # Loaded when first used: scikit-learn takes a while to import, and a saved pipeline may name this module only.
    if name not in __all__:
        raise AttributeError(f"module 'spark_pufs.local' has no attribute {name!r}")
    return getattr(importlib.import_module("spark_pufs.local.selector"), name)
