"""A small version of benchmarks/calibration.py: every part runs and keeps its level on a few tables."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest

from support.pages import ROOT


@pytest.fixture(scope="module")
def calibration() -> Iterator[ModuleType]:
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))  # as when it is run as a script
    spec = importlib.util.spec_from_file_location("calibration", ROOT / "benchmarks" / "calibration.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules["calibration"] = found
    spec.loader.exec_module(found)
    yield found
    monkeypatch.undo()


def test_p_values_keep_their_level_where_chi_square_does_not(calibration: ModuleType) -> None:
    own, peer = calibration.null_p_values(calibration.LEVELS["32 levels"], 50, 400)
    assert (own <= 0.05).mean() < 0.08
    assert (peer <= 0.05).mean() > 0.09


def test_false_features_are_few_and_relevant_ones_are_found(calibration: ModuleType) -> None:
    found = np.array([calibration._found(calibration.CONDITIONS[0], seed) for seed in range(3)])
    assert found[:, 0].mean() < 0.25
    assert found[:, 2].mean() > 0.9


def test_the_share_of_positives_lies_in_its_interval(calibration: ModuleType) -> None:
    assert sum(calibration._covered(5.0, 300, seed)[0] for seed in range(4)) >= 3


def test_the_other_parts_make_a_table(calibration: ModuleType) -> None:
    assert calibration._listed(4.0, 0.8, 0)[0] > 0.5
    assert set(calibration.labelled_table(0, 2.0, 4.0)["label"]) == {0, 1}
    page = str(calibration.Part("Title", "Words.", ("a", "b"), [("1", "2")]))
    assert page == "\n## Title\n\nWords.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_intervals_of_figures_hold_what_they_estimate(calibration: ModuleType) -> None:
    """On few tables each: far below its level, and no bound is that of chance."""
    figures = calibration.calibration_figures
    for row in (*figures.auc(40)[::4], *figures.f_score(40), *figures.stability_interval(40)[1::2]):
        assert float(row[4].split()[0]) > 0.82, row
    for row in figures.clusters(40):
        assert float(row[4].split()[0]) < 0.15, row
    for row in figures.powers(100):
        assert abs(float(row[3]) - float(row[4].split()[0])) < 0.2, row


def test_a_part_takes_its_place_on_the_page(calibration: ModuleType) -> None:
    old, new = (calibration.Part("Two", words, ("a",), [("1",)]) for words in ("Old.", "New."))
    page = "# Head\n" + str(calibration.Part("One", "First.", ("a",), [])) + str(old) + "\n## Three\n\nLast.\n"
    assert calibration.placed(page, new) == page.replace("Old.", "New.")
    assert calibration.placed("# Head\n", new) == "# Head\n" + str(new)
