"""Whatever is given as an argument or as a label is read once: an answer or an error in our words."""

from __future__ import annotations

import inspect
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.core.schema import label_states
from spark_pufs.errors import ConfigError, DataError, Fault, PufsError
from spark_pufs.types import LABELLED_POSITIVE, LabelRule

INDEX = np.arange(60)
TABLE = pd.DataFrame({"a": INDEX % 7 * 1.0, "b": INDEX % 3 * 1.0, "label": np.where(INDEX < 10, 1, 0)})
ODD: dict[str, Any] = {
    "NA": pd.NA,
    "NaT": pd.NaT,
    "nan": float("nan"),
    "array of no dimension": np.array(2),
    "text of no dimension": np.array("a"),
    "square array": np.ones((2, 2)),
    "Series": pd.Series([1, 2]),
    "Index": pd.Index(["a", "b"]),
    "DataFrame": TABLE,
    "400 digits": 10**400,
    "5000 digits": 10**5000,
    "decimal": Decimal("1e999999"),
    "half a character": "\ud800",
    "ragged": [[1], [2, 3]],
    "dict": {"a": [1]},
    "set": {"a", "b"},
    "bytes": b"a",
    "NUL": "\0",
    "object": object(),
    "complex": 1j,
    "class": int,
}
OPTIONS = [name for name in inspect.signature(spark_pufs.select).parameters if name not in ("table", "options")]


def select(table: pd.DataFrame = TABLE, **options: Any) -> Any:
    return spark_pufs.select(table, **{"label": "label", "method": "mim", "k": 1, **options})


def refusal(**options: Any) -> PufsError | None:
    try:
        select(**options)
    except PufsError as error:
        return error
    return None


@pytest.mark.filterwarnings("ignore::spark_pufs.PufsWarning")
@pytest.mark.parametrize("option", OPTIONS)
def test_any_value_of_any_option(option: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a checkpoint may be any name
    for value in ODD.values():
        error = refusal(**{option: value})
        if error is not None:
            assert len(str(error).encode()) < 2000
            assert all(fault.where and fault.found and fault.fix for fault in error.faults)


@pytest.mark.parametrize(("option", "value", "found"), [
    ("seed", 2**64, "of at most 64 bits, got 18446744073709551616"),
    ("stability", 10**12, "must be 0 or a whole number from 2 to 10000"),
    ("k", pd.Series([1]), r"must be a whole number of at least 1, auto or all, got \(1,\)"),
    ("budget", 10**400, "must be a number above 0, got a whole number of over 100 digits"),
    ("costs", {None: 3}, "must be costs by name, got {None: 3}"),
    ("positive", [[1, 2]], r"Option 'positive': must be label values: numbers or text, got \(\[1, 2\],\)"),
    ("negative", {"a": 1}, "Option 'negative': must be label values"),
    ("unlabelled", "\ud800", r"Option 'unlabelled': must be label values.*\\ud800"),
    ("checkpoint", 5, "Option 'checkpoint': must be a path, got 5"),
    ("checkpoint", "a\0b", r"Option 'checkpoint': must be a path, got 'a\\x00b'"),
])  # fmt: skip
def test_messages(option: str, value: Any, found: str) -> None:
    with pytest.raises(ConfigError, match=found):
        select(**{option: value})


@pytest.mark.parametrize("methods", [None, 3, [None], pd.NA, np.array("mim"), {"method": ["mim"]}])
def test_methods_to_compare_that_are_none(methods: Any) -> None:
    with pytest.raises(ConfigError, match="is not a method"):
        spark_pufs.compare(TABLE, label="label", methods=methods, k=1)


def test_numbers_of_no_dimension_and_lists_of_pandas_are_what_they_hold() -> None:
    found = select(
        k=np.array(1), prior=pd.Series([0.2, 0.3]), features=pd.Index(["a", "b"]), costs=pd.Series({"a": 2.0})
    )
    assert found.request.k == 1
    assert found.request.prior == (0.2, 0.3)


def test_sets_come_in_one_order() -> None:
    assert LabelRule("s", {"b", "a", 3}).positive == (3, "a", "b")  # type: ignore[arg-type]


LABELS = [0.1, 1e16, 1e17, 10**17, 1e300, -0.5, Decimal("0.1"), Decimal("1.50"), Decimal(2**60), np.float64(0.3),
          date(2026, 1, 31), pd.Timestamp("2026-01-31 10:00:00.5")]  # fmt: skip


@pytest.mark.parametrize("value", LABELS, ids=repr)
def test_a_label_value_can_be_declared_as_it_stands_in_the_table(value: Any) -> None:
    found = select(TABLE.assign(label=pd.Series([value] * 10 + [None] * 50)), positive=value)
    assert found.facts["labelled_positive"] == 10


def test_numbers_as_text_declare_numbers_unless_the_text_itself_is_there() -> None:
    assert label_states({"10000000000000000": 1}, LabelRule("s", ("1e16",)))[0] == {
        "10000000000000000": LABELLED_POSITIVE
    }
    assert label_states({"1.5": 1}, LabelRule("s", ("1.50",)))[0] == {"1.5": LABELLED_POSITIVE}
    states, faults = label_states({"1.5": 1, "1.50": 2}, LabelRule("s", ("1.50",)))
    assert states == {"1.50": LABELLED_POSITIVE}
    assert "found '1.5' in 1 rows" in str(faults[0])


@pytest.mark.parametrize("cell", [[1], {"a": 1}, "\ud800", 10**5000], ids=["list", "dict", "half", "digits"])
def test_cells_of_the_label_that_are_no_values(cell: Any) -> None:
    with pytest.raises(DataError, match=r"Column 'label': cannot be read as values: .* Give the column"):
        select(TABLE.assign(label=pd.Series([cell] * 60, dtype=object)))


def test_a_column_whose_name_no_file_can_hold() -> None:
    with pytest.raises(DataError, match=r"Column 'x\\ud800': its name holds an unpaired surrogate. Rename it."):
        select(TABLE.assign(**{"x\ud800": INDEX}))


def test_terminals_are_shown_escapes() -> None:
    said = str(Fault("Column '\x1b[31m\u202e'", "a\nb", "c"))
    assert said == "Column '\\x1b[31m\\u202e': a\\nb. c"
