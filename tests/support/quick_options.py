"""Settings that cut a method's work down to what shows the rules."""

from __future__ import annotations

from typing import Any

from spark_pufs.selectors.registry import METHODS

# A method takes those of its options that are named here.
QUICK: dict[str, Any] = {
    "generation_size": 16,
    "generations": 1,
    "pairs": 4,
    "evaluations": 2,
    "trees": 3,
    "steps": 5,
    "iterations": 5,
    "samplings": 2,
    "folds": 2,
    "bags": 2,
    "repeats": 1,
    "nodes": 8,
    "methods": ["semi-mim", "k-best"],
}


def quick(method: str) -> dict[str, Any]:
    own = {"search": "paper"} if "evaluations" in METHODS[method].options else {}
    return own | {name: value for name, value in QUICK.items() if name in METHODS[method].options}
