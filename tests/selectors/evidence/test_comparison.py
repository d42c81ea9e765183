"""Methods judged on held-out labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.engines.local import LocalEngine
from spark_pufs.errors import ConfigError, DataError
from spark_pufs.request import Request
from spark_pufs.selectors.evidence.comparison import EvaluationProtocol
from spark_pufs.selectors.evidence.sizes import smallest_good
from spark_pufs.selectors.evidence.trial import Trial, TrialRows, run_trial, trial_sample
from spark_pufs.selectors.registry import METHODS
from spark_pufs.selectors.task import make_task
from spark_pufs.table.pu_table import inspect
from spark_pufs.types import LabelRule


def table(rows: int = 400, noise: int = 4, seed: int = 0) -> pd.DataFrame:
    """Two columns tell the class, one of them as text; some positives are labelled."""
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.3
    frame = pd.DataFrame(rng.normal(size=(rows, noise)), columns=[f"noise_{i}" for i in range(noise)])
    frame["good"] = rng.normal(size=rows) + 2.5 * y
    frame["word"] = np.where(rng.random(rows) < 0.9, np.where(y, "red", "blue"), None)
    return frame.assign(label=(y & (rng.random(rows) < 0.5)).astype(int))


def compare(frame: Any, **options: Any) -> Any:
    return spark_pufs.compare(frame, **{"label": "label", "methods": ["semi-mim"], "k": 2, "repeats": 1, **options})


def test_a_good_method_beats_a_blind_one_and_all_features_stand_beside_them() -> None:
    found = compare(table(), methods=["semi-mim", {"method": "semi-mim", "surrogate": "y0"}, "mint"])
    names = [one.method for one in found.standings]
    assert set(names) == {"semi-mim", "semi-mim (surrogate=y0)", "mint", "all"}
    best = found.standings[0]
    assert best.auc > 0.75
    assert best.features == 2
    assert best.cost == 2.0
    assert best.stability == pytest.approx(1.0)
    failed = next(one for one in found.standings if one.method == "mint")
    assert "failed in 5 of 5 trials" in failed.note
    assert "labelled negative" in failed.note
    assert names[-1] == "mint"


def test_costs_are_those_of_the_chosen_features() -> None:
    found = compare(table(), costs={"good": 5.0, "word": 2.0})
    assert next(one for one in found.standings if one.method == "semi-mim").cost == 7.0


def test_a_trial_holds_out_rows_and_labels_of_its_fold() -> None:
    """Labels that are wrong in the held-out fold only cannot reach the selection."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 3))
    fold = (np.arange(200) % 4 == 0).astype(np.uint8)
    told = (X[:, 1] > 0.5).astype(np.uint8)
    lying = np.where(fold == 1, X[:, 2] > 0.5, told).astype(np.uint8)
    request = Request(LabelRule("label", (1,), (2,), (0,)), "semi-mim", binning="equal-width")
    shared = TrialRows(X, lying, np.arange(200), fold[None], ("a", "b", "c"), {}, request)
    unit = Trial("semi-mim", k=1, repeat=0, fold=1, share=0.3, classifier="hist-gradient-boosting")
    trial = run_trial(LocalEngine, shared, unit)
    assert trial.mask.tolist() == [False, True, False]
    other = np.where(fold[:, None] == 1, rng.normal(size=X.shape), X)
    changed = run_trial(LocalEngine, replace(shared, X=other), unit)
    assert changed.mask.tolist() == trial.mask.tolist()
    rows, predicted, labelled, both = trial.judged.counts
    assert (rows, labelled) == (50, int(lying[fold == 1].sum()))
    assert predicted == 15
    assert both <= labelled


def test_the_auc_of_a_trial_is_that_of_the_classifier_on_the_held_out_rows() -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    frame = table(300)[["good", "noise_0", "label"]]
    found = compare(frame, methods=["semi-mim"], k=1, folds=2, classifier="hist-gradient-boosting")
    engine, request = LocalEngine(frame), Request(LabelRule("label"), "semi-mim")
    task = make_task(engine, inspect(engine, request), METHODS["semi-mim"], request, LocalEngine)
    rows = trial_sample(task, 10_000, folds=2).rows
    good, label, held = rows.X[:, [0]], rows.label, rows.folds[0]
    by_hand = []
    for fold in (0, 1):
        train, test = held != fold, held == fold
        model = HistGradientBoostingClassifier(max_iter=100, max_depth=3, random_state=0, early_stopping=False)
        score = model.fit(good[train], label[train]).predict_proba(good[test])[:, 1]
        by_hand.append(roc_auc_score(label[test], score))
    assert found.aucs["semi-mim"] == pytest.approx(by_hand)


def test_the_same_answer_for_any_order_of_rows() -> None:
    frame = table()
    first, second = (compare(part).table() for part in (frame, frame.sample(frac=1, random_state=1)))
    pd.testing.assert_frame_equal(first.drop(columns="seconds"), second.drop(columns="seconds"))


def test_a_user_given_prior_sets_rho() -> None:
    frame = table()
    share = frame["label"].mean()
    assert compare(frame, prior=2 * share).rho == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"folds": 1}, "Option 'folds': must be a whole number from 2 to 20, got 1"),
        ({"classifier": "svm"}, "Option 'classifier': must be one of auto, lightgbm"),
        ({"methods": ["semi-mmi"]}, "'semi-mmi' is not a method. Did you mean"),
        ({"methods": [{"clusters": 3}]}, "Option 'methods': {'clusters': 3} is not a method"),
        ({"methods": [{"method": "fscpu", "cluster": 3}]}, "Option 'cluster'"),
        ({"kk": 3}, "Option 'kk': is not an option of compare. Did you mean 'k'?"),
    ],
)
def test_bad_settings(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words.replace("?", r"\?").replace("{", r"\{").replace("}", r"\}")):
        compare(table(), **options)


def test_too_few_labels_to_hold_out() -> None:
    frame = table().assign(label=[1, 1, 1] + [0] * 397)
    with pytest.raises(DataError, match="Comparison: 3 different labelled rows, 5 are needed"):
        compare(frame)


def test_copies_of_one_labelled_row_are_one() -> None:
    frame = table()
    same = pd.concat([frame[frame["label"] == 1].head(1)] * 50 + [frame[frame["label"] == 0]])
    with pytest.raises(DataError, match="1 different labelled rows"):
        compare(same)


def test_the_printed_table_names_every_method_and_the_protocol() -> None:
    text = str(compare(table(), methods=["semi-mim", "mint"]))
    assert all(word in text for word in ("semi-mim", "mint", "all", "PU-AUC", "1 x 5 folds of all 400 rows", "k = 2"))


def test_one_standard_error_rule_by_hand() -> None:
    # Size 2 loses 0.01 in every fold but one to size 8; size 1 loses 0.2 always.
    scores = np.array([[0.60, 0.79, 0.80], [0.62, 0.83, 0.82], [0.59, 0.78, 0.79], [0.61, 0.80, 0.81]])
    curve = smallest_good([1, 2, 8], scores, folds=4)
    assert (curve.best, curve.chosen) == (8, 2)
    assert [round(point.auc, 4) for point in curve.points] == [0.605, 0.8, 0.805]
    assert smallest_good([1, 2, 8], scores, folds=4, least=3).chosen == 8


def test_protocol_defaults_are_fit() -> None:
    assert EvaluationProtocol().folds == 5
