from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.engines.local import LocalEngine
from spark_pufs.errors import ConfigError
from spark_pufs.jobs import select_job
from spark_pufs.jobs.config import RunConfig, parse


def table(condition: int) -> pd.DataFrame:
    data = make_artificial(CONDITIONS[condition], seed=5, negatives=1600, positives=200)
    return pd.DataFrame(data.X, columns=data.names).assign(label=data.s.astype(int))


@pytest.mark.parametrize(("condition", "verdict"), [(0, "holds"), (3, "holds"), (8, "does not hold")])
def test_the_assumption_is_told_from_its_absence(condition: int, verdict: str) -> None:
    found = spark_pufs.check_clusters(table(condition), label="label", features=["relevant_*"])
    assert found.verdict == verdict
    assert found.reason


def test_shuffled_labels_do_not_hold() -> None:
    shuffled = table(0)
    shuffled["label"] = np.random.default_rng(0).permutation(shuffled["label"])
    assert spark_pufs.check_clusters(shuffled, label="label", features=["relevant_*"]).verdict != "holds"


@pytest.mark.parametrize("clusters", [0, "5", 2.5])
def test_a_number_of_clusters_that_cannot_be(clusters: Any) -> None:
    with pytest.raises(ConfigError, match="Option 'clusters': must be a whole number from 2 to 100, got "):
        spark_pufs.check_clusters(table(0), label="label", clusters=clusters)


def test_the_command_reads_the_select_section(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def opened(config: RunConfig, note: object) -> Iterator[LocalEngine]:
        yield LocalEngine(table(0))

    monkeypatch.setattr(select_job, "opened", opened)
    config = {"source": {"path": "x"}, "label": {"column": "label"}, "output": {"path": "o"}}

    def told(**select: Any) -> str:
        return select_job.run_check(parse({**config, "features": {"include": ["relevant_*"]}, "select": select}))

    few = spark_pufs.check_clusters(table(0), label="label", features=["relevant_*"], clusters=2)
    assert told(method="fscpu", clusters=2, generations=5, k=3) == str(few)
    assert told() == told(method="fscpu", clusters=10) != str(few)
    with pytest.raises(ConfigError, match="Option 'clustres': is not an option of method 'fscpu'"):
        told(method="fscpu", clustres=5)
    with pytest.raises(ConfigError, match="Option 'surogate': is not an option of method 'distil'"):
        told(surogate="y0")


def test_scores_are_public() -> None:
    predicted = np.array([1, 1, 1, 0, 0, 0], bool)
    labelled = np.array([1, 0, 0, 0, 0, 0], bool)
    found = spark_pufs.scores(predicted, labelled, rho=0.5)
    assert found.recall.value == 1.0
    assert found.precision.value == pytest.approx(1 / (0.5 * 3))
