"""A job that lists likely positives with a recall: the table, what the report says, and what cannot be promised."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from spark_pufs import ConfigError, DataError
from spark_pufs.jobs.config import RunConfig, parse
from spark_pufs.jobs.select_job import run_select

ROWS = 900


def config(folder: Path, labelled: int = 40, **output: object) -> RunConfig:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 4))
    y = np.arange(ROWS) < 200
    X[y, :2] += 4
    label = np.zeros(ROWS, int)
    label[rng.choice(200, labelled, replace=False)] = 1
    pd.DataFrame(X, columns=list("abcd")).assign(row=np.arange(ROWS), label=label).to_parquet(folder / "rows.parquet")
    given = {
        "source": {"path": str(folder / "rows.parquet")},
        "label": {"column": "label"},
        "features": {"keep": ["row"]},
        "select": {"method": "semi-mim", "k": 2},
        "output": {"path": str(folder / "run"), **output},
        "engine": "memory",
    }
    return parse(given)


def test_the_list_and_what_it_promises(tmp_path: Path) -> None:
    done = run_select(config(tmp_path, recall=0.8))
    assert done.selection is not None
    promised = done.selection.findings.promised
    assert promised is not None
    listed = pd.read_parquet(tmp_path / "run" / "likely_positives_0.8.parquet")
    assert list(listed.columns) == ["row", "score"]
    assert len(listed) == promised.rows
    assert (listed["row"] < 200).mean() > 0.9
    assert len(listed) > 0.7 * 160
    stored = json.loads((tmp_path / "run" / "selection.json").read_text())
    assert stored["details"]["promised"]["recall"] == 0.8
    report = (tmp_path / "run" / "report.md").read_text()
    assert f"A list of {promised.rows:,} rows holds at least 80 % of the positives" in report


def test_another_recall_is_another_list_and_the_same_one_is_done(tmp_path: Path) -> None:
    run_select(config(tmp_path, recall=0.8))
    assert "Already done" in run_select(config(tmp_path, recall=0.8)).message
    assert run_select(config(tmp_path, recall=0.9)).selection is not None
    assert (tmp_path / "run" / "likely_positives_0.9.parquet").exists()


def test_what_cannot_be_promised_is_told_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"5 labelled rows cannot promise 0\.9 of the positives, 9 can"):
        run_select(config(tmp_path, labelled=5, recall=0.9), dry_run=True)
    with pytest.raises(ConfigError, match=r"output\.recall"):
        config(tmp_path, recall=1.5)
    given = config(tmp_path, recall=0.9)
    without = given.model_copy(update={"features": given.features.model_copy(update={"keep": []})})
    with pytest.raises(ConfigError, match=r"'output\.recall': needs identifiers"):
        run_select(without)
