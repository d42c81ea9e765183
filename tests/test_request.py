"""A request is checked before any table is looked at, all faults at once."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs.errors import ConfigError
from spark_pufs.request import Request
from spark_pufs.types import LabelRule

LABEL = LabelRule("s")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("k", 0, "Option 'k': must be a whole number of at least 1, auto or all, got 0."),
        ("k", 2.0, "must be a whole number of at least 1, auto or all, got 2.0"),
        ("k", True, "must be a whole number of at least 1, auto or all, got True"),
        ("budget", 0, "must be a number above 0, got 0"),
        ("budget", float("inf"), "must be a number above 0, got inf"),
        ("budget", float("nan"), "must be a number above 0, got nan"),
        ("seed", -1, "must be a whole number of at least 0, of at most 64 bits, got -1"),
        ("bins", 1, "must be a whole number from 2 to 254, got 1"),
        ("bins", 255, "must be a whole number from 2 to 254, got 255"),
        ("max_categories", 254, "must be a whole number from 1 to 253, got 254"),
        ("pair_memory_mb", -1, "must be a whole number of at least 0, got -1"),
        ("binning", "quantile", "must be one of auto, equal-width, equal-frequency, got 'quantile'"),
        ("missing", "drop", "must be one of value, error, got 'drop'"),
        ("prior", 0.0, "must be a share between 0 and 1, two of them, low and high, or estimate, got 0.0"),
        ("prior", (0.4, 0.2), "low and high, or estimate, got (0.4, 0.2)"),
        ("prior", (0.1, 0.2, 0.3), "low and high, or estimate, got (0.1, 0.2, 0.3)"),
        ("prior", "0.1", "low and high, or estimate, got '0.1'"),
        ("must", (None,), "must be names of columns or patterns of them, got (None,)"),
        ("include", ("a", ["b"]), "Option 'features': must be names of columns or patterns of them, got ('a', ['b'])"),
        ("costs", [1, 2], "Option 'costs': must be costs by name, got [1, 2]. For example {'age': 2}."),
        ("costs", {"a": 0.0}, "Option 'costs': the cost of 'a' must be a number above 0, got 0.0"),
    ],
)
def test_one_fault(option: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Request(LABEL, "mim", **{option: value})
    assert len(caught.value.faults) == 1
    assert message in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("k", 1),
        ("budget", 0.1),
        ("bins", 2),
        ("bins", 254),
        ("max_categories", 1),
        ("max_categories", 253),
        ("pair_memory_mb", 0),
        ("prior", 0.5),
        ("prior", (0.1, 0.1)),
        ("prior", None),
        ("seed", 0),
    ],
)
def test_the_ends_of_each_range_are_allowed(option: str, value: Any) -> None:
    assert getattr(Request(LABEL, "mim", **{option: value}), option) == value


@pytest.mark.parametrize("column", [None, ["label"]])
def test_a_label_that_names_no_column(column: Any) -> None:
    with pytest.raises(ConfigError, match=r"Option 'label': must be the name of a column, got .* For example"):
        Request.of(LabelRule(column), method="mim")


@pytest.mark.parametrize("method", [None, 3])
def test_a_method_that_is_no_name(method: Any) -> None:
    with pytest.raises(ConfigError, match=f"Option 'method': must be the name of a method, got {method}."):
        Request.of(LABEL, method=method)


def test_columns_with_numbers_for_names() -> None:
    given: dict[str, Any] = {name: [3, np.int64(4)] for name in ("include", "exclude", "keep", "must", "never")}
    with pytest.raises(ConfigError, match="both name '3', '4'"):
        Request.of(LabelRule(9), method="mim", **given)  # type: ignore[arg-type]
    request = Request.of(LabelRule(9), method="mim", **given | {"never": 5}, costs={3: 2})  # type: ignore[arg-type]
    assert request.label.column == "9"
    assert (request.include, request.never, request.costs) == (("3", "4"), ("5",), {"3": 2})


def test_costs_in_a_series_and_numbers_of_numpy() -> None:
    costs = pd.Series({"a": 2.0, 3: 1.5})
    request = Request.of(LABEL, method="fscpu", costs=costs, options={"clusters": np.int64(5)})
    assert request.costs == {"a": 2.0, "3": 1.5}
    assert type(request.options["clusters"]) is int
    with pytest.raises(ConfigError, match="Option 'k': must be a whole number"):
        Request.of(LABEL, method="mim", k=np.array([1, 2]))


def test_faults_are_gathered() -> None:
    with pytest.raises(ConfigError) as caught:
        Request(LABEL, "mim", k=0, bins=1, costs={"a": -1, "b": 2}, must=("x", "y"), never=("y", "z"))
    where = [fault.where for fault in caught.value.faults]
    assert where == ["Option 'k'", "Option 'bins'", "Option 'costs'", "Options 'must' and 'never'"]
    assert "both name 'y'." in str(caught.value)


def test_plain_values_for_json() -> None:
    request = Request(LabelRule("s", (1,), (-1,)), "mim", k=3, costs={"a": 2.0}, prior=(0.1, 0.2))
    plain = json.loads(json.dumps(request.as_dict()))
    assert plain["label"] == {"column": "s", "positive": [1], "negative": [-1], "unlabelled": [0]}
    assert (plain["k"], plain["costs"], plain["prior"]) == (3, {"a": 2.0}, [0.1, 0.2])


def test_it_survives_json_and_an_earlier_version_knew_fewer_fields() -> None:
    given = {"k": 3, "prior": (0.1, 0.2), "costs": {"a": 2}, "must": ["a", "b*"], "options": {"x": [1]}}
    request = Request.of(LABEL, method="mim", **given)
    values = json.loads(json.dumps(request.as_dict()))
    assert Request.from_dict(values) == request
    del values["fdr"], values["label"]["unlabelled"]
    assert Request.from_dict(values) == request


def test_a_field_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="'colour' is not a field of a request"):
        Request.from_dict({**Request(LABEL, "mim").as_dict(), "colour": "red"})
