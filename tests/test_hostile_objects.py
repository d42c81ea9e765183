"""Objects that do anything when they are shown, compared or gone through: an error of ours through every door."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.errors import Fault, PufsError
from spark_pufs.local import PUSelector
from spark_pufs.values import plain, several

X = np.random.default_rng(0).normal(size=(60, 3))
TABLE = pd.DataFrame(X, columns=list("abc")).assign(label=(X[:, 0] > 0.5).astype(int))


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Endless:
    def __iter__(self) -> Iterator[str]:
        while True:
            yield "a"


class Broken:
    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("no")


class Text(str):
    def __str__(self) -> str:
        raise RuntimeError("no")


class Number(int):
    def __int__(self) -> int:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


ARRAYS = [np.timedelta64(1, "D"), np.array([[1, 2]])]
HOSTILE = [Unshowable(), Endless(), Broken(), *ARRAYS, pd.NA, 10**400, b"a", "\ud800"]
ENDING = [one for one in HOSTILE if not isinstance(one, Endless)]


def test_subclasses_are_what_they_hold() -> None:
    assert (plain(Text("a")), plain(Number(3))) == ("a", 3)
    assert spark_pufs.select(TABLE, label=Text("label"), method=Text("semi-mim"), k=Number(1)).names == ["a"]


def test_what_never_ends_and_what_breaks_is_strange() -> None:
    assert [len(several(one)) for one in (Endless(), Broken())] == [1, 1]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("option", ["label", "method", "features", "must", "k", "costs", "prior", "seed"])
def test_select(option: str, value: Any) -> None:
    given = {"label": "label", "method": "semi-mim", "k": 1, option: value}
    if option == "k" and value is pd.NA:
        assert spark_pufs.select(TABLE, **given).names  # none given: proposed
        return
    if value is pd.NA and option == "prior":
        assert spark_pufs.select(TABLE, **given).names == ["a"]
        return
    with pytest.raises(PufsError):
        spark_pufs.select(TABLE, **given)


FITTED = spark_pufs.select(TABLE, label="label", method="semi-mim", k=1)
DOORS: list[Callable[[Any], Any]] = [
    lambda one: FITTED.write(one),
    lambda one: FITTED.write_report(one),
    lambda one: FITTED.apply(one),
    lambda one: FITTED.write("x", overwrite=one),
    lambda one: spark_pufs.diff(one, FITTED),
    lambda one: spark_pufs.likely_positives(one, TABLE),
    lambda one: spark_pufs.select(one, label="label"),
    lambda one: PUSelector(method="semi-mim", k=1).fit(one, TABLE["label"]),
    lambda one: PUSelector(method="semi-mim", k=1).fit(TABLE[["a"]], one),
    lambda one: PUSelector(method="semi-mim", k=1).fit(TABLE[["a"]], TABLE["label"]).transform(one),
    lambda one: PUSelector(method="semi-mim", k=1, options=one).fit(TABLE[["a"]], TABLE["label"]),
    lambda one: spark_pufs.power(prior=one, labelled=50, rows=1000, effect=0.01),
    lambda one: spark_pufs.power(prior=0.1, labelled=50, rows=one, effect=0.01),
    lambda one: spark_pufs.sample_size(prior=0.1, labelled=50, rows=1000, effect=one),
    lambda one: spark_pufs.scores([1, 0], [1, 0], rho=one),
    lambda one: spark_pufs.scores([1, 0], [1, 0], rho=0.5, beta=one),
    lambda one: spark_pufs.scores(one, [1, 0], rho=0.5),
]


@pytest.mark.parametrize("value", ENDING, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("door", range(len(DOORS)))
def test_every_other_door(door: int, value: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PufsError):
        DOORS[door](value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [Unshowable(), Number(3)], ids=["object", "number"])
def test_values_of_a_label(value: Any) -> None:
    table = TABLE.assign(label=pd.Series([value, 0, 0] * 20, dtype=object))
    with pytest.raises(PufsError, match="Column 'label'"):
        spark_pufs.select(table, label="label", method="semi-mim", k=1)


def test_names_that_no_values_belong_to() -> None:
    table = TABLE.copy()
    table[range(3)] = 0  # pandas adds three names and one column of values
    with pytest.raises(PufsError, match=r"^Table: column 6 of 7 cannot be read: "):
        spark_pufs.select(table, label="label", method="semi-mim", k=1)
    with pytest.raises(PufsError, match="Table X"):
        PUSelector(method="semi-mim", k=1).fit(table, TABLE["label"])


def test_names_that_no_name_finds() -> None:
    names = pd.Index(np.array(["a", "b", slice(1), "label"], dtype=object), dtype=object)
    found = spark_pufs.select(TABLE.set_axis(names, axis=1), label="label", method="semi-mim", k=3)
    assert set(found.names) == {"a", "b", "slice(None, 1, None)"}
    assert list(found.apply(TABLE.set_axis(names, axis=1)).columns) == list(names)


def test_a_message_is_not_endless() -> None:
    assert len(str(Fault("a" * 10**6, "b" * 10**6, "c" * 10**6))) < 10_000


@pytest.mark.parametrize(
    "given",
    [{"levels": 2**62}, {"conditions": 10**18}, {"effect": 5e-324}, {"rows": 10**300}, {"alpha": 10**400}],
    ids=repr,
)
def test_numbers_beyond_all_tables(given: dict[str, Any]) -> None:
    base = {"prior": 0.1, "labelled": 50, "rows": 1000, "effect": 0.01}
    with pytest.raises(PufsError):
        spark_pufs.sample_size(**base | given)


def test_small_numbers_of_numpy_count_as_numbers() -> None:
    base = {"prior": np.float32(0.1), "labelled": np.int8(50), "rows": 1000, "effect": 0.01}
    assert spark_pufs.power(**base).power == spark_pufs.power(**base | {"labelled": 50}).power
