"""Who gets a label: the verdict over columns, and columns whose answer is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spark_pufs import check_labels, select
from spark_pufs.cli import run
from spark_pufs.core.evidence.labelling_check import LabelledColumn, labelling_check
from spark_pufs.report import to_markdown
from spark_pufs.selection import Selection

ROWS = 3_000


def table(slope: float, gap: float = 4.0, seed: int = 0) -> pd.DataFrame:
    """1,000 positives, a third labelled, by ``region`` where ``slope`` is not 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 6))
    y = np.arange(ROWS) < 1_000
    X[y, :4] += gap / 2
    chance = 0.6 / (1 + np.exp(-slope * X[:, 5]))
    names = ["a", "b", "c", "d", "noise", "region"]
    return pd.DataFrame(X, columns=names).assign(label=(y & (rng.random(ROWS) < chance)).astype(int))


def test_the_column_that_labels_follow_is_named() -> None:
    found = check_labels(table(slope=2), label="label")
    assert found.verdict == "depends"
    assert found.found == ("region",)
    assert found.columns[0].name == "region"
    assert "labelled_by" in str(found)


def test_labels_by_chance_give_no_alarm() -> None:
    verdicts = [check_labels(table(slope=0, seed=seed), label="label").verdict for seed in range(4)]
    assert set(verdicts) <= {"no sign", "cannot tell"}
    assert "no sign" in verdicts


def test_where_classes_overlap_nothing_is_told() -> None:
    found = check_labels(table(slope=2, gap=1), label="label")
    assert found.verdict == "cannot tell"
    assert all(column.p_value is None for column in found.columns)
    few = table(slope=0).assign(label=(np.arange(ROWS) < 5).astype(int))
    assert check_labels(few, label="label").verdict == "cannot tell"


def test_the_verdict_is_by_holm() -> None:
    """.01 x 3 and .02 x 2 pass .05, .04 x 1 too; .03 x 2 does not, and ends it."""
    passed = labelling_check([LabelledColumn(str(p), p) for p in (0.04, 0.01, 0.02)])
    assert passed.found == ("0.01", "0.02", "0.04")
    stopped = labelling_check([LabelledColumn(str(p), p) for p in (0.04, 0.01, 0.03)])
    assert stopped.found == ("0.01",)
    assert labelling_check([LabelledColumn("a", 0.5)]).verdict == "no sign"
    assert labelling_check([LabelledColumn("a", None, why="too few")]).reason == "No column can be judged: too few."


def test_the_report_has_it_where_asked() -> None:
    found = select(table(slope=2), label="label", method="semi-mim", k=3, check_labels=True)
    assert found.findings.labelling is not None
    assert "Who gets a label: depends" in to_markdown(found)
    assert Selection.from_dict(found.as_dict()).findings.labelling == found.findings.labelling


def test_the_command(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    table(slope=2).to_parquet(tmp_path / "rows.parquet")
    assert run(["check-labels", str(tmp_path / "rows.parquet"), "--label", "label", "--engine", "memory"]) == 0
    assert "Labels: depends" in capsys.readouterr().out
