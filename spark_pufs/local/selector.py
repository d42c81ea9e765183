"""The selectors as a scikit-learn transformer, on the local engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from spark_pufs.core.schema import free_name
from spark_pufs.engines.local import LocalEngine
from spark_pufs.engines.weights import repeats
from spark_pufs.errors import DataError, Fault, PufsError, warn
from spark_pufs.masking.texts import MOST_READ, foreign
from spark_pufs.request import Binning, Copies, Missing, Prior, Request
from spark_pufs.run.execution import select_with
from spark_pufs.types import LabelRule

__all__ = ["PUSelector"]

DEFAULT_K = 25
MOST_TOLD = 600  # characters of an error of scikit-learn


class PUSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Choose features when some rows are labelled positive and the others are not labelled.

    ``method`` is a name of ``spark_pufs.methods()`` and ``options`` holds that method's own settings; every other
    parameter means what it means in ``spark_pufs.select``. ``positive``, ``negative`` and ``unlabelled`` are values of
    the target (one or several, ``"*"`` for all others); NaN and None are unlabelled too, and so is -1 by default, as in
    ``sklearn.semi_supervised``. ``must``, ``never``, ``groups``, ``costs`` and ``categorical`` name columns: those of a
    DataFrame, ``x0, x1, ...`` of an array. The default of ``k`` counts where neither ``fdr`` nor ``expected_false`` is
    given.

    After ``fit``: ``support_`` (D,) bool; ``ranking_`` (D,) int, 1 is best, columns left out as useless (constant, say)
    share the last rank; ``scores_`` (D,) the method's own score and ``relevance_`` (D,) the same on one scale for all
    methods, 0 for chance and 1 for the best, ``q_values_`` (D,), NaN for columns left out; ``selection_``, the whole
    answer with report and warnings, each of which is a ``PufsWarning`` too; ``n_features_in_`` and, for tables with
    names, ``feature_names_in_``.

    >>> X = np.array([[1, 5], [1, 5], [0, 6], [0, 5], [1, 6], [0, 6]] * 10)
    >>> s = np.array([1, 1, 0, 0, 1, 0] * 10)
    >>> PUSelector(method="semi-mim", k=1).fit(X, s).get_feature_names_out()
    array(['x0'], dtype=object)
    """

    def __init__(
        self,
        method: str = "distil",
        k: int | Literal["auto", "all"] | None = DEFAULT_K,
        *,
        positive: Any = 1,
        negative: Any = (),
        unlabelled: Any = (0, -1),
        categorical: Iterable[str] = (),
        budget: float | None = None,
        costs: Mapping[str, float] | None = None,
        must: Iterable[str] = (),
        never: Iterable[str] = (),
        groups: Mapping[str, Iterable[str]] | Iterable[str] | None = None,
        prior: Prior | None = None,
        seed: int = 0,
        bins: int = 5,
        binning: Binning = "auto",
        max_categories: int = 32,
        missing: Missing = "value",
        copies: Copies = "one",
        pair_memory_mb: int = 256,
        stability: int = 0,
        check_labels: bool = False,
        labelled_by: Iterable[str] = (),
        fdr: float | None = None,
        expected_false: float | None = None,
        distinct: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.method = method
        self.k = k
        self.positive = positive
        self.negative = negative
        self.unlabelled = unlabelled
        self.categorical = categorical
        self.budget = budget
        self.costs = costs
        self.must = must
        self.never = never
        self.groups = groups
        self.prior = prior
        self.seed = seed
        self.bins = bins
        self.binning = binning
        self.max_categories = max_categories
        self.missing = missing
        self.copies = copies
        self.pair_memory_mb = pair_memory_mb
        self.stability = stability
        self.check_labels = check_labels
        self.labelled_by = labelled_by
        self.fdr = fdr
        self.expected_false = expected_false
        self.distinct = distinct
        self.options = options

    def fit(self, X: ArrayLike | pd.DataFrame, y: ArrayLike, sample_weight: ArrayLike | None = None) -> PUSelector:
        """Select from ``X`` (n, D), numbers or a DataFrame that may hold text too; ``y`` (n,) says who is labelled.

        ``sample_weight`` (n,): how often each row counts, whole numbers.
        """
        with _own_errors("Table X"):
            features = self._features(X)
        with _own_errors("Target y"):
            labels = _labels(y)
            check_consistent_length(features, labels)
            column = free_name("label", features.columns)
            table = features.copy(deep=False)
            table[column] = pd.Series(list(labels), dtype=object) if labels.dtype == object else labels
        if sample_weight is not None:
            with _own_errors("Weights 'sample_weight'"):
                weights = column_or_1d(sample_weight, dtype=np.float64)
                check_consistent_length(features, weights)
            table = table.iloc[repeats("sample_weight", weights)]
        self.selection_ = select_with(LocalEngine(table), self._request(column))
        lines = self.selection_.table().set_index("name").loc[list(features.columns)]
        last = len(self.selection_.features) + 1
        self.support_ = lines["selected"].to_numpy(bool)
        self.ranking_ = lines["rank"].fillna(last).to_numpy(np.int64)
        self.scores_ = lines["score"].to_numpy(np.float64, na_value=np.nan)
        self.relevance_ = lines["relevance"].to_numpy(np.float64, na_value=np.nan)
        self.q_values_ = lines["q_value"].to_numpy(np.float64, na_value=np.nan)
        warn(self.selection_.warnings)
        return self

    def transform(self, X: ArrayLike | pd.DataFrame) -> Any:
        """The chosen columns of ``X``."""
        check_is_fitted(self)
        with _own_errors("Table X"):
            return super().transform(X)

    def inverse_transform(self, X: ArrayLike) -> Any:
        """``X`` with columns of zeros where features were left out."""
        check_is_fitted(self)
        with _own_errors("Table X"):
            return super().inverse_transform(X)

    def _features(self, X: Any) -> pd.DataFrame:
        """The features as a table; a DataFrame keeps the types of its columns, anything else must be numbers."""
        if isinstance(X, pd.DataFrame) and X.size:
            validate_data(self, X, skip_check_array=True)
            values: Any = X.reset_index(drop=True)
        else:
            # Infinities and NaN are the engine's business. One row can be either labelled or not: nothing to compare.
            values = validate_data(self, X, ensure_all_finite=False, ensure_min_samples=2)
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        return pd.DataFrame(values).set_axis(names, axis=1)

    def _request(self, column: str) -> Request:
        given = self.get_params(deep=False)
        values = [given.pop(name) for name in ("positive", "negative", "unlabelled")]
        if given["k"] == DEFAULT_K and not given["fdr"] is given["expected_false"] is None:
            given["k"] = None  # the default gives way to what was said
        given["options"] = {} if given["options"] is None else given["options"]
        return Request.of(LabelRule(column, *values), **given)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class _WrongType(DataError, TypeError):
    """What scikit-learn's checks call an error of type stays one."""


@contextmanager
def _own_errors(where: str) -> Iterator[None]:
    """What scikit-learn, numpy and pandas say of an argument, as an error of ours with their words in it."""
    try:
        yield
    except PufsError:
        raise
    except Exception as error:  # libraries and objects of users raise any kind
        kind = _WrongType if isinstance(error, TypeError) else DataError
        told = " ".join(foreign(str(error)[:MOST_READ]).split()).rstrip(".")[:MOST_TOLD]
        raise kind(Fault(where, told, "Give rows and columns of numbers or text, as for fit.")) from error


def _labels(y: Any) -> Any:
    """The target as one column; NaN, None and NA stay."""
    if y is None:
        found = "PUSelector requires y to be passed, but the target y is None"
        raise DataError(Fault("Target y", found, "Give one value per row: 1 where it is labelled positive."))
    checked = check_array(y, ensure_2d=False, dtype=None, ensure_all_finite="allow-nan", input_name="y")
    return column_or_1d(checked, warn=True)
