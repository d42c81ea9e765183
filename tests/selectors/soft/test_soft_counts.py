"""Rankings by soft labels find what few labels alone show dimly, and count the same in steps as in one pass."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spark_pufs import select

METHODS = ("soft-mim", "soft-jmi", "soft-cmim")


def flows(seed: int = 0, rows: int = 2000, labelled: int = 30) -> pd.DataFrame:
    """Four of eleven columns tell the class, one in text."""
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.15
    frame = pd.DataFrame(rng.normal(size=(rows, 10)), columns=list("abcdefghij"))
    frame[["b", "e", "h"]] += 1.3 * y[:, None]
    frame["kind"] = np.where(rng.random(rows) < 0.1 + 0.5 * y, "x", rng.choice(["u", "v", "w"], rows))
    known = rng.choice(np.flatnonzero(y), labelled, replace=False)
    return frame.assign(label=np.isin(np.arange(rows), known).astype(int))


@pytest.mark.parametrize("method", METHODS)
def test_relevant_columns_come_first(method: str) -> None:
    found = select(flows(), label="label", method=method, k=4)
    assert set(found.names) == {"b", "e", "h", "kind"}
    assert found.surrogate["name"] == "soft"


@pytest.mark.parametrize("method", ["soft-jmi", "soft-cmim", "soft-mrmr"])
def test_pairs_in_one_pass_or_step_by_step(method: str) -> None:
    whole, steps = (
        select(flows(1), label="label", method=method, k=5, trees=10, pair_memory_mb=size) for size in (256, 0)
    )
    assert whole.features == steps.features


def test_a_sample_teaches_and_all_rows_count() -> None:
    found = select(flows(2, rows=6000), label="label", method="soft-jmi", k=4, rows=1000)
    assert found.details["sample"].startswith("a sample of ")
    assert set(found.names) == {"b", "e", "h", "kind"}


def test_noise_is_called_noise() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(800, 5)), columns=list("abcde"))
    found = select(frame.assign(label=(np.arange(800) < 25).astype(int)), label="label", method="soft-jmi", k=2)
    assert any("No better than chance" in warning for warning in found.warnings)
