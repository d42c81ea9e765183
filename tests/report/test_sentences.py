from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from spark_pufs.findings import Findings
from spark_pufs.findings.parts import Distribution, Level, Redundancy, SearchTrace, TeacherSummary
from spark_pufs.report import to_html, to_markdown
from spark_pufs.report.known_warnings import NOTHING_CHOSEN, few_labels
from spark_pufs.report.sentences import asked, crowded, found, score_words, seen, short, sure, twins, warnings_of
from spark_pufs.request import Request
from spark_pufs.selection import Feature, Selection
from spark_pufs.types import LabelRule
from support.example_selections import STABILITY, plain

ASKED = Request(LabelRule("label"), "semi-mim", k=1)


def ranked(*scores: tuple[float, float, bool], **changes: Any) -> Selection:
    """Features a, b, ... with a score, a standard error and whether they are chosen."""
    features = tuple(Feature(name, i, *score, 1.0, "") for i, (name, score) in enumerate(zip("abcdef", scores), 1))  # noqa: B905
    facts = {**plain().facts, "labelled_positive": 100}
    base = replace(plain(), features=features, facts=facts, findings=Findings(), request=ASKED, warnings=())
    return replace(base, **changes)


@pytest.mark.parametrize(
    ("first", "second", "tone"), [((1.0, 0.1), (0.5, 0.1), "good"), ((1.0, 0.3), (0.5, 0.1), "fair")]
)
def test_the_border_between_chosen_and_not(first: Any, second: Any, tone: str) -> None:
    """Gap .5 beside two standard errors of the difference: .28 and .63."""
    (sign,) = sure(ranked((*first, True), (*second, False)))
    assert sign.tone == tone
    assert "a, the last one chosen, and b, the first one left out" in sign.text


@pytest.mark.parametrize(
    "found", [{"search": SearchTrace({"a": 1.0})}, {"teacher": TeacherSummary(0.8, 0.1, True, (), 0.1)}]
)
def test_errors_of_one_draw_of_labels_make_no_border_clear(found: dict[str, Any]) -> None:
    """Those of a search say how settled it is: other labels chose 5 to 7 of 8 features again where it was clear."""
    border = ((1.0, 0.1, True), (0.5, 0.1, False))
    signs = [sign for sign in sure(ranked(*border, findings=Findings(**found))) if "the last one chosen" in sign.text]
    assert [sign.tone for sign in signs] == ["fair"]
    assert signs[0].text.endswith("are apart for these labels; others may move the border: `stability` tells how far.")


def test_the_last_one_chosen_need_not_have_the_lowest_score() -> None:
    """Scores of a stepwise choice belong to different steps: only the last step compares with what was left out."""
    (sign,) = sure(ranked((0.2, 0.1, True), (1.0, 0.1, True), (0.9, 0.1, False)))
    assert "b, the last one chosen, and c, the first one left out, cannot be told apart" in sign.text


def test_no_border_where_scores_do_not_decide() -> None:
    assert not sure(ranked((1.0, 0.1, True), (2.0, 0.1, False)))
    assert not sure(ranked((1.0, 0.0, True), (0.5, 0.0, False)))
    assert not sure(ranked((1.0, 0.1, True)))
    assert not sure(ranked((1.0, 0.1, True), (0.5, 0.1, False), request=replace(ASKED, must=("a",))))


@pytest.mark.parametrize(("index", "low", "tone"), [(0.9, 0.8, "good"), (0.6, 0.5, "fair"), (0.6, 0.3, "poor")])
def test_stability_has_a_tone(index: float, low: float, tone: str) -> None:
    told = {**STABILITY, "nogueira": index, "low": low}
    assert [sign.tone for sign in sure(ranked((1.0, 0.1, True), findings=Findings.from_dict({"stability": told})))] == [
        tone
    ]


@pytest.mark.parametrize(
    ("verdict", "tone"),
    [("holds", "good"), ("weak", "fair"), ("does not hold", "poor"), ("too few labels to tell", "poor")],
)
def test_the_cluster_check_has_a_tone(verdict: str, tone: str) -> None:
    check = {"verdict": verdict, "reason": "So it is.", "p_value": 0.5, "effect": 1.0}
    (sign,) = sure(ranked((1.0, 0.1, True), findings=Findings.from_dict({"check": check})))
    assert (sign.tone, sign.text) == (tone, f"Cluster assumption: {verdict}. So it is.")


