"""The settings of a selection as Params of pyspark.ml."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import Any, Literal, Self, TypedDict

from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasFeaturesCol, HasInputCols, HasLabelCol, HasOutputCol, HasSeed, HasWeightCol

from spark_pufs.errors import ConfigError, Fault, PufsError
from spark_pufs.masking.texts import gist
from spark_pufs.request import DEFAULT_METHOD, Request
from spark_pufs.types import LabelRule
from spark_pufs.values import plain_label, several

__all__ = ["ParamValues", "SelectionParams"]


class ParamValues(TypedDict, total=False):
    """Keywords of the estimator, each a Param of that name."""

    inputCols: list[str]
    featuresCol: str
    outputCol: str
    labelCol: str
    weightCol: str
    positive: Any
    negative: Any
    unlabelled: Any
    method: str
    k: int | Literal["auto", "all"]
    budget: float
    costs: dict[str, float]
    must: list[str]
    never: list[str]
    groups: dict[str, list[str]] | list[str]
    categorical: list[str]
    prior: float | tuple[float, float] | Literal["estimate"]
    seed: int
    bins: int
    binning: str
    maxCategories: int
    missing: str
    copies: str
    pairMemoryMb: int
    stability: int
    checkLabels: bool
    labelledBy: list[str]
    fdr: float
    expectedFalse: float
    distinct: bool
    options: dict[str, Any]


class WrongParam(ConfigError, TypeError):
    """A value that a Param cannot hold; pyspark's users expect a TypeError."""


def _param(field: str) -> str:
    """The name of a field of a request as pyspark.ml spells it: maxCategories for max_categories."""
    if field == "weights":
        return "weightCol"
    first, *others = field.split("_")
    return first + "".join(word.capitalize() for word in others)


# Fields of a request that Params give in other words; every other field is a Param of its own.
_OTHERWISE = ("label", "include", "exclude", "keep", "categorical", "propose_k", "estimate_prior")
_FIELDS = {_param(field.name): field for field in fields(Request) if field.name not in _OTHERWISE}
# What is not told has no default: None, or nothing to choose.
_DEFAULTS = {name: field.default for name, field in _FIELDS.items() if field.default not in (MISSING, None, ())}


