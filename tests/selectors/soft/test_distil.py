"""The default on tables that fooled counts: noise with many levels, outliers, sentinels, copies, no signal at all."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs import PufsWarning, Selection, select
from spark_pufs.selectors.soft.held_out import NOISE

ROWS = 1_500


def flows(seed: int = 0) -> pd.DataFrame:
    """Two columns tell the class, one in text; 40 rows are labelled."""
    rng = np.random.default_rng(seed)
    y = rng.random(ROWS) < 0.15
    frame = pd.DataFrame(rng.normal(size=(ROWS, 6)), columns=list("abcdef"))
    frame["a"] += 1.8 * y
    frame["kind"] = np.where(rng.random(ROWS) < 0.1 + 0.6 * y, "x", rng.choice(["u", "v", "w"], ROWS))
    label = np.zeros(ROWS, int)
    label[rng.choice(np.flatnonzero(y), 40, replace=False)] = 1
    return frame.assign(label=label)


@cache
def plain(judge: bool = True, seed: int = 0) -> Selection:
    """Two features of the table as it is."""
    return select(flows(), label="label", k=2, judge=judge, seed=seed)


def scores_without_judging(frame: pd.DataFrame, **options: Any) -> list[tuple[str, float]]:
    """Judging changes no score, as a test below holds, and takes most of the time."""
    return [(f.name, f.score) for f in select(frame, label="label", k=2, judge=False, **options).features]


def test_it_is_the_default_and_finds_numbers_and_text() -> None:
    found = select(flows(), label="label", k=2)
    assert found.method == "distil"
    assert set(found.names) == {"a", "kind"}
    assert found.details["teacher"]["better_than_chance"]


@pytest.mark.parametrize("levels", [10, 30, 1000])
def test_random_text_is_not_chosen(levels: int) -> None:
    rng = np.random.default_rng(levels)
    noisy = flows().assign(noise=[f"v{i}" for i in rng.integers(0, levels, ROWS)])
    assert {name for name, _ in scores_without_judging(noisy)[:2]} == {"a", "kind"}


@pytest.mark.parametrize("value", [99.0, 999.0, -999999.0, 1e300])
def test_one_extreme_value_changes_nothing(value: float) -> None:
    odd = flows()
    top = int(odd["b"].idxmax() if value > 0 else odd["b"].idxmin())
    odd.loc[top, "b"] = value
    before = plain(judge=False, seed=3)
    assert [(f.name, f.score) for f in before.features] == scores_without_judging(odd, seed=3)


def test_a_monotone_transform_changes_nothing() -> None:
    bent = flows().assign(a=lambda t: np.exp(t["a"]), c=lambda t: t["c"] ** 3)
    assert [(f.name, f.score) for f in plain(judge=False).features] == scores_without_judging(bent)


def test_copies_are_not_chosen_together() -> None:
    copied = flows().assign(a2=lambda t: t["a"], a4=lambda t: t["a"])
    assert {name for name, _ in scores_without_judging(copied)[:2]} == {"a", "kind"}


def test_on_noise_it_says_so() -> None:
    rng = np.random.default_rng(5)
    noise = pd.DataFrame(rng.normal(size=(800, 6)), columns=list("abcdef")).assign(label=np.arange(800) < 30)
    with pytest.warns(PufsWarning, match="No better than chance"):
        found = select(noise, label="label", positive=True, unlabelled=False, k=2)
    assert "No better than chance" in str(found)


def test_consensus_brings_its_errors_and_its_stability() -> None:
    found = select(flows(), label="label", method="consensus", k=2, bags=4, trees=20)
    assert set(found.names) == {"a", "kind"}
    assert found.details["stability"]["runs"] == 4
    assert all(f.standard_error >= 0 for f in found.features)
    assert "of 4 bags" in found.features[0].notes


def test_consensus_is_judged_on_held_out_rows() -> None:
    found = select(flows(), label="label", method="consensus", k=2, bags=3, trees=10)
    assert str(found).startswith("Better than chance: held-out AUC 0.")
    assert "with 2 of 7 columns" in found.verdict
    plain = select(flows(), label="label", method="consensus", k=2, bags=3, trees=10, judge=False)
    assert "held_out" not in plain.details
    assert plain.features == found.features


def test_consensus_says_so_where_the_choice_is_too_small() -> None:
    rng = np.random.default_rng(6)
    y = rng.random(ROWS) < 0.2
    frame = pd.DataFrame(rng.normal(size=(ROWS, 12)) + y[:, None], columns=list("abcdefghijkl"))
    label = (y & (rng.random(ROWS) < 0.3)).astype(int)
    found = select(frame.assign(label=label), label="label", method="consensus", k=1, bags=3, trees=10)
    assert any(warning.startswith("Worse than all 12 columns by 0.") for warning in found.warnings)


@pytest.mark.parametrize("method", ["distil", "consensus", "soft-jmi", "soft-mim", "soft-cmim", "soft-mrmr"])
def test_one_wording_where_nothing_is_told(method: str) -> None:
    rng = np.random.default_rng(5)
    noise = pd.DataFrame(rng.normal(size=(800, 6)), columns=list("abcdef")).assign(label=(np.arange(800) < 30) * 1)
    found = select(noise, label="label", method=method, k=2)
    assert found.verdict.startswith("No better than chance: held-out AUC 0.")
    assert NOISE in found.warnings
    assert str(found).splitlines()[0] == found.verdict
    if method in ("distil", "consensus"):
        assert found.table()["relevance"].max() == 0


def test_a_few_labels_are_enough_to_be_told() -> None:
    few = flows()
    few.loc[few.index[few["label"] == 1][3:], "label"] = 0
    assert len(select(few, label="label", k=2).names) == 2


def test_the_verdict_compares_with_all_columns_and_leaves_a_trace() -> None:
    found = plain()
    assert found.verdict.startswith("Better than chance: held-out AUC 0.")
    assert "with 2 of 7 columns" in found.verdict
    assert set(found.details["held_out"]) == {"chosen", "every", "chosen_error", "error", "lost", "every_error"}
    assert str(found).splitlines()[:2] == [found.verdict, found.summary]


def test_a_choice_that_is_too_small_is_told() -> None:
    rng = np.random.default_rng(6)
    y = rng.random(ROWS) < 0.2
    frame = pd.DataFrame(rng.normal(size=(ROWS, 12)) + y[:, None], columns=list("abcdefghijkl"))
    label = (y & (rng.random(ROWS) < 0.3)).astype(int)
    found = select(frame.assign(label=label), label="label", k=1)
    assert any(warning.startswith("Worse than all 12 columns by 0.") for warning in found.warnings)


def test_judging_can_be_left_out_and_changes_no_choice() -> None:
    judged, unjudged = plain(judge=True), plain(judge=False)
    assert "held_out" not in unjudged.details
    assert "with all 7 columns" in unjudged.verdict
    assert unjudged.features == judged.features


def test_few_labels_are_not_held_out() -> None:
    few = flows()
    few.loc[few.index[few["label"] == 1][5:], "label"] = 0
    assert "held_out" not in select(few, label="label", k=2).details