def test_few_labels_and_warnings_are_doubts() -> None:
    facts = {**plain().facts, "labelled_positive": 1}
    signs = sure(ranked((1.0, 0.1, True), facts=facts, warnings=("one", "two")))
    assert [sign.text for sign in signs] == [
        "Only 1 row labelled positive: expect changes with more labels.",
        "2 warnings to look at.",
    ]


def test_what_the_report_says_elsewhere_is_no_warning_to_look_at() -> None:
    facts = {**plain().facts, "labelled_positive": 3}
    told = ("one", few_labels(3), NOTHING_CHOSEN)
    few = ranked((1.0, 0.1, False), facts=facts, warnings=told, request=plain().request)
    assert warnings_of(few) == ["one"]
    assert [sign.text for sign in sure(few)] == [few_labels(3), "1 warning to look at."]
    for text in (to_html(few), to_markdown(few)):
        assert text.count("labelled positive: expect") == 1
        assert NOTHING_CHOSEN not in text


def test_stability_that_is_not_defined_speaks_neither_for_nor_against() -> None:
    told = {**STABILITY, "nogueira": math.nan, "low": math.nan, "runs": 20, "verdict": "every run selects everything"}
    (sign,) = sure(ranked((1.0, 0.1, True), findings=Findings.from_dict({"stability": told})))
    assert (sign.tone, sign.text) == (
        "fair",
        "Stability over 20 resampled runs says nothing: every run selects everything.",
    )


def test_the_question_names_its_limits() -> None:
    request = replace(ASKED, k=3, budget=4.5, must=("a",), never=("b", "c"))
    last = asked(ranked((1.0, 0.1, True), request=request))[-1]
    assert last == "Limits: at most 3 features; total cost at most 4.5; always with a; never with b, c."
    assert asked(ranked((1.0, 0.1, True), request=replace(ASKED, k=None)))[-1] == "No limit on how many."
    proposed = asked(ranked((1.0, 0.1, True), request=replace(ASKED, k=None, propose_k=True)))[-1]
    assert proposed == "Limits: number of features proposed from held-out evidence."


def test_the_answer_tells_cost_and_twins() -> None:
    selection = ranked((1.0, 0.1, True), (0.9, 0.1, True))
    selection = replace(
        selection,
        features=tuple(replace(f, cost=2.5) for f in selection.features),
        findings=Findings.from_dict({"redundancy": {"names": ["a", "b"], "values": [[1, 0.8], [0.8, 1]]}}),
    )
    assert found(selection)[1:] == [
        "Together they cost 5.",
        "1 pair of chosen features carries much the same information.",
    ]


def level(name: str, labelled: int, unlabelled: int) -> Level:
    return Level(name, labelled, unlabelled)


def test_what_a_distribution_shows() -> None:
    assert seen([level("low", 1, 90), level("high", 9, 10)]) == (
        "90 % of the labelled rows are in “high”, 10 % of the unlabelled."
    )
    assert seen([level("low", 5, 50), level("high", 5, 51)]).startswith("Labelled and unlabelled rows fall alike")
    assert seen([level("only", 0, 0)]).startswith("Labelled and unlabelled rows fall alike")


def test_crowded_distributions_are_counted() -> None:
    heavy = Distribution("a", (level("low", 5, 99), level("high", 5, 1)))
    even = Distribution("b", (level("low", 5, 50), level("high", 5, 50)))
    assert crowded([heavy, even, Distribution("c", ())]) == 1


def test_twins_are_sorted() -> None:
    values = ((1, 0.2, 0.9), (0.2, 1, 0.5), (0.9, 0.5, 1))
    assert twins(Redundancy(("a", "b", "c"), values), most=2) == [("c", "a", 0.9), ("c", "b", 0.5)]


def test_names_are_cut_and_cleaned() -> None:
    assert short("a\x00b\u202ec\ud800") == "a\ufffdb\ufffdc\ufffd"
    assert len(short("x" * 1000)) == 160


@pytest.mark.parametrize(("theta", "start"), [({"a": 1.0}, "A score is theta"), ({"a": 0.5}, "A score is a feature's")])
def test_a_score_is_explained(theta: dict[str, float], start: str) -> None:
    assert score_words(ranked((1.0, 0.1, True), findings=Findings.from_dict({"theta": theta}))).startswith(start)
