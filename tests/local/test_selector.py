"""PUSelector is a scikit-learn transformer, and gives what spark_pufs.select gives."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from spark_pufs import local, select
from spark_pufs.engines.local import LocalEngine
from spark_pufs.local import PUSelector
from spark_pufs.request import Request
from spark_pufs.run.execution import prepare
from spark_pufs.run.provenance import fingerprint
from spark_pufs.selectors.registry import METHODS
from spark_pufs.types import LabelRule
from support.quick_options import quick

THREE_CLASSES = "hands over classes 0, 1, 2 (or more); unless told, a class that nobody declared is refused"
NOT_PU = dict.fromkeys(
    [
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_fit_returns_self",
        "check_estimators_overwrite_params",
        "check_f_contiguous_array_estimator",
        "check_fit2d_1feature",
        "check_fit2d_predict1d",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in_after_fitting",
        "check_positive_only_tag_during_fit",
        "check_readonly_memmap_input",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weights_list",
        "check_sample_weights_not_an_array",
        "check_sample_weights_not_overwritten",
        "check_sample_weights_pandas_series",
        "check_sample_weights_shape",
    ],
    THREE_CLASSES,
)


def expected_failures(selector: PUSelector) -> dict[str, str]:
    return {} if selector.unlabelled == "*" else NOT_PU


@parametrize_with_checks(
    [
        PUSelector(unlabelled="*", options={"trees": 10, "judge": False}),
        PUSelector("cmim", 2, unlabelled="*", bins=3),
        PUSelector(),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def data() -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Columns b and e move with the class; s is 1, -1 or 0: positive, negative, unlabelled."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame(rng.normal(size=(200, 6)), columns=list("abcdef"))
    X["b"] += 2.5 * y
    X["e"] += 1.5 * y
    return X, np.where(rng.random(200) < 0.6, 2 * y - 1, 0)


Data = tuple[pd.DataFrame, np.ndarray[Any, Any]]


@pytest.mark.parametrize("method", METHODS)
def test_every_method(data: Data, method: str) -> None:
    """The request is the one that select makes of the same settings, so that the answer is."""
    X, s = data
    options: dict[str, Any] = {"method": method, "k": 2, "prior": 0.5, "seed": 3, "options": quick(method)}
    fitted = PUSelector(negative=-1, unlabelled=0, **options).fit(X, s)
    request = Request.of(LabelRule("label", (1,), (-1,), (0,)), **options)
    assert fitted.selection_.fingerprint == fingerprint(prepare(LocalEngine(X.assign(label=s)), request), request)
    names = fitted.selection_.names
    assert len(names) in (1, 2)
    assert fitted.get_feature_names_out().tolist() == [name for name in X if name in names]
    ranks = dict(zip(X, fitted.ranking_.tolist(), strict=True))
    assert ranks == {feature.name: feature.rank for feature in fitted.selection_.features}


def test_same_answer_as_select(data: Data) -> None:
    X, s = data
    expected = select(X.assign(label=s), label="label", method="jmi", unlabelled=(0, -1), k=3, must="a")
    assert PUSelector("jmi", 3, must="a").fit(X, s).selection_.features == expected.features


def test_attributes_cover_every_column(data: Data) -> None:
    X, s = data
    X = X.assign(still=7.0)[["still", *X.columns]]
    fitted = PUSelector("mim", k=2).fit(X, s)
    assert fitted.n_features_in_ == 7
    assert fitted.feature_names_in_.tolist() == list(X.columns)
    assert fitted.support_.tolist() == [name in ("b", "e") for name in X.columns]
    assert fitted.get_support(indices=True).tolist() == [2, 5]
    assert fitted.ranking_[[2, 5, 0]].tolist() == [1, 2, 7]  # the constant column comes after the six others
    assert sorted(fitted.ranking_) == [1, 2, 3, 4, 5, 6, 7]
    assert np.isnan(fitted.scores_).tolist() == [True] + [False] * 6
    assert fitted.scores_[[2, 5]].tolist() == fitted.selection_.scores


def test_transform_keeps_numbers_names_and_types(data: Data) -> None:
    X, s = data
    fitted = PUSelector("mim", k=2).fit(X, s)
    np.testing.assert_array_equal(fitted.transform(X), X[["b", "e"]])
    narrow = fitted.set_output(transform="pandas").transform(X.set_index(X.index + 5))
    pd.testing.assert_frame_equal(narrow, X[["b", "e"]].set_index(X.index + 5))
    back = fitted.inverse_transform(narrow)
    assert (back[:, [0, 2, 3, 5]] == 0).all()
    np.testing.assert_array_equal(back[:, [1, 4]], narrow)


def test_an_array_is_a_table_without_names(data: Data) -> None:
    X, s = data
    fitted = PUSelector("mim", k=2, must="x0").fit(X.to_numpy(), s)
    assert not hasattr(fitted, "feature_names_in_")
    assert fitted.get_feature_names_out().tolist() == ["x0", "x1"]


def test_text_and_missing_values_as_in_the_engine(data: Data) -> None:
    X, s = data
    X = X.assign(colour=np.where(s == 1, "red", "blue"))
    X.loc[::7, "b"] = np.nan
    X.loc[0, "e"] = np.inf
    fitted = PUSelector("mim", k=2).set_output(transform="pandas").fit(X, s)
    assert fitted.selection_.names == select(X.assign(label=s), label="label", method="mim", unlabelled="*", k=2).names
    assert fitted.transform(X).equals(X[[name for name in X if name in fitted.selection_.names]])
    with pytest.raises(ValueError, match="Column 'b': 29 of 200 values are missing"):
        PUSelector("mim", k=2, missing="error").fit(X, s)


@pytest.mark.parametrize(
    "labels",
    [
        [1, None] * 100,
        np.array([1, np.nan] * 100),
        np.array([True, False] * 100),
        pd.Series([1, None] * 100, dtype="Int64", index=range(5, 205)),
        pd.Series([1, -1] * 100, dtype="category"),
    ],
    ids=["None", "NaN", "bool", "NA", "category"],
)
def test_ways_to_say_unlabelled(data: Data, labels: Any) -> None:
    facts = PUSelector("mim", k=2).fit(data[0], labels).selection_.facts
    assert (facts["labelled_positive"], facts["labelled_negative"], facts["unlabelled"]) == (100, 0, 100)


def test_a_feature_may_be_called_label(data: Data) -> None:
    X, s = data
    fitted = PUSelector("mim", k=1).fit(X.rename(columns={"b": "label"}), s)
    assert fitted.get_feature_names_out().tolist() == ["label"]
    assert fitted.selection_.request.label.column == "label_"


def test_grid_search_in_a_pipeline(data: Data) -> None:
    X, s = data
    labelled = (s == 1).astype(int)
    pipeline = make_pipeline(PUSelector("mim"), LogisticRegression())
    grid = {"puselector__k": [1, 2], "puselector__method": ["mim", "semi-jmi"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, labelled)
    assert len(search.cv_results_["mean_test_score"]) == 4
    best = search.best_estimator_[0]
    assert best.support_.sum() == search.best_params_["puselector__k"]
    assert search.best_estimator_[:-1].get_feature_names_out().tolist() == best.get_feature_names_out().tolist()


def test_clones_are_equal_and_unfitted(data: Data) -> None:
    X, s = data
    selector = PUSelector("fscpu", k=2, options={"generations": 1}, costs={"a": 2}, must=["a"], prior=(0.1, 0.2))
    twin = clone(selector)
    assert twin.get_params() == selector.get_params()
    first, second = selector.fit(X, s), twin.fit(X, s)
    assert first.selection_.fingerprint == second.selection_.fingerprint
    assert not hasattr(clone(first), "support_")


def test_tags_tell_the_truth() -> None:
    tags = get_tags(PUSelector())
    assert tags.target_tags.required
    assert tags.input_tags.allow_nan
    assert not tags.input_tags.sparse
    assert tags.estimator_type is None


def test_sparse_input_is_refused(data: Data) -> None:
    X, s = data
    with pytest.raises(TypeError, match="dense data is required"):
        PUSelector().fit(sparse.csr_array(X.to_numpy()), s)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "semijmi"}, "Option 'method': 'semijmi' is not a method. Did you mean 'semi-jmi'?"),
        ({"options": {"alhpa": 1}}, "Option 'alhpa': is not an option of method 'distil'"),
        ({"k": 0}, "Option 'k': must be a whole number of at least 1"),
        ({"must": ["g"]}, "Option 'must': 'g' is not a feature"),
        ({"unlabelled": 0}, "expected 0, 1 or null, found '-1'"),
    ],
)
def test_faults_are_value_errors(data: Data, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as found:  # noqa: PT011
        PUSelector(**options).fit(*data)
    assert message in str(found.value)


def test_nothing_chosen_is_said(data: Data) -> None:
    X, s = data
    noise = X[["a", "c"]]
    fitted = PUSelector("semi-iamb", k="all", options={"alpha": 1e-9}).fit(noise, s)
    assert not fitted.support_.any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert fitted.transform(noise).shape == (200, 0)


def test_html_and_text_forms() -> None:
    with config_context(print_changed_only=True):
        assert str(PUSelector(k=3)) == "PUSelector(k=3)"
    assert "PUSelector" in PUSelector()._repr_html_()


@pytest.mark.integration
def test_import_is_light() -> None:
    script = "import sys, spark_pufs.local; print([m for m in ('sklearn', 'pyspark', 'pandas') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_unknown_names_are_attribute_errors() -> None:
    assert not hasattr(local, "Nothing")
