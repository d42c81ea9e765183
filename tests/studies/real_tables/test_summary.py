"""The figures of the open benchmark, worked by hand, and the test statistics beside published ones."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest

from spark_pufs.studies.real_tables.critical_difference import cliques, critical_difference, diagram, mean_ranks
from spark_pufs.studies.real_tables.summary import AUC, PAGE, PICTURE, best_one_liner, pages, scores_of
from spark_pufs.studies.study import ERROR, long_form

GROUPS = {"t1": "choices", "t2": "reported", "t3": "choices"}
# AUC of two splits of each table.
VALUES = {
    "all": {"t1": (0.80, 0.82), "t2": (0.70, 0.70), "t3": (0.90, 0.90)},
    "l1": {"t1": (0.80, 0.80), "t2": (0.72, 0.70), "t3": (0.85, 0.87)},
    "forest": {"t1": (0.70, 0.70), "t2": (0.70, 0.70), "t3": (0.80, 0.80)},
    "ours": {"t1": (0.84, 0.86), "t2": (0.70, 0.74), "t3": (0.80, 0.90)},
}


def results(condition: str = "plain", shift: float = 0.0) -> pd.DataFrame:
    rows = [
        {"dataset": table, "condition": condition, "method": method, "repeat": i, "measure": AUC, "value": auc + shift}
        for method, tables in VALUES.items()
        for table, aucs in tables.items()
        for i, auc in enumerate(aucs)
    ]
    return pd.DataFrame([long_form("real_tables", row, 2.0) for row in rows])


def row(method: str, page: str) -> list[str]:
    line = next(line for line in page.splitlines() if line.startswith(f"| {method} "))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_by_hand() -> None:
    page = pages(results(), GROUPS)[PAGE]
    assert page.startswith("3 tables, 6 pairs of table and split, 4 methods. Friedman's test over tables: p = ")
    # Means of tables: ours .85 .72 .85, l1 .80 .71 .86, all .81 .70 .90; differences to l1 .05 .01 -.01, to all
    # .04 .02 -.05; ranks of ours 1, 1, 2. One of six pairs is more than .03 below all: .80 against .90.
    apart, below = np.array([0.05, 0.01, -0.01]), np.array([0.04, 0.02, -0.05])
    assert row("ours", page) == [
        "ours",
        "0.8067",
        "1.33",
        f"{apart.mean():+.4f} ± {apart.std(ddof=1) / math.sqrt(3):.4f}",
        f"{below.mean():+.4f} ± {below.std(ddof=1) / math.sqrt(3):.4f}",
        "1 of 6",
        "0.8500",
        "0.7200",
        "",
        "2.00",
    ]
    assert row(r"*all*", page)[2] == ""
    assert [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| ")][:5] == [
        "method", "ours", "*all*", "l1", "forest",
    ]  # fmt: skip


def test_the_best_one_liner_is_one_for_all_tables() -> None:
    assert best_one_liner(scores_of(results())) == "l1"


def test_no_answer_counts_as_nothing_selected_and_a_table_that_is_not_there_counts_not() -> None:
    rows = results()
    failed = (rows["method"] == "ours") & (rows["dataset"] == "t1")
    rows.loc[failed | (rows["dataset"] == "t2"), ["measure", "value", "message"]] = [ERROR, math.nan, "no columns"]
    scores = scores_of(rows)
    assert sorted(scores.by_table.index) == ["t1", "t3"]
    assert scores.by_table["ours"].to_dict() == {"t1": 0.5, "t3": pytest.approx(0.85)}
    assert scores.failed == {"ours": 2}
    assert "ours failed in 4 units: no columns" in pages(rows, GROUPS)[PAGE]


def test_pairs_that_lack_a_method_wait() -> None:
    rows = results().drop(index=0)
    assert scores_of(rows).waiting == 1
    assert "1 pairs lack some method and are left out." in pages(rows, GROUPS)[PAGE]
    none = pages(rows[:0], GROUPS, ["boruta is left out: it is not installed"])
    assert none == {
        PAGE: "No table and split has an answer of every method yet.\n\nboruta is left out: it is not installed\n"
    }


def test_hard_tables_stand_beside_the_same_pairs_when_plain() -> None:
    hard = results("copies", -0.1)
    page = pages(pd.concat([results(), hard[hard["repeat"] == 0]]), GROUPS)[PAGE]
    assert "| method | copies (3) |" in page
    assert "| ours | 0.680 (-0.100) |" in page


def test_ranks_and_friedman_by_hand() -> None:
    """Three methods in the same order on four tables: chi squared is 12 n / (k (k + 1)) times .. = 8 with 2 degrees."""
    found = mean_ranks(np.array([[3.0, 2, 1], [9, 5, 2], [1, 0.5, 0], [7, 6, 5]]), ["a", "b", "c"])
    assert found.ranks == {"a": 1, "b": 2, "c": 3}
    assert found.p == pytest.approx(math.exp(-4))  # the tail of chi squared with two degrees is exp(-x / 2)
    tied = mean_ranks(np.array([[1.0, 1, 0]]), ["a", "b", "c"])
    assert tied.ranks == {"a": 1.5, "b": 1.5, "c": 3}
    assert math.isnan(tied.p)


@pytest.mark.parametrize(("methods", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_values_are_demsar_s(methods: int, q: float) -> None:
    """Demsar 2006, Table 5(a), level .05."""
    assert critical_difference(methods, 6) == pytest.approx(q * math.sqrt(methods * (methods + 1) / 36), abs=2e-3)


def test_cliques_are_the_largest_groups() -> None:
    assert cliques({"a": 1.0, "b": 1.2, "c": 1.4, "d": 3.0}, 0.5) == [(1.0, 1.4)]
    assert cliques({"a": 1.0, "b": 3.0}, 0.5) == []


def test_the_diagram_names_every_method_and_is_sound() -> None:
    picture = pages(results(), GROUPS)[PICTURE]
    root = ElementTree.fromstring(picture)
    texts = [element.text or "" for element in root.iter() if element.tag.endswith("text")]
    assert {"ours", "l1", "forest"} <= {word for text in texts for word in text.split()}
    assert (
        len([element for element in root.iter() if element.get("class") == "clique"]) == 1
    )  # three tables tell nothing
    assert "&lt;b&gt;" in diagram(mean_ranks(np.array([[1.0, 2, 3], [1, 2, 3]]), ["<b>", "c", "d"]))
