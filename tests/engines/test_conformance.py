"""What every engine owes: the same answer, bit for bit, wherever the rows lie. Both engines pass this one suite."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs import Selection, select
from spark_pufs.core.counting.counts import FeatureKernel, LabelKernel, PairKernel, SetKernel
from spark_pufs.core.counting.profile import Profile, ProfileKernel
from spark_pufs.core.information.surrogate import Labels
from spark_pufs.engines import local as local_engine
from spark_pufs.engines.base import Engine
from spark_pufs.engines.local import LocalEngine
from spark_pufs.errors import DataError
from spark_pufs.request import Request
from spark_pufs.run.execution import select_with
from spark_pufs.run.provenance import fingerprint
from spark_pufs.table.pu_table import inspect, pack
from spark_pufs.types import LabelRule
from support.places import PLACES, SINGLE, WHOLE, Placed, Table

nan, inf = float("nan"), float("inf")
ROWS = 60
NAMES = {
    "whole": "id.resp_p",
    "half": "half share",
    "tick": "back`tick",
    "umlaut": "größe_数",
    "quote": 'it\'s "so"',
}


def mixed() -> Table:
    """Every type a table may have, null, NaN and infinities, and names that need quoting."""
    rng = np.random.default_rng(11)
    y = rng.integers(0, 2, ROWS)

    def some(values: list[Any], holes: float = 0.0, hole: Any = None) -> list[Any]:
        return [hole if gone else value for value, gone in zip(values, rng.random(ROWS) < holes, strict=True)]

    def told(top: int) -> list[int]:
        return (rng.integers(0, top, ROWS) + y * rng.integers(0, 2, ROWS)).tolist()

    day, hour = dt.date(2024, 2, 28), dt.datetime(1969, 12, 31, 23, 59, 59, 250_000, tzinfo=dt.UTC)
    return Table(
        {
            NAMES["whole"]: ("int", told(5)),
            NAMES["half"]: ("double", some(some(rng.normal(y).tolist(), 0.2, nan), 0.2)),
            NAMES["tick"]: ("double", some([float(v) for v in told(3)], 0.1, inf)),
            NAMES["umlaut"]: ("string", some([f"sort {v}" for v in told(4)], 0.15)),
            NAMES["quote"]: ("string", [["", "ä", "日本", "\"'`"][v % 4] for v in told(3)]),
            "flag": ("boolean", some([bool(v % 2) for v in told(3)], 0.1)),
            "price": ("decimal(12,3)", some([Decimal(v) / 8 + Decimal("0.1") for v in told(6)], 0.1)),
            "day": ("date", some([day + dt.timedelta(days=v) for v in told(5)], 0.1)),
            "moment": ("timestamp", some([hour + dt.timedelta(milliseconds=750 * v) for v in told(5)], 0.1)),
            "big": ("bigint", [2**53 + 2 * v for v in told(4)]),
            "small": ("tinyint", some(told(4), 0.1)),
            "single": ("float", [v / 10 for v in told(6)]),
            "constant": ("int", [7] * ROWS),
            "nothing": ("double", [None] * ROWS),
            "one word": ("string", ["same"] * ROWS),
            "but infinite": ("double", [inf if v % 2 else 1.0 for v in told(3)]),
            "label": ("int", np.where(rng.random(ROWS) < 0.5, 2 * y - 1, 0).tolist()),
        }
    )


MIXED = mixed()
LABEL = LabelRule("label", (1,), (-1,))


def answer(selection: Selection) -> dict[str, Any]:
    """Everything but the engine, the clock and the installed versions."""
    return {name: value for name, value in vars(selection).items() if name not in ("run", "versions")}


def same_as_local(engine: Engine, table: Table, request: Request) -> Selection:
    """The engine's answer, once it is seen to equal the local one of the rows as they stand."""
    found = select_with(engine, request)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_engine, "SLICE", WHOLE)
        expected = select_with(LocalEngine(table.pandas()), request)
    assert answer(found) == answer(expected)
    return found


