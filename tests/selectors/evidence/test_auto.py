"""The automatic choice of a method, and of a number of features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.engines.local import LocalBlocks
from spark_pufs.errors import ConfigError, DataError
from spark_pufs.selectors.base import Outcome, Task
from spark_pufs.selectors.evidence import auto
from spark_pufs.selectors.evidence.choosing import Choice, choose
from spark_pufs.selectors.evidence.comparison import Comparison, Standing
from spark_pufs.selectors.registry import METHODS

NAMES = {"fscpu (generations=8)": "fscpu", "semi-jmi": "semi-jmi", "lasso": "lasso"}


def comparison(aucs: dict[str, list[float]], holds: int, teacher: list[float] | None = None) -> Comparison:
    lines = [Standing(name, float(np.mean(a)), 0.01, None, None, 1, 1, 1, None, "") for name, a in aucs.items()]
    verdicts = ("holds",) * holds + ("does not hold",) * (5 - holds)
    checks = {name: verdicts if "fscpu" in name else () for name in aucs}
    teachers = {name: tuple(teacher) for name in aucs if teacher and name in ("distil", "soft-jmi")}
    ordered = tuple(sorted(lines, key=lambda one: -one.auc))
    return Comparison(ordered, "", 0.3, 5, {name: tuple(a) for name, a in aucs.items()}, checks, teachers)


CLEAR = [0.9, 0.91, 0.9, 0.92, 0.9]
NEAR = [0.9, 0.9, 0.91, 0.91, 0.9]
FAR = [0.7, 0.71, 0.7, 0.72, 0.7]


@pytest.mark.parametrize(
    ("jmi", "fscpu", "lasso", "holds", "methods"),
    [
        (CLEAR, FAR, FAR, 5, ("semi-jmi",)),  # a clear winner, whatever the assumption says
        (CLEAR, NEAR, FAR, 5, ("semi-jmi", "fscpu")),  # equal, and the assumption holds: averaged
        (CLEAR, NEAR, FAR, 1, ("semi-jmi",)),  # equal, and it does not hold
        (CLEAR, FAR, NEAR, 0, ("semi-jmi", "lasso")),  # two that cannot be told apart
        (FAR, CLEAR, FAR, 0, ("fscpu",)),  # clearly better although the check says no
    ],
)
def test_choice(jmi: list[float], fscpu: list[float], lasso: list[float], holds: int, methods: tuple[str, ...]) -> None:
    found = comparison({"fscpu (generations=8)": fscpu, "semi-jmi": jmi, "lasso": lasso, "all": CLEAR}, holds)
    choice = choose(found, NAMES)
    assert choice.methods == methods
    assert f"{holds} of 5 folds" in choice.why
    assert "PU-AUC" in choice.why


TAUGHT = {name: name for name in ("distil", "soft-jmi", "semi-mim", "fscpu")}


@pytest.mark.parametrize(
    ("fscpu", "holds", "methods", "weights"),
    [
        (NEAR, 5, ("fscpu", "soft-jmi"), (2.0, 1.0)),  # not clearly worse: the columns that make clusters
        (NEAR, 4, ("distil", "soft-jmi", "semi-mim"), ()),  # not in every fold
        (FAR, 5, ("distil", "soft-jmi", "semi-mim"), ()),  # clearly worse
    ],
)
def test_clusters_far_beyond_chance_decide(
    fscpu: list[float], holds: int, methods: tuple[str, ...], weights: tuple[float, ...]
) -> None:
    aucs = {"distil": CLEAR, "soft-jmi": CLEAR, "semi-mim": NEAR, "fscpu": fscpu, "all": CLEAR}
    choice = choose(comparison(aucs, holds), TAUGHT, clusters=True)
    assert (choice.methods, choice.weights) == (methods, weights)
    assert len(choice.shares) == len(methods)


@pytest.mark.parametrize(
    ("teacher", "methods"),
    [
        ([0.8, 0.82, 0.8, 0.83, 0.8], ("distil", "soft-jmi")),  # sees what the judge does not
        ([0.72, 0.73, 0.72, 0.74, 0.72], ("semi-mim", "distil", "soft-jmi")),  # ahead, and not far
        ([0.99, 0.5, 0.99, 0.5, 0.99], ("semi-mim", "distil", "soft-jmi")),  # far ahead, and not surely
    ],
)
def test_a_teacher_far_ahead_of_the_judge_is_followed(teacher: list[float], methods: tuple[str, ...]) -> None:
    aucs = {"semi-mim": FAR, "distil": FAR, "soft-jmi": FAR, "all": FAR}
    assert choose(comparison(aucs, 0, teacher), TAUGHT).methods == methods


@pytest.mark.parametrize(
    ("condition", "methods"), [(2, ("fscpu", "soft-jmi")), (8, ("distil", "soft-jmi"))], ids=["clusters", "shell"]
)
def test_what_is_relevant_is_found_in_clusters_and_around_them(condition: int, methods: tuple[str, ...]) -> None:
    data = make_artificial(CONDITIONS[condition], seed=5, negatives=1600, positives=200)
    frame = pd.DataFrame(data.X, columns=data.names).assign(label=data.s)
    found = spark_pufs.select(frame, label="label", method="auto", k=25, folds=2)
    assert set(found.details["choice"]["methods"]) == set(methods)
    assert sum(name.startswith("relevant") for name in found.names) >= 22


def table(condition: int = 0) -> pd.DataFrame:
    data = make_artificial(CONDITIONS[condition], seed=5, negatives=800, positives=200)
    return pd.DataFrame(data.X, columns=data.names).assign(label=data.s)


def narrow(relevant: int, others: int) -> pd.DataFrame:
    """The first columns of both kinds: fewer columns where their number plays no part."""
    frame = table()
    kinds = (("relevant", relevant), ("noise", others))
    names = [name for kind, most in kinds for name in [n for n in frame if str(n).startswith(kind)][:most]]
    return frame[[*names, "label"]]


def select(frame: Any, **options: Any) -> Any:
    given = {"label": "label", "method": "auto", "methods": ["semi-mim", "semi-jmi", "lasso"], "folds": 3, **options}
    return spark_pufs.select(frame, **given)


def test_the_choice_is_told_with_its_evidence() -> None:
    found = select(table(), k=10)
    assert len(found.names) == 10
    assert sum(name.startswith("relevant") for name in found.names) >= 9
    assert found.details["choice"]["why"]
    assert {row["method"] for row in found.details["comparison"]["rows"]} >= {"semi-mim", "lasso", "all"}
    assert found.details["choice"]["why"] in found.to_json()


def test_hidden_classes_and_names_play_no_part() -> None:
    frame = narrow(10, 10)
    blank = frame.set_axis([*(f"c{i:02d}" for i in range(20)), "label"], axis=1)
    place = {name: i for i, name in enumerate(frame.columns)}
    assert [place[name] for name in select(frame, k=8).names] == [int(n[1:]) for n in select(blank, k=8).names]


def test_text_features_are_seen_by_every_method() -> None:
    frame = narrow(6, 2).assign(word=lambda t: np.where(t["label"] == 1, "yes", "no"))
    assert "word" in select(frame, k=5, methods=["fscpu"]).names
    assert "word" in select(frame, k=5, methods=["semi-mim"]).names
    assert "word" in select(frame, k=5, methods=["lasso"]).names


def test_a_method_has_its_own_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "choose", lambda *_: Choice(("fscpu-mi",), "told"))
    frame = table()[[*(f"relevant_{i:02d}" for i in range(1, 7)), "label"]]
    alone = spark_pufs.select(frame, label="label", method="fscpu-mi", k=3)
    assert select(frame, k=3, methods=["semi-mim"]).scores == alone.scores
    wide = spark_pufs.select(frame, label="label", method="fscpu-mi", k=3, binning="equal-width")
    assert select(frame, k=3, methods=["semi-mim"], binning="equal-width").scores == wide.scores != alone.scores


def test_rows_packed_for_a_method_are_let_go_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    packed: list[LocalBlocks] = []

    def stopped(task: Task) -> Outcome:
        assert isinstance(task.table.blocks, LocalBlocks)
        packed.append(task.table.blocks)
        assert packed[0]._blocks
        raise KeyboardInterrupt

    monkeypatch.setitem(METHODS, "lasso", replace(METHODS["lasso"], run=stopped))
    monkeypatch.setattr(auto, "choose", lambda *_: Choice(("lasso",), "told"))
    frame = table().assign(word=lambda t: np.where(t["label"] == 1, "yes", "no"))
    with pytest.raises(KeyboardInterrupt):
        select(frame, k=5, methods=["semi-mim"])
    assert [blocks._blocks for blocks in packed] == [[]]


def test_few_labels_leave_the_choice_to_assumptions() -> None:
    frame = table().assign(label=[1, 1] + [0] * 998)
    found = select(frame, k=5)
    assert found.details["choice"]["method"] == "distil"
    assert "too few" in found.details["choice"]["why"]


@pytest.mark.parametrize("copies", [1, 3])
def test_nine_labels_are_compared_and_copies_of_a_few_are_not(copies: int) -> None:
    frame = table()
    few = pd.concat([frame[frame["label"] == 1].head(9 // copies)] * copies)
    found = select(pd.concat([few, frame[frame["label"] == 0]]), k=5, methods=["semi-mim", "lasso"], folds=5)
    assert len(found.names) == 5
    assert ("too few" in found.details["choice"]["why"]) == (copies == 3)


def test_a_number_is_proposed_where_none_is_given() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 10))
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(10)]).assign(label=(X[:, 3] + X[:, 7] > 2).astype(int))
    found = spark_pufs.select(frame, label="label", method="semi-mim", binning="equal-frequency")
    assert set(found.names[:2]) == {"x3", "x7"}
    assert found.details["sizes"]["chosen"] == len(found.names) <= 4
    assert "smallest number of features" in found.details["sizes"]["why"]
    assert len(spark_pufs.select(frame, label="label", method="semi-mim", k="all").names) == 10


def test_the_proposal_stays_within_a_budget() -> None:
    frame = table()
    found = spark_pufs.select(frame, label="label", method="semi-mim", k="auto", budget=6.0, costs={"*": 2.0})
    assert found.cost <= 6.0
    assert max(point["k"] for point in found.details["sizes"]["points"]) == 3


def test_stability_is_counted_over_halves_of_the_rows() -> None:
    found = spark_pufs.select(table(), label="label", method="semi-mim", k=5, stability=8)
    steady = found.details["stability"]
    assert steady["runs"] == 8
    assert steady["low"] <= steady["nogueira"] <= steady["high"]
    assert sum(steady["frequency"].values()) == pytest.approx(5)


def test_an_answer_that_depends_on_the_draw_is_named() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(300, 12))).set_axis([f"n{i}" for i in range(12)], axis=1)
    frame["label"] = (rng.random(300) < 0.2).astype(int)
    found = spark_pufs.select(frame, label="label", method="semi-mim", k=4, stability=10)
    assert any("depends on the draw" in warning for warning in found.warnings)


def test_the_stability_of_a_choice_is_that_of_the_chosen_method_and_number() -> None:
    found = select(narrow(10, 10), methods=["semi-mim"], stability=6)
    assert 0 < len(found.names) < 20
    assert sum(found.details["stability"]["frequency"].values()) == pytest.approx(len(found.names), abs=1e-2)


@pytest.mark.parametrize(
    ("methods", "error", "words"),
    [
        (["fscpuu"], ConfigError, r"'fscpuu' is not a method\. Did you mean 'fscpu'\?"),
        (["fscpuu", "semi-mim"], ConfigError, "'fscpuu' is not a method"),
        ([1], ConfigError, r"Option 'methods': must be names of methods, got \[1\]"),
        (["mint"], DataError, "Option 'methods': mint failed in 3 of 3 trials: .* needs rows labelled negative"),
    ],
)
def test_methods_that_cannot_be_compared(methods: list[Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        select(table(), k=5, methods=methods)


def test_a_method_that_reads_numbers_does_not_bound_those_that_read_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two numbers and three words: four features are asked for, of which lasso sees two."""
    monkeypatch.setattr(auto, "choose", lambda *_: Choice(("lasso", "semi-mim"), "both"))
    rng = np.random.default_rng(0)
    words = pd.DataFrame({f"w{i}": rng.choice(["x", "y"], 1000) for i in range(3)})
    frame = pd.concat([table()[["relevant_01", "relevant_02", "label"]], words], axis=1)
    assert len(select(frame, k=4).names) == 4


def test_on_noise_it_says_no_better_than_chance() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(500, 8))).set_axis([f"n{i}" for i in range(8)], axis=1)
    found = select(frame.assign(label=(np.arange(500) < 40).astype(int)), k=3, methods=["semi-mim"], folds=5)
    assert found.details["choice"]["verdict"].startswith("No better than chance")
    assert any(warning.startswith("No better than chance") for warning in found.warnings)
    told = {row["method"] for row in found.details["comparison"]["rows"]}
    assert "chance (labels redrawn)" in told
