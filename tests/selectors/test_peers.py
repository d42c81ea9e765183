"""What public implementations answered on one small table; benchmarks/family_peers.py compares them on larger ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spark_pufs import select


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """120 rows of three states: ``b`` and ``f`` follow the label, ``e`` follows ``b`` and ``c`` follows ``f``."""
    rng = np.random.default_rng(7)
    label = (np.arange(120) % 3 == 0).astype(int)
    X = rng.integers(0, 3, size=(120, 7))
    X[:, 1] = np.where(rng.random(120) < 0.7, label + rng.integers(0, 2, 120), X[:, 1])
    X[:, 4] = np.where(rng.random(120) < 0.8, X[:, 1], X[:, 4])
    X[:, 5] = np.where(rng.random(120) < 0.5, 2 * label, X[:, 5])
    X[:, 2] = np.where(rng.random(120) < 0.5, X[:, 5], X[:, 2])
    return pd.DataFrame(X, columns=list("abcdefg")).assign(label=label)


@pytest.mark.parametrize(("criterion", "order"), [("miq", "fbcdeag"), ("mid", "fbadcge")])
def test_mrmr_orders_as_pymrmr(table: pd.DataFrame, criterion: str, order: str) -> None:
    found = select(table, label="label", method="mrmr", criterion=criterion, categorical=["*"], k=7, correction="none")
    assert "".join(found.names) == order  # pymrmr 0.1.11


@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_iamb_finds_the_blanket_of_pycausalfs(table: pd.DataFrame, alpha: float) -> None:
    found = select(table, label="label", method="iamb", alpha=alpha, categorical=["*"])
    assert set(found.names) == {"b", "f"}  # pyCausalFS 0.23