@pytest.mark.parametrize("anywhere", [place for place in PLACES if place != SINGLE], indirect=True)
def test_quantile_bins_and_pairs(anywhere: Placed) -> None:
    request = Request(LABEL, "semi-jmi", k=6, prior=0.5, binning="equal-frequency", bins=4)
    found = same_as_local(anywhere(MIXED), MIXED, request)
    assert len(found.names) == 6
    assert found.facts == {
        "rows": ROWS,
        "labelled_positive": MIXED.columns["label"][1].count(1),
        "labelled_negative": MIXED.columns["label"][1].count(-1),
        "unlabelled": MIXED.columns["label"][1].count(0),
        "features": 12,
    }
    assert found.dropped == {
        "constant": "constant",
        "nothing": "constant",
        "one word": "constant",
        "but infinite": "constant but for infinities",
    }


def test_equal_width_bins_and_sets(anywhere: Placed) -> None:
    request = Request(LABEL, "iamb", must=(NAMES["tick"], "flag"), options={"surrogate": "y0", "alpha": 0.05})
    found = same_as_local(anywhere(MIXED), MIXED, request)
    assert {NAMES["tick"], "flag"} <= set(found.names)


REQUESTS = {
    "mim": Request(LABEL, "mim"),
    "mrmr, fewer bins": Request(LABEL, "mrmr", bins=2),
    "cmim, categories": Request(
        LABEL, "cmim", categorical=("big", "single", "price", "day", "moment", "flag", "b*", NAMES["half"])
    ),
    "mint": Request(LABEL, "mint", k=5),
    "pairwise-iamb": Request(LABEL, "pairwise-iamb", options={"alpha": 0.5}),
    "pooled categories": Request(LABEL, "jmi", max_categories=1, categorical=("small",)),
    "chosen columns": Request(LABEL, "jmi", include=("*`*", "d*", "f*"), exclude=("day",), keep=("big",)),
    "a budget": Request(LABEL, "jmi", budget=3.5, costs={"*": 1.5, NAMES["quote"]: 0.5}, never=("d*",)),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_requests(either: Placed, name: str) -> None:
    assert same_as_local(either(MIXED), MIXED, REQUESTS[name]).names


def test_copies(anywhere: Placed) -> None:
    """Equal values of several types, missing ones among them; one column differs in a single row."""
    columns = dict(MIXED.columns)
    whole = columns[NAMES["whole"]][1]
    columns |= {
        "as double": ("double", [float(v) for v in whole]),
        "as bigint": ("bigint", whole),
        "holes": columns[NAMES["half"]],
        "words": columns[NAMES["umlaut"]],
        "but one": ("int", [*whole[:-1], whole[-1] + 1]),
    }
    table = Table(columns)
    found = same_as_local(anywhere(table), table, Request(LABEL, "semi-jmi", k=5))
    assert found.details["copies"] == [
        {"representative": NAMES["whole"], "copies": ["as double", "as bigint"]},
        {"representative": NAMES["half"], "copies": ["holes"]},
        {"representative": NAMES["umlaut"], "copies": ["words"]},
    ]
    assert found.features[-1].relevance == 0


def test_counting_all_pairs_or_step_by_step(either: Placed) -> None:
    at_once, by_step = (
        select_with(either(MIXED), Request(LABEL, "mrmr", k=3, pair_memory_mb=memory)) for memory in (256, 0)
    )
    assert at_once.features == by_step.features
    what = [step.what for step in by_step.run.passes]
    read_by_tasks = by_step.run.reading.reader == "arrow"  # which packs what more than one pass needs
    assert what[:3] == ["profile", *(["label x feature", "pack"] if read_by_tasks else ["pack", "label x feature"])]
    assert what[3].startswith(f"pairs with {by_step.names[0]} and ")  # and with features that are likely to be next
    assert all(step.startswith("pairs with ") for step in what[3:])
    assert len(what) <= 3 + len(by_step.names) - 1


def test_columns_and_their_kinds(either: Placed) -> None:
    kinds = {column.name: column.kind for column in either(MIXED).columns()}
    text = {NAMES["umlaut"], NAMES["quote"], "one word"}
    assert kinds == {name: "text" if name in text else "numeric" for name in MIXED.columns}


def profile_of(engine: Engine, numeric: list[str], text: list[str]) -> Profile:
    kernel = ProfileKernel(len(numeric), len(text))
    return kernel.read(engine.source(numeric, text, "label").scan(kernel, "profile"))


def test_profile_by_hand(either: Placed) -> None:
    table = Table(
        {
            "x.y": ("double", [1.5, None, nan, inf, -2.0]),
            "when": ("date", [dt.date(1970, 1, 2), None, dt.date(1969, 12, 31), None, dt.date(9999, 12, 31)]),
            "at": ("timestamp", [dt.datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=dt.UTC), *[None] * 4]),
            "price": ("decimal(10,2)", [Decimal("0.10"), Decimal("0.10"), None, Decimal("-3"), Decimal("0.1")]),
            "yes": ("boolean", [True, None, False, True, True]),
            "word": ("string", ["a", None, "b", "a", ""]),
            "label": ("double", [1.0, None, nan, -0.0, 0.0]),
        }
    )
    found = profile_of(either(table), ["x.y", "when", "at", "price", "yes"], ["word"])
    assert found.rows == 5
    assert found.labels == {"1": 1, "0": 2, None: 2}
    assert (found.nulls + found.nans).tolist() == [2, 2, 4, 1, 1]
    assert found.infinite.tolist() == [1, 0, 0, 0, 0]
    assert found.low.tolist() == [-2.0, -1.0, 1.5, -3.0, 0.0]
    assert found.high.tolist() == [1.5, 2_932_896.0, 1.5, 0.1, 1.0]  # days to the last day of the year 9999
    assert found.distinct.tolist() == [3, 3, 1, 2, 2]
    assert found.text_counts == [{"a": 2, "b": 1, "": 1}]
    assert found.text_nulls.tolist() == [1]


