from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from spark_pufs.findings.parts import SizePoint
from spark_pufs.report import charts, svg


def elements(picture: Markup, tag: str, class_: str = "") -> list[Any]:
    found = ElementTree.fromstring(picture).iter(tag)
    return [element for element in found if element.get("class", "").startswith(class_)]


def per_cent(element: Any, *names: str) -> list[float]:
    return [float(element.get(name).rstrip("%")) for name in names]


def test_a_bar_starts_at_zero_and_its_line_spans_two_errors() -> None:
    place = charts.scale_of([-1.0, 3.0])  # zero lies at a quarter
    (bar,) = elements(picture := charts.bar(1.0, 0.5, place, True), "rect")
    assert per_cent(bar, "x", "width") == [25, 25]
    assert bar.get("class") == "fill"
    line = elements(picture, "line")[0]
    assert per_cent(line, "x1", "x2") == [25, 75]
    (negative,) = elements(charts.bar(-1.0, 0.0, place, False), "rect")
    assert per_cent(negative, "x", "width") == [0, 25]
    assert negative.get("class") == "fill no"


@given(st.lists(st.floats(), max_size=5), st.floats())
def test_a_scale_stays_on_the_picture(values: list[float], value: float) -> None:
    assert 0 <= charts.scale_of(values)(value) <= 100


def test_pairs_are_drawn_to_one_scale() -> None:
    bars = elements(charts.pair(0.5, 0.25, 0.5), "rect")
    assert [per_cent(bar, "width") for bar in bars] == [[100], [50]]
    assert "labelled 50 %, unlabelled 25 %" in charts.pair(0.5, 0.25, 0.5)


def test_lines_of_a_search_by_hand() -> None:
    picture, drawn = charts.convergence([[0.5, 0.5], [1.0, 0.0]], [True, False])
    assert drawn == 2
    lines = elements(picture, "polyline")
    assert [line.get("points") for line in lines] == ["0,500 1000,1000", "0,500 1000,0"]
    assert [line.get("class") for line in lines] == ["curve no", "curve"]


def test_a_long_search_of_many_features_is_thinned() -> None:
    history = np.random.default_rng(0).random((3000, 500))
    picture, drawn = charts.convergence(history.tolist(), [i < 100 for i in range(500)])
    lines = elements(picture, "polyline")
    assert drawn == len(lines) == 2 * charts.LINES
    assert {len(line.get("points").split()) for line in lines} == {charts.STEPS}


def test_sizes_are_drawn_with_their_intervals() -> None:
    points = [SizePoint(k, auc, 0.05) for k, auc in ((4, 0.9), (1, 0.5), (2, 0.7))]
    picture = charts.size_curve(points, chosen=2)
    x = [per_cent(dot, "cx")[0] for dot in elements(picture, "circle")]
    assert x[1] - x[0] == pytest.approx(x[2] - x[1])  # doublings are equal steps
    (mark,) = elements(picture, "line", "mark")
    assert per_cent(mark, "x1") == [x[1]]
    whisker = elements(picture, "line", "whisker")[0]
    assert float(whisker.get("y1")) > float(whisker.get("y2"))


@pytest.mark.parametrize("points", [[(3, 0.5, None)], [(1, 0.5, 0.0), (2, 0.5, 0.0)]])
def test_sizes_without_spread_can_be_drawn(points: list[tuple[int, float, float | None]]) -> None:
    picture = charts.size_curve([SizePoint(*point) for point in points], chosen=99)
    assert len(elements(picture, "circle")) == len(points)
    assert not elements(picture, "line", "mark")


def test_the_heat_map_is_a_triangle_with_names() -> None:
    picture = charts.heat_map(["<a>", "b", "c"], [[1, 0.5, 0], [0.5, 1, 2], [0, 2, 1]])
    cells = elements(picture, "rect", "cell")
    assert [cell.get("fill-opacity") for cell in cells] == ["0.50", "0.00", "1.00"]
    assert cells[0].find("title").text == "b – <a>: 0.50"
    assert [text.text for text in elements(picture, "text")] == ["1 <a>", "2 b", "3 c"]


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_and_inside(low: float, span: float) -> None:
    marks = svg.ticks(low, low + span)
    assert len(marks) <= 7
    assert all(low - span * 1e-6 <= mark <= low + span * (1 + 1e-6) for mark in marks)


def test_ticks_of_nothing() -> None:
    assert svg.ticks(1.0, 1.0) == [1.0]
    assert svg.ticks(0.0, math.inf) == [0.0]