def _plain(value: Any) -> Any:
    """The value after a journey as JSON, which is how it will be saved."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except ValueError as error:
        raise TypeError(f"Could not write {value!r} as JSON: {error}") from error


def _mapping(value: Any) -> Any:
    if not isinstance(value, dict):
        raise TypeError(f"Could not convert {value!r} to a dict")
    return _plain(value)


def _grouped(value: Any) -> Any:
    """Patterns by the name of their group, or patterns alone."""
    if isinstance(value, dict):
        return {TypeConverters.toString(name): _names(own) for name, own in value.items()}
    return _names(value)


def _values(value: Any) -> Any:
    return _plain(list(several(value, plain_label)))


def _names(value: Any) -> list[str]:
    return TypeConverters.toListString(list(several(value)))


def _count(value: Any) -> int | str:
    return value if value in ("auto", "all") else TypeConverters.toInt(value)


def _share(value: Any) -> float | str | list[float]:
    if value == "estimate":
        return "estimate"
    return TypeConverters.toListFloat(value) if isinstance(value, list | tuple) else TypeConverters.toFloat(value)


class SelectionParams(HasInputCols, HasFeaturesCol, HasOutputCol, HasLabelCol, HasSeed, HasWeightCol):
    """Params shared by the estimator and its model; they mean what they mean in ``spark_pufs.select``."""

    method: Param[str] = Param(Params._dummy(), "method", "method, see spark_pufs.methods().", TypeConverters.toString)
    positive: Param[Any] = Param(Params._dummy(), "positive", "label values that mean positive.", _values)
    negative: Param[Any] = Param(Params._dummy(), "negative", "label values that mean negative.", _values)
    unlabelled: Param[Any] = Param(
        Params._dummy(), "unlabelled", 'label values that mean unlabelled, beside null; "*" is all others.', _values
    )
    k: Param[Any] = Param(Params._dummy(), "k", 'number of features, "auto" or "all".', _count)
    budget: Param[float] = Param(
        Params._dummy(), "budget", "what the features may cost together.", TypeConverters.toFloat
    )
    costs: Param[dict[str, float]] = Param(Params._dummy(), "costs", "cost by name or glob; 1 if not named.", _mapping)
    must: Param[list[str]] = Param(Params._dummy(), "must", "features to choose in any case, names or globs.", _names)
    never: Param[list[str]] = Param(Params._dummy(), "never", "features never to choose, names or globs.", _names)
    groups: Param[Any] = Param(
        Params._dummy(), "groups", "columns chosen together or not at all, by the name of their group.", _grouped
    )
    categorical: Param[list[str]] = Param(
        Params._dummy(), "categorical", "numbers to read as categories, beside nominal ML attributes.", _names
    )
    prior: Param[Any] = Param(Params._dummy(), "prior", "share of positives, low and high, or estimate.", _share)
    bins: Param[int] = Param(Params._dummy(), "bins", "bins of a number.", TypeConverters.toInt)
    binning: Param[str] = Param(
        Params._dummy(), "binning", "equal-frequency, which auto is, or equal-width.", TypeConverters.toString
    )
    maxCategories: Param[int] = Param(  # noqa: N815
        Params._dummy(), "maxCategories", "commonest categories that keep a level of their own.", TypeConverters.toInt
    )
    missing: Param[str] = Param(Params._dummy(), "missing", "value or error.", TypeConverters.toString)
    copies: Param[str] = Param(
        Params._dummy(),
        "copies",
        "choose from one of copies, of exact ones, or from all.",
        TypeConverters.toString,
    )
    pairMemoryMb: Param[int] = Param(  # noqa: N815
        Params._dummy(), "pairMemoryMb", "memory for counting all pairs in one pass.", TypeConverters.toInt
    )
    stability: Param[int] = Param(
        Params._dummy(), "stability", "halves of the rows to repeat the selection on, 0 for none.", TypeConverters.toInt
    )
    checkLabels: Param[bool] = Param(  # noqa: N815
        Params._dummy(), "checkLabels", "tell whether labels depend on columns.", TypeConverters.toBoolean
    )
    labelledBy: Param[list[str]] = Param(  # noqa: N815
        Params._dummy(), "labelledBy", "columns by which rows were labelled, names or globs.", _names
    )
    fdr: Param[float] = Param(
        Params._dummy(), "fdr", "share of false features at most, on average, instead of k.", TypeConverters.toFloat
    )
    expectedFalse: Param[float] = Param(  # noqa: N815
        Params._dummy(), "expectedFalse", "false features at most, on average, instead of k.", TypeConverters.toFloat
    )
    distinct: Param[bool] = Param(
        Params._dummy(), "distinct", "without features that stronger ones explain.", TypeConverters.toBoolean
    )
    options: Param[dict[str, Any]] = Param(Params._dummy(), "options", "the method's own settings.", _mapping)

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(
            method=DEFAULT_METHOD,
            positive=LabelRule.positive,
            negative=LabelRule.negative,
            unlabelled=LabelRule.unlabelled,
            categorical=Request.categorical,
            **_DEFAULTS,
        )

    def _set(self, **given: Any) -> Self:
        """As pyspark does it; what a Param cannot hold is an error of ours."""
        try:
            return super()._set(**given)
        except PufsError:
            raise
        except Exception as error:  # converters raise TypeError, objects of users anything
            names = ", ".join(f"'{name}'" for name in given)
            raise WrongParam(Fault(f"Param {names}", gist(error).rstrip("."), "Its doc says what it holds.")) from error

    def _request(self, include: list[str], categorical: list[str]) -> Request:
        given = {field.name: self.getOrDefault(name) for name, field in _FIELDS.items() if self.isDefined(name)}
        values = [self.getOrDefault(name) for name in ("positive", "negative", "unlabelled")]
        categorical = [*self.getOrDefault("categorical"), *categorical]
        return Request.of(LabelRule(self.getLabelCol(), *values), include=include, categorical=categorical, **given)

    def getMethod(self) -> str:
        return self.getOrDefault(self.method)

    def getK(self) -> int | str | None:
        return self.getOrDefault(self.k) if self.isDefined(self.k) else None

    def setFeaturesCol(self, value: str) -> Self:
        return self._set(featuresCol=value)

    def setOutputCol(self, value: str) -> Self:
        return self._set(outputCol=value)
