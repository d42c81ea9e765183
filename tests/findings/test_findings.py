"""What was found, from a method to JSON and back."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs import Selection
from spark_pufs.findings import Findings
from spark_pufs.findings.parts import (
    Choice,
    Cluster,
    Clustering,
    CopyGroup,
    Distribution,
    FeatureSummary,
    Level,
    Redundancy,
    SizeCurve,
    SizePoint,
    StabilitySummary,
)
from spark_pufs.report import to_html
from support.example_selections import full, searched


def journey(found: Findings) -> Findings:
    return Findings.from_dict(json.loads(json.dumps(found.as_dict())))


def test_parts_lie_side_by_side_and_what_was_not_looked_into_is_not_there() -> None:
    levels = (Level("low", 1, 2), Level("high", 3, 4, 5))
    found = Findings(
        sample="all 15 rows",
        sizes=SizeCurve((SizePoint(1, 0.5, 0.1),), 1, 1, "so"),
        stability=StabilitySummary(2, None, None, None, None, {"a": 0.5}, "no"),
        features=FeatureSummary("equal-width", (Distribution("a", levels),), copies=(CopyGroup("a", ("b",)),)),
        extra={"steps": 3, "grown": ["a"]},
    )
    assert found.as_dict() == {
        "sample": "all 15 rows",
        "sizes": {"points": [{"k": 1, "auc": 0.5, "error": 0.1}], "chosen": 1, "best": 1, "why": "so"},
        "stability": {
            "runs": 2, "nogueira": None, "low": None, "high": None, "kuncheva": None, "frequency": {"a": 0.5},
            "verdict": "no",
        },
        "binning": "equal-width",
        "distributions": [{"name": "a", "levels": [
            {"level": "low", "labelled": 1, "unlabelled": 2, "negative": 0},
            {"level": "high", "labelled": 3, "unlabelled": 4, "negative": 5},
        ]}],
        "copies": [{"representative": "a", "copies": ["b"]}],
        "steps": 3,
        "grown": ["a"],
    }  # fmt: skip
    assert journey(found) == found
    assert Findings().as_dict() == {}


@pytest.mark.parametrize("make", [searched, full], ids=["searched", "full"])
def test_a_selection_comes_back_from_json_with_its_model(make: object) -> None:
    found: Selection = make()  # type: ignore[operator]
    again = Selection.from_dict(json.loads(found.to_json()))
    assert again.findings == found.findings
    assert again.details == found.details
    models = [one.findings.clustering.model for one in (found, again) if one.findings.clustering]
    for one in fields(models[0].mixture.frame):  # type: ignore[union-attr]
        left, right = (getattr(model.mixture.frame, one.name) for model in models)  # type: ignore[union-attr]
        np.testing.assert_array_equal(left, right)


def test_what_an_earlier_version_did_not_tell_has_a_default() -> None:
    old = Findings.from_dict({"choice": {"method": "mim", "why": "w"}, "check": {"verdict": "holds", "reason": "r"}})
    assert old.choice == Choice("mim", (), "w", "")
    assert old.check is not None
    assert old.features == FeatureSummary()


def test_theta_of_pufs_is_a_number_of_its_own_and_its_report_is_drawn() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    table = pd.DataFrame(X, columns=list("abcd")).assign(label=(X[:, 2] > 1).astype(int))
    found = spark_pufs.select(table, label="label", method="pufs", k=2)
    assert found.findings.search is None
    assert isinstance(found.findings.extra["theta"], float)
    assert journey(found.findings) == found.findings
    assert "The higher the score, the more relevant the feature." in to_html(found)


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({"stability": 3}, "details.stability: expected a mapping, found 3"),
        ({"sizes": {"points": []}}, "details.sizes: chosen not found"),
        (
            {"sizes": {"points": [{"k": "a", "auc": 1.0}], "chosen": 1}},
            "details.sizes.points.k: expected int, found 'a'",
        ),
        ({"theta": {"a": "b"}}, "details.theta.a: expected float, found 'b'"),
        ({"copies": "ab"}, "details.copies: expected tuple, found 'ab'"),
    ],
)
def test_what_cannot_be_understood_is_named(values: dict[str, object], where: str) -> None:
    with pytest.raises(ValueError, match="details") as found:
        Findings.from_dict(values)  # type: ignore[arg-type]
    assert str(found.value) == where


def test_labelled_rows_outside_positive_clusters_are_told_by_hand() -> None:
    inside = Cluster(1_002, 42, positive=True)
    (told,) = Clustering((inside, Cluster(900, 18))).left_out
    assert told.startswith(
        "The positive clusters hold 42 of 60 labelled rows: likely_positives misses positives like the"
    )
    assert Clustering((inside, Cluster(900, 4))).left_out == ()  # fewer than a tenth
    assert Clustering((Cluster(20, 5, positive=True), Cluster(9, 2))).left_out == ()  # too few to be a kind


def test_pairs_that_share_most_come_first() -> None:
    found = Redundancy(("a", "b", "c"), ((1.0, 0.2, 0.9), (0.2, 1.0, 0.5), (0.9, 0.5, 1.0)))
    assert found.pairs() == [("c", "a", 0.9), ("c", "b", 0.5), ("b", "a", 0.2)]
