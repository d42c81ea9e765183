"""Baselines from libraries give what the libraries give."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectKBest, chi2
from sklearn.linear_model import Lasso
from sklearn.preprocessing import minmax_scale

from spark_pufs import select
from spark_pufs.core.baselines.scored import canonical_order
from spark_pufs.core.baselines.sklearn_peers import Elimination, forest_elimination
from spark_pufs.core.counting.row_sample import LabelledRows
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.errors import ConfigError, DataError, EnvironmentFault


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    data = make_artificial(CONDITIONS[0], seed=2, negatives=800, positives=100)
    chosen = [*range(6), *range(25, 31)]
    return pd.DataFrame(data.X[:, chosen] * 7 - 3, columns=[data.names[i] for i in chosen]).assign(label=data.s)


def parts(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return minmax_scale(table.drop(columns="label").to_numpy()), table["label"].to_numpy()


def best(names: Any, scores: np.ndarray, k: int) -> list[str]:
    return [names[i] for i in np.argsort(-scores, kind="stable")[:k]]


def test_k_best_is_scikit_learns(table: pd.DataFrame) -> None:
    X, y = parts(table)
    found = select(table, label="label", method="k-best", k=5)
    peer = SelectKBest(chi2, k=5).fit(X, y)
    assert sorted(found.names) == sorted(table.columns[:-1][peer.get_support()])
    assert found.scores == pytest.approx(sorted(peer.scores_, reverse=True)[:5], rel=1e-6)


def test_lasso_is_scikit_learns(table: pd.DataFrame) -> None:
    X, y = parts(table)
    for alpha, options in ((5e-5, {}), (1e-3, {"alpha": 1e-3})):
        found = select(table, label="label", method="lasso", k=5, **options)
        weight = Lasso(alpha=alpha, max_iter=10_000).fit(X, y).coef_
        assert found.names == best(table.columns, np.abs(weight), 5)
        assert found.scores == pytest.approx(sorted(np.abs(weight), reverse=True)[:5], rel=1e-2)
        assert found.details["sample"] == "all 900 rows"


def test_dt_rfe_is_scikit_learns(table: pd.DataFrame) -> None:
    X, y = parts(table)
    settings = Elimination(np.arange(1, 12), keep=6, trees=10, step=1, seed=3)
    found = forest_elimination(LabelledRows(X, y.astype(np.uint8)), settings)
    rows, columns = canonical_order(X[:, 1:], y.astype(np.uint8))
    peer = RFE(RandomForestClassifier(10, random_state=3), n_features_to_select=6)
    peer.fit(X[rows][:, columns + 1], y[rows] == 1)
    assert found.rank[columns].tolist() == peer.ranking_.tolist()
    assert found.importance[columns][peer.support_] == pytest.approx(peer.estimator_.feature_importances_)
    assert not found.importance[columns][~peer.support_].any()


def test_dt_rfe_ranks_the_dropped_by_when_they_went(table: pd.DataFrame) -> None:
    found = select(table, label="label", method="dt-rfe", k=3, trees=5)
    others = [feature.score for feature in found.features if not feature.selected]
    assert others == [-float(rank) for rank in range(2, 11)]
    stepped = select(table, label="label", method="dt-rfe", k=3, trees=5, step=3)
    assert sorted({f.score for f in stepped.features if not f.selected}) == [-4.0, -3.0, -2.0]


def test_dt_rfe_with_costs_ranks_everything(table: pd.DataFrame) -> None:
    never = [table.columns[0]]
    found = select(table, label="label", method="dt-rfe", budget=2.0, costs={"noise_*": 0.5}, never=never, trees=5)
    assert sum(f.cost for f in found.features if f.selected) <= 2
    assert never[0] not in found.names
    assert len({feature.score for feature in found.features}) == len(found.features)


@pytest.mark.parametrize(("search", "evaluations", "generations"), [("contrast", 100, 2), ("paper", 20, 10)])
def test_lgbm_opt_finds_what_tells(search: str, evaluations: int, generations: int) -> None:
    rng = np.random.default_rng(5)
    y = rng.random(300) < 0.3
    X = rng.random((300, 8))
    X[:, 2] += y
    X[:, 5] += y
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(label=y.astype(int))
    found = select(frame, label="label", method="lgbm-opt", k=2, search=search, evaluations=evaluations)
    assert set(found.names) == {"c", "f"} or search == "paper"
    assert found.details["generations"] == generations
    assert 0.9 < found.details["best_auc"] <= 1


def test_lgbm_opt_without_lightgbm(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_pufs.core.evidence.classifier.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(EnvironmentFault, match=r"'lightgbm': is not installed. Install spark-pufs\[lightgbm\]"):
        select(table, label="label", method="lgbm-opt", k=3)
    options = {"evaluations": 2, "search": "paper", "classifier": "hist-gradient-boosting"}
    assert len(select(table, label="label", method="lgbm-opt", k=3, **options).names) == 3


def test_lgbm_opt_needs_rows_to_learn_from_and_rows_to_be_judged_by(table: pd.DataFrame) -> None:
    one = table.assign(label=(np.arange(len(table)) == 5).astype(int))
    with pytest.raises(DataError, match="is judged by others, found one"):
        select(one, label="label", method="lgbm-opt", k=3)


@pytest.mark.parametrize("method", ["lasso", "dt-rfe", "lgbm-opt"])
def test_a_sample_is_named_as_such(table: pd.DataFrame, method: str) -> None:
    quick = {"lasso": {}, "dt-rfe": {"trees": 5}, "lgbm-opt": {"evaluations": 2, "search": "paper"}}[method]
    found = select(table, label="label", method=method, k=3, rows=200, **quick)
    assert found.details["sample"].startswith("a sample of 2")
    assert found.details["sample"].endswith("of 900 rows")


@pytest.mark.parametrize(
    ("method", "option", "value"),
    [("lasso", "alpha", 0), ("dt-rfe", "trees", 0), ("dt-rfe", "step", 0.5), ("lgbm-opt", "evaluations", 1)],
)
def test_bad_values(table: pd.DataFrame, method: str, option: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"Option '{option}': must be"):
        select(table, label="label", method=method, k=3, **{option: value})


@pytest.mark.parametrize("method", ["k-best", "lasso", "dt-rfe"])
def test_text_columns_are_read_as_numbers(table: pd.DataFrame, method: str) -> None:
    wide = table.assign(word=np.where(table["label"] == 1, "yes", "no"))
    found = select(wide, label="label", method=method, k=3, **({"trees": 5} if method == "dt-rfe" else {}))
    assert found.names[0] == "word"
    assert found.dropped == {}
