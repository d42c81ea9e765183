"""What an answer says of itself: warnings, and notes beside its features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.engines.local import LocalEngine
from spark_pufs.errors import ConfigError, DataError
from spark_pufs.report.known_warnings import NOTHING_CHOSEN
from spark_pufs.request import Request
from spark_pufs.run.execution import compare_with, prepare, rehearse
from spark_pufs.selectors.evidence.comparison import Candidate, EvaluationProtocol
from spark_pufs.selectors.registry import METHODS
from spark_pufs.table import pu_table
from spark_pufs.table.pu_table import pack
from spark_pufs.types import LabelRule


def table(labelled: int) -> pd.DataFrame:
    """Four features of noise."""
    X = np.random.default_rng(0).integers(0, 3, (400, 4))
    return pd.DataFrame(X, columns=list("abcd")).assign(label=np.where(np.arange(400) < labelled, 1, 0))


def chosen(labelled: int, **options: Any) -> spark_pufs.Selection:
    return spark_pufs.select(table(labelled), **{"label": "label", "method": "semi-mim", "k": 2, **options})


def test_few_labels_are_a_warning() -> None:
    text = "labelled positive: expect changes with more labels."
    assert chosen(1).warnings == (f"Only 1 row {text}",)
    assert chosen(9).warnings == (f"Only 9 rows {text}",)
    assert chosen(10).warnings == ()


def test_no_feature_is_a_warning() -> None:
    found = chosen(50, method="semi-iamb", k="all", alpha=1e-9)
    assert found.names == []
    assert found.warnings == (NOTHING_CHOSEN,)


def test_notes_name_what_was_bound() -> None:
    notes = chosen(50, must=["c"], never=["a"]).table().set_index("name")["notes"]
    assert notes.to_dict() == {"a": "never", "b": "", "c": "must", "d": ""}
    search = chosen(50, must=["c"], method="fscpu-mi", generations=1, generation_size=16, clusters=2)
    assert search.table().set_index("name")["notes"]["c"].startswith("must; theta ")


def test_every_run_that_selects_everything_depends_on_no_draw() -> None:
    found = chosen(50, k="all", stability=3)
    assert found.details["stability"]["verdict"] == "every run selects everything"
    assert not [warning for warning in found.warnings if "depends on the draw" in warning]


def rehearsed(method: str, **options: Any) -> list[str]:
    """Passes over the rows while a method is rehearsed on a table without labelled negatives."""
    engine, request = LocalEngine(table(50)), Request.of(LabelRule("label"), method=method, **options)
    packed = pack(prepare(engine, request), request)
    before = len(engine.passes)
    rehearse(packed, request)
    return [one.what for one in engine.passes[before:]]


def test_rows_behind_a_known_plan_are_read_once() -> None:
    engine, request = LocalEngine(table(50)), Request.of(LabelRule("label"), method="semi-mim", k=1)
    known = prepare(engine, request)
    assert prepare(engine, replace(request, method="jmi"), known).profile is known.profile
    assert [one.what for one in engine.passes] == ["profile"]
    assert prepare(engine, replace(request, exclude=known.features[:1]), known).features == known.features[1:]
    assert [one.what for one in engine.passes] == ["profile", "profile"]


NEGATIVES = r"Column 'label': method '.*' needs rows labelled negative, found none\."


@pytest.mark.parametrize("method", METHODS)
def test_a_rehearsal_reads_no_rows_and_ends_as_the_run_would(method: str) -> None:
    if method in ("mint", "listwise-iamb", "pairwise-iamb"):
        with pytest.raises(DataError, match=NEGATIVES):
            rehearsed(method, k=2)
    elif method == "pucfs":
        with pytest.raises(ConfigError, match=r"Option 'prior': method 'pucfs' needs one\."):
            rehearsed(method, k=2)
        assert rehearsed(method, k=2, prior=0.2) == []
    else:
        assert rehearsed(method, k=2) == []


def test_bounds_are_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, limits_of = [], pu_table.limits_of
    monkeypatch.setattr(pu_table, "limits_of", lambda *given: seen.append(given) or limits_of(*given))
    assert chosen(20, must="b", never=["c"], costs={"*": 2}).names[0] == "b"
    assert len(seen) == 1


def test_a_comparison_reads_the_table_once_for_its_profile() -> None:
    engine = LocalEngine(table(40))
    methods, protocol = [Candidate("semi-mim"), Candidate("mim")], EvaluationProtocol(folds=2, repeats=1)
    found = compare_with(engine, Request(LabelRule("label"), "auto", k=2), methods, protocol)
    assert len(found.standings) == 3
    assert [one.what for one in engine.passes].count("profile") == 1
