"""Switching threshold and surrogate counts against hand-worked values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spark_pufs.core.information.power import kappa_mar_c
from spark_pufs.core.information.surrogate import (
    Labels,
    Prior,
    apply_surrogate,
    choose_surrogate,
    switching_threshold,
)
from spark_pufs.errors import ConfigError, DataError


@pytest.mark.parametrize(
    ("labels", "phi"),
    [
        (Labels(100, 0, 900), 1.0),  # pure PU
        (Labels(0, 100, 900), 0.0),
        (Labels(125, 125, 750), 0.5),  # Fig. 4 a, b
        (
            Labels(50, 150, 800),
            math.sqrt(50 * 850) / (math.sqrt(50 * 850) + math.sqrt(150 * 950)),
        ),  # Fig. 4 c, d
        (Labels(30, 70, 0), 0.3),  # nothing missing: the class share itself
    ],
)
def test_switching_threshold(labels: Labels, phi: float) -> None:
    assert switching_threshold(labels) == pytest.approx(phi, rel=1e-15)


def test_threshold_equals_the_definition_in_shares() -> None:
    labels = Labels(37, 11, 552)
    q, r = 37 / 600, 11 / 600  # p(y0 = 1), p(y1 = 0)
    expected = 1 / (1 + math.sqrt((1 - q) * r / (q * (1 - r))))
    assert switching_threshold(labels) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("labels", [Labels(50, 150, 800), Labels(37, 11, 552), Labels(200, 3, 97)])
def test_choice_is_the_larger_correction_factor(labels: Labels) -> None:
    """Theorem 5: y0 has the larger kappa exactly when p(y=1) < phi."""
    low, high = labels.positive / labels.rows, 1 - labels.negative / labels.rows
    for prior in np.linspace(low, high, 41).tolist():
        y0 = kappa_mar_c("y0", prior, labels.positive / labels.rows)
        y1 = kappa_mar_c("y1", prior, labels.negative / labels.rows)
        assert choose_surrogate(labels, prior).name == ("y0" if y0 > y1 else "y1")


@pytest.mark.parametrize(
    ("labels", "prior", "name", "words"),
    [
        (Labels(10, 0, 90), 0.99, "y0", "No negative is labelled"),
        (Labels(10, 0, 90), None, "y0", "No negative is labelled"),
        (Labels(0, 10, 90), 0.01, "y1", "No positive is labelled"),
        (Labels(125, 125, 750), 0.2, "y0", "0.2 is below the switching threshold 0.5"),
        (Labels(125, 125, 750), 0.5, "y1", "0.5 is not below the switching threshold 0.5"),
        (Labels(50, 150, 800), None, "y0", "share of positives among labelled rows 0.25 is below"),
        (Labels(150, 50, 800), None, "y1", "share of positives among labelled rows 0.75 is not below"),
        (Labels(125, 125, 750), (0.1, 0.4), "y0", "range 0.1 to 0.4 is below"),
        (Labels(125, 125, 750), (0.5, 0.6), "y1", "range 0.5 to 0.6 is not below"),
        (
            Labels(125, 125, 750),
            (0.1, 0.6),
            "y0",
            "holds the switching threshold 0.5 and its middle 0.35 is below it",
        ),
        (Labels(125, 125, 750), (0.4, 0.8), "y1", "its middle 0.6 is not below it"),
    ],
)
def test_choice_and_its_reason(labels: Labels, prior: Prior | None, name: str, words: str) -> None:
    choice = choose_surrogate(labels, prior)
    assert choice.name == name
    assert words in choice.why
    assert choice.why.endswith(".")


def test_apply_surrogate_sums_by_hand() -> None:
    counts = np.arange(12, dtype=np.int64).reshape(3, 2, 2)  # unlabelled, positive, negative
    np.testing.assert_array_equal(apply_surrogate(counts, "y0"), [[[8, 10], [12, 14]], [[4, 5], [6, 7]]])
    np.testing.assert_array_equal(apply_surrogate(counts, "y1"), [[[8, 9], [10, 11]], [[4, 6], [8, 10]]])
    np.testing.assert_array_equal(apply_surrogate(counts, "labelled"), [[[8, 9], [10, 11]], [[4, 5], [6, 7]]])
    assert apply_surrogate(counts, "y0").dtype == np.int64


def test_bad_arguments() -> None:
    counts = np.zeros((3, 2), np.int64)
    with pytest.raises(ConfigError, match=r"surrogate: unknown name 'y2'\. Known: labelled, y0, y1"):
        apply_surrogate(counts, "y2")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"got shape \(2, 2\)"):
        apply_surrogate(counts[:2], "y0")
    with pytest.raises(ConfigError, match=r"prior: must lie in \(0, 1\), got 1\.5"):
        choose_surrogate(Labels(1, 1, 1), 1.5)
    with pytest.raises(ConfigError, match=r"Give \(0\.1, 0\.3\)"):
        choose_surrogate(Labels(1, 1, 1), (0.3, 0.1))
    with pytest.raises(ConfigError, match=r"prior"):
        choose_surrogate(Labels(1, 0, 1), float("nan"))
    with pytest.raises(DataError, match="no labelled row"):
        Labels(0, 0, 10)
    with pytest.raises(ConfigError, match=r"labels\.negative: must not be negative, got -1"):
        Labels(1, -1, 10)