def test_counts_against_pandas(either: Placed) -> None:
    """Each kernel over packed blocks, against crosstabs of the raw columns."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 3, 50), "b": rng.integers(0, 2, 50), "c": rng.integers(0, 4, 50)})
    label = rng.choice([0, 1, -1], 50)
    columns = {name: ("string", [f"v{v}" for v in frame[name]]) for name in frame}
    table = Table(columns | {"label": ("int", label.tolist())})
    request = Request(LABEL, "mim")
    packed = pack(inspect(either(table), request), request)
    state = pd.Series(label).map({0: 0, 1: 1, -1: 2})
    codes = [frame[b.name].map({int(word[1:]): code for code, word in enumerate(b.categories)}) for b in packed.bins]
    layout = packed.layout
    labels = packed.blocks.scan(LabelKernel(layout), "labels").counts
    pairs = packed.blocks.scan(PairKernel(layout), "pairs").counts
    step = packed.blocks.scan(FeatureKernel(layout, (2,)), "step").counts
    sets = packed.blocks.scan(SetKernel(layout, (1,)), "sets")
    for i in range(3):
        np.testing.assert_array_equal(labels[:, layout.span(i)], pd.crosstab(state, codes[i]))
        for s in range(3):
            joint = pd.crosstab(codes[2][state == s], codes[i][state == s])
            joint = joint.reindex(index=range(4), columns=range(layout.levels[i]), fill_value=0)
            np.testing.assert_array_equal(pairs[s, layout.span(2), layout.span(i)], joint)
            np.testing.assert_array_equal(step[s, :, layout.span(i)], joint)
        np.testing.assert_array_equal(sets.counts[:, layout.span(i)], pd.crosstab(codes[1] * 3 + state, codes[i]))
    packed.blocks.release()


LABELS: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    "int": ("int", [1, 0], {}),
    "int and null": ("int", [1, None], {}),
    "double": ("double", [1.0, 0.0], {}),
    "double and null": ("double", [1.0, None], {}),
    "double and NaN": ("double", [1.0, nan], {}),
    "minus zero": ("double", [1.0, -0.0], {}),
    "boolean": ("boolean", [True, False], {}),
    "boolean and null": ("boolean", [True, None], {}),
    "string": ("string", ["1", "0"], {}),
    "words": ("string", ["spam", "?"], {"positive": ("spam",), "unlabelled": ("*",)}),
    "decimal": ("decimal(3,1)", [Decimal("1.0"), Decimal("0.0")], {}),
    "several values": ("int", [2, 5], {"positive": (2, 3), "unlabelled": (4, 5)}),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_type(either: Placed, kind: str) -> None:
    type_, (yes, no), rule = LABELS[kind]
    labels = [yes if i % 4 == 0 else no for i in range(24)]
    table = Table({"a": ("int", [i % 2 for i in range(24)]), "s": (type_, labels)})
    request = Request(LabelRule("s", **rule), "mim")
    found, expected = inspect(either(table), request), inspect(LocalEngine(table.pandas()), request)
    assert found.labels == Labels(positive=6, negative=0, unlabelled=18)
    assert fingerprint(found, request) == fingerprint(expected, request)


def test_information_by_hand(either: Placed) -> None:
    """Positives are every fourth row, a tells even from odd: cells 6/24, 6/24, 0 and 12/24."""
    table = Table({"a": ("int", [0, 1] * 12), "b": ("int", [0, 1, 2] * 8), "s": ("boolean", [True, *[False] * 3] * 6)})
    found = select_with(
        either(table), Request(LabelRule("s"), "semi-mim", binning="equal-width", options={"correction": "none"})
    )
    expected = 0.25 * np.log(0.25 / (0.25 * 0.5)) + 0.25 * np.log(0.25 / (0.75 * 0.5)) + 0.5 * np.log(0.5 / 0.375)
    assert found.names == ["a", "b"]
    assert found.scores == pytest.approx([expected, 0.0], rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("negative", ["-1", -1.0])
def test_labelled_negatives(either: Placed, negative: Any) -> None:
    labels = inspect(either(MIXED), Request(LabelRule("label", (1,), (negative,)), "mim")).labels
    assert labels.negative == MIXED.columns["label"][1].count(-1) > 0


def test_one_labelled_row(either: Placed) -> None:
    table = Table({**MIXED.columns, "label": ("int", [0] * (ROWS - 1) + [1])})
    found = same_as_local(either(table), table, Request(LabelRule("label"), "semi-jmi", k=3))
    assert found.facts["labelled_positive"] == 1
    assert len(found.names) == 3


def test_three_hundred_features(either: Placed) -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 120)
    columns = {f"f.{i}": ("int", (rng.integers(0, 5, 120) + (i % 100 == 7) * 5 * y).tolist()) for i in range(300)}
    table = Table({**columns, "label": ("int", y.tolist())})
    found = same_as_local(either(table), table, Request(LabelRule("label"), "semi-jmi", k=3, pair_memory_mb=16))
    assert set(found.names) == {"f.7", "f.107", "f.207"}


def test_only_text_and_only_numbers(either: Placed) -> None:
    for features in ((NAMES["umlaut"], NAMES["quote"]), ("big", "small")):
        found = same_as_local(either(MIXED), MIXED, Request(LABEL, "mim", include=features))
        assert set(found.names) == set(features)


def test_missing_values_and_infinities_by_hand(either: Placed) -> None:
    """Null and NaN are one level of their own; infinities fall into the outer bins."""
    values = [0.0, 10.0, None, nan, inf, -inf]
    table = Table({"x": ("double", values * 4), "label": ("int", [1, 0, 0, 0, 0, 0] * 4)})
    request = Request(LabelRule("label"), "semi-mim", bins=2, binning="equal-width")
    packed = pack(inspect(either(table), request), request)
    counts = packed.blocks.scan(LabelKernel(packed.layout), "labels").counts
    assert packed.bins[0].edges == (5.0,)
    assert counts.tolist() == [[4, 8, 8], [4, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (Table({"a": ("int", []), "label": ("int", [])}), "Table: has no rows."),
        (Table({"a": ("int", [1, 2]), "label": ("int", [0, 0])}), "no row is labelled positive"),
        (Table({"a": ("int", [1, 2]), "label": ("int", [1, 1])}), "all 2 rows are labelled positive"),
        (Table({"a": ("int", [1, 2]), "label": ("int", [1, 2])}), "found '2' in 1 rows"),
        (Table({"a": ("int", [1, 1]), "label": ("int", [1, 0])}), "all 1 features were left out ('a' constant)"),
    ],
)
def test_faults_of_a_table(either: Placed, table: Table, message: str) -> None:
    with pytest.raises(DataError) as caught:
        select_with(either(table), Request(LabelRule("label"), "mim"))
    assert message in str(caught.value)


def test_fingerprint_changes_with_a_value_a_label_and_the_request(either: Placed) -> None:
    request, more = (Request(LABEL, "mim", include=("big", "small"), bins=bins) for bins in (5, 6))
    kind, values = MIXED.columns["big"]
    other = Table({**MIXED.columns, "big": (kind, [values[0] + 2, *values[1:]])})
    kind, labels = MIXED.columns["label"]
    moved = Table({**MIXED.columns, "label": (kind, labels[1:] + labels[:1])})
    plans = [inspect(either(table), request) for table in (MIXED, other, moved)]
    prints = {fingerprint(plan, request) for plan in plans} | {fingerprint(plans[0], more)}
    assert len(prints) == 4


@pytest.mark.spark
def test_apply_keeps_chosen_features_and_the_rest(spark: Any) -> None:
    frame = MIXED.spark(spark, [list(range(ROWS))])
    found = select(frame, label="label", negative=-1, k=3, keep="big", must=NAMES["tick"])
    expected = [name for name in MIXED.columns if name in {*found.names, "big", "label"}]
    assert found.apply(frame).columns == expected
    assert found.apply(MIXED.pandas()).columns.tolist() == expected
    assert found.apply(frame).count() == ROWS


@pytest.mark.spark
def test_the_session_zone_does_not_move_a_timestamp_without_zone(spark: Any) -> None:
    """An hour lost or won in spring would tear the days apart."""
    moments = pd.date_range("2024-03-30 20:00", periods=24, freq="30min")
    local = pd.DataFrame({"at": moments, "label": [1, 0, 0] * 8})
    frame = spark.createDataFrame(
        [(str(moment), label) for moment, label in zip(moments, local["label"], strict=True)], "at string, label int"
    ).selectExpr("cast(at as timestamp_ntz) as at", "label")
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        found = select(frame, label="label", method="semi-mim", k="all")
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert answer(found) == answer(select(local, label="label", method="semi-mim", k="all"))


@pytest.mark.spark
def test_dotted_names_of_a_view_over_parquet(spark: Any, shared_data: Path) -> None:
    path = shared_data / "rt_iot2022" / "rt_iot2022.parquet"
    spark.read.parquet(str(path)).createOrReplaceTempView("flows")
    view = spark.sql("select * from flows where Attack_type <> 'DOS_SYN_Hping'")
    local = pd.read_parquet(path).query("Attack_type != 'DOS_SYN_Hping'")
    assert sum("." in name for name in view.columns) == 42
    options: dict[str, Any] = {
        "label": "Attack_type",
        "positive": ("NMAP_TCP_scan", "DDOS_Slowloris"),
        "unlabelled": "*",
        "features": ["*.*", "proto", "service"],
        "k": 20,
    }
    found = select(view, **options)
    assert answer(found) == answer(select(local, **options))
    assert found.facts["labelled_positive"] == 1_536
