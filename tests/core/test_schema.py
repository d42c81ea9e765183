"""Which columns are features, and what label values mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.core.schema import canonical_label, free_name, label_states, match, patterns, resolve
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Column, LabelRule

COLUMNS = [
    Column("flow.id", "text", "string"),
    Column("duration", "numeric", "double"),
    Column("label", "numeric", "int"),
    Column("proto", "text", "string"),
    Column("payload", "unsupported", "binary"),
    Column("fwd iat.avg", "numeric", "double"),
    Column("port", "numeric", "int"),
]


def test_everything_but_the_label_in_table_order() -> None:
    schema, faults = resolve(COLUMNS, "label")
    assert not faults
    assert schema.order == ("flow.id", "duration", "proto", "fwd iat.avg", "port")
    assert schema.numeric == ("duration", "fwd iat.avg", "port")
    assert schema.text == ("flow.id", "proto")
    assert schema.skipped == {"payload": "type binary is not supported"}


def test_globs_exclude_keep_and_categorical() -> None:
    schema, faults = resolve(COLUMNS, "label", exclude=["*id"], keep=["dur*"], categorical=["port"])
    assert not faults
    assert schema.order == ("proto", "fwd iat.avg", "port")
    assert (schema.numeric, schema.text) == (("fwd iat.avg",), ("proto", "port"))


def test_features_keep_the_order_of_the_table_not_of_the_list() -> None:
    schema, _ = resolve(COLUMNS, "label", include=["port", "duration"])
    assert schema.order == ("duration", "port")


@pytest.mark.parametrize(
    ("options", "where", "words"),
    [
        ({"label": "lable"}, "Column 'lable'", "Did you mean 'label'?"),
        ({"include": ["durations", "port"]}, "Option 'features'", "Did you mean 'duration'?"),
        ({"exclude": ["x*"]}, "Option 'exclude'", "'x*' matches none of 7 columns"),
        ({"keep": ["x*"]}, "Option 'keep'", "'x*' matches none of 7 columns"),
        ({"categorical": ["x*"]}, "Option 'categorical'", "'x*' matches none of 7 columns"),
        ({"include": ["label", "port"]}, "Column 'label'", "is the label and cannot be a feature"),
        ({"include": ["payload", "port"]}, "Column 'payload'", "type binary is not supported"),
        ({"exclude": ["*"]}, "Option 'features'", "no feature is left"),
    ],
)
def test_one_fault(options: dict[str, list[str]], where: str, words: str) -> None:
    _, faults = resolve(COLUMNS, **({"label": "label"} | options))
    assert [fault.where for fault in faults] == [where]
    assert words in str(faults[0])


def test_faults_are_gathered() -> None:
    twice = [*COLUMNS, Column("port", "text", "string")]
    _, faults = resolve(twice, "lable", include=["nothing"], keep=["neither"])
    assert [fault.where for fault in faults] == [
        "Column 'port'",
        "Column 'lable'",
        "Option 'features'",
        "Option 'keep'",
        "Option 'features'",
    ]


@given(st.lists(st.text(min_size=1), min_size=1, unique=True))
def test_every_name_matches_itself_whatever_its_characters(names: list[str]) -> None:
    assert all(match(names, patterns([name], names)) == [name] for name in names if name != "*")
    assert match(names, patterns(names[::-1], names)) == names
    assert match(names, patterns(["*"], names)) == names


def test_a_name_is_a_name_also_among_columns_that_it_is_not_one_of() -> None:
    wanted = patterns(["b[1]", "c?"], ["b[1]", "b1", "c2"])
    assert match(["b1", "c2"], wanted) == ["c2"]


def test_a_column_called_like_a_glob_stands_for_itself_in_every_option() -> None:
    columns = [Column(name, "numeric", "int") for name in ("b[1]", "b1", "*", "label")]
    for option in ("exclude", "keep"):
        assert resolve(columns, "label", **{option: ["b[1]"]})[0].order == ("b1", "*")
    assert resolve(columns, "label", include=["*"])[0].order == ("b[1]", "b1", "*")
    assert resolve(columns, "label", include=["[*]"])[0].order == ("*",)
    assert resolve(columns, "label", categorical=["b[1]"])[0].text == ("b[1]",)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (True, "1"),
        (False, "0"),
        (np.int64(1), "1"),
        (np.float64(1), "1"),
        (np.bool_(True), "1"),
        ("1.0", "1"),
        ("True", "1"),
        ("-1.00", "-1"),
        (-1, "-1"),
        (0.5, "0.5"),
        ("01", "01"),
        ("1.0.0", "1.0.0"),
        ("spam", "spam"),
        ("", ""),
        (None, None),
        (float("nan"), None),
    ],
)
def test_canonical_label(value: object, text: str | None) -> None:
    assert canonical_label(value) == text


FOUND = {"1": 3, "0": 4, "-1": 2, None: 5}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            LabelRule("s", (1,), (-1,)),
            {"1": LABELLED_POSITIVE, "0": UNLABELLED, "-1": LABELLED_NEGATIVE},
        ),
        (
            LabelRule("s", (1,), (0,), (-1,)),
            {"1": LABELLED_POSITIVE, "0": LABELLED_NEGATIVE, "-1": UNLABELLED},
        ),
        # what is declared is no longer unlabelled by default
        (
            LabelRule("s", (0,), (1, -1)),
            {"1": LABELLED_NEGATIVE, "0": LABELLED_POSITIVE, "-1": LABELLED_NEGATIVE},
        ),
        (LabelRule("s", ("1",), (), ("*",)), {"1": LABELLED_POSITIVE, "0": UNLABELLED, "-1": UNLABELLED}),
    ],
)
def test_label_states(rule: LabelRule, expected: dict[str, int]) -> None:
    assert label_states(FOUND, rule) == (expected, [])


def test_several_spellings_of_a_value_have_one_state() -> None:
    states, faults = label_states({"1": 1, "1.0": 1, "true": 1, "False": 2}, LabelRule("s"))
    assert not faults
    assert states == {"1": 1, "1.0": 1, "true": 1, "False": 0}


def test_undeclared_values_are_named_with_their_rows() -> None:
    _, faults = label_states({"1": 3, "2": 30, "7": 7, None: 1}, LabelRule("s"))
    assert [str(fault) for fault in faults] == [
        "Column 's': expected 0, 1 or null, found '2', '7' in 37 rows. Add the values to `positive`, "
        '`negative` or `unlabelled` ("*" there means all others).'
    ]


def test_a_value_cannot_be_positive_and_negative() -> None:
    _, faults = label_states({"1": 3}, LabelRule("s", (1,), (1.0,)))
    assert "1 is declared positive and negative" in str(faults[0])


def test_a_free_name_has_underscores_until_nothing_is_called_so() -> None:
    assert free_name("label", ["a"]) == "label"
    assert free_name("label", ["a", "label", "label_"]) == "label__"
