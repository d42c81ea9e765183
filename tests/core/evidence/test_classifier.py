from __future__ import annotations

import numpy as np
import pytest

from spark_pufs.core.evidence import classifier
from spark_pufs.core.evidence.classifier import classifier_named, held_out_scores
from spark_pufs.errors import EnvironmentFault

OTHER = "hist-gradient-boosting"


@pytest.mark.parametrize("installed", [True, False])
def test_auto_takes_lightgbm_where_it_is_installed(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifier, "find_spec", lambda name: object() if installed else None)
    assert classifier_named("auto") == ("lightgbm" if installed else OTHER)
    assert classifier_named(OTHER) == OTHER
    if installed:
        assert classifier_named("lightgbm") == "lightgbm"
    else:
        with pytest.raises(EnvironmentFault, match=r"Classifier 'lightgbm': is not installed\. Install spark-pufs\["):
            classifier_named("lightgbm")


@pytest.mark.parametrize("name", ["lightgbm", OTHER])
def test_scores_are_the_probability_of_a_label(name: str) -> None:
    if name == "lightgbm":
        pytest.importorskip("lightgbm")
    train = np.linspace(0, 1, 200)[:, None]
    train[[0, -1], 0] = -np.inf, np.inf
    low, high = held_out_scores(name, train, train[:, 0] > 0.5, np.array([[0.1], [0.9]]), [], seed=0)
    assert low < 0.05
    assert high > 0.95


@pytest.mark.parametrize("name", ["lightgbm", OTHER])
def test_any_seed_will_do(name: str) -> None:
    if name == "lightgbm":
        pytest.importorskip("lightgbm")
    train = np.linspace(0, 1, 60)[:, None]
    small, large = (
        held_out_scores(name, train, train[:, 0] > 0.5, train, [], seed, trees=3) for seed in (5, 2**40 + 5)
    )
    assert large.tolist() == small.tolist()
