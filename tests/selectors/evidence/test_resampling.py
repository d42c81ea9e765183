"""Stability from counts per group of rows: no further pass, the same frequencies as halves drawn row by row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from spark_pufs.core.counting import grouped_counts
from spark_pufs.engines.local import LocalEngine
from spark_pufs.request import Request
from spark_pufs.run.execution import IN_PROCESS, select_with
from spark_pufs.selectors.evidence.resampling import resampled
from spark_pufs.selectors.registry import method_named
from spark_pufs.selectors.task import make_task
from spark_pufs.table.pu_table import inspect
from spark_pufs.types import LabelRule


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of a few thousand rows are counted by group."""
    monkeypatch.setattr(grouped_counts, "FEW", 1000)


def table(rows: int = 8000, decimals: int = 12) -> pd.DataFrame:
    """Twelve columns that shift with the class, some much, some hardly; 400 rows labelled."""
    rng = np.random.default_rng(1)
    positive = rng.random(rows) < 0.2
    X = rng.normal(size=(rows, 12)) + positive[:, None] * np.linspace(0.0, 0.6, 12)
    frame = pd.DataFrame(X.round(decimals)).set_axis([f"x{i}" for i in range(12)], axis=1)
    return frame.assign(label=(positive & (rng.random(rows) < 0.25)).astype(int))


def request(method: str, stability: int) -> Request:
    return Request(LabelRule("label"), method, k=5, stability=stability, prior=0.2)


@pytest.mark.parametrize("method", ["semi-mim", "semi-jmi", "mrmr", "cmim", "pucfs"])
def test_half_samples_take_no_pass_and_change_no_answer(method: str) -> None:
    engines = [LocalEngine(table()) for _ in range(2)]
    without, with_ = (select_with(engine, request(method, runs)) for engine, runs in zip(engines, (0, 5), strict=True))
    assert [one.what for one in engines[0].passes] == [one.what for one in engines[1].passes]
    assert with_.features == without.features
    found = with_.findings.stability
    assert found is not None
    assert found.runs == 5
    assert sum(found.frequency.values()) == pytest.approx(5)


def test_frequencies_are_those_of_halves_drawn_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted, method = request("semi-mim", 100), method_named("semi-mim")
    engine = LocalEngine(table())
    plan = inspect(engine, wanted, method.binning)
    found = []
    for single in (1000, 10**9):
        monkeypatch.setattr(grouped_counts, "FEW", single)
        task = make_task(engine, plan, method, wanted, IN_PROCESS)
        task.counter.labels()
        found.append(resampled(task, 100)[0])
    by_group, by_row = found
    assert np.abs(by_group.frequency - by_row.frequency).max() < 0.2  # three errors of the difference of shares of 100
    assert abs(by_group.index - by_row.index) < 0.1


def test_tables_of_repeated_rows_are_halved_row_by_row() -> None:
    """Of two columns with one digit a few hundred rows are different: groups of equal rows are no half-samples."""
    engine, few_rows = LocalEngine(table(decimals=0)[["x1", "x11", "label"]]), replace(request("semi-mim", 4), k=1)
    found = select_with(engine, few_rows)
    assert found.findings.stability is not None
    assert "sample" in [one.what for one in engine.passes]


def test_counts_that_do_not_fit_are_not_gathered() -> None:
    engine = LocalEngine(table())
    found = select_with(engine, replace(request("semi-jmi", 4), pair_memory_mb=0))
    assert found.findings.stability is not None
    assert "sample" in [one.what for one in engine.passes]
