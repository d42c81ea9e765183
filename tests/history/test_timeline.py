"""All runs of a directory: their order, what is told of each beside the one before, and the page."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from spark_pufs.cli import run
from spark_pufs.errors import ConfigError
from spark_pufs.history.timeline import timeline
from support.days import selection


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for day in (4, 1, 3, 2):  # as a backfill would
        selection(day).write(tmp_path / "runs" / f"date=2026-01-0{day}")
    return tmp_path / "runs"


def test_days_in_names_decide_the_order(runs: Path) -> None:
    found = timeline(runs)
    assert [one.day for one in found.runs] == [f"2026-01-0{day}" for day in (1, 2, 3, 4)]
    assert [one.change and one.change.verdict for one in found.runs] == [None, "unchanged", "refit needed", "unchanged"]
    assert [one.name for one in found.alarms] == ["date=2026-01-03"]
    assert found.alarms[0].change is not None
    assert found.alarms[0].change.drifted == ("b",)


def test_without_days_the_time_of_finishing_does(tmp_path: Path) -> None:
    for place, name in enumerate(("zebra", "ape", "2026-01-01")):
        selection(place + 1).write(tmp_path / name)
        os.utime(tmp_path / name / "manifest.json", (1e9 + place, 1e9 + place))
    found = timeline(tmp_path)
    assert [one.name for one in found.runs] == ["zebra", "ape", "2026-01-01"]
    assert found.runs[0].day == "2001-09-09 01:46:40"


def test_times_of_a_day_and_deep_folders(tmp_path: Path) -> None:
    for name in ("flows/2026-01-01T180000", "flows/2026-01-01T060000"):
        selection(1).write(tmp_path / name)
    assert [one.day for one in timeline(tmp_path).runs] == ["2026-01-01 06:00:00", "2026-01-01 18:00:00"]


def test_what_a_run_is_drawn_by(runs: Path) -> None:
    first = timeline(runs).runs[0]
    known = selection(1)
    assert (first.rows, first.labelled) == (2000, known.facts["labelled_positive"])
    assert first.chosen == tuple(known.names)
    best = known.features[0]
    assert first.relevance[best.name] == (best.relevance, best.relevance_error)


def test_features_chosen_most_often_come_first(tmp_path: Path) -> None:
    known = selection(1)
    for day, chosen in ((1, "b"), (2, "b"), (3, "c")):
        features = tuple(replace(one, selected=one.name == chosen) for one in known.features)
        replace(known, features=features).write(tmp_path / f"2026-01-0{day}")
    assert timeline(tmp_path).features() == ["b", "c"]


def test_a_damaged_run_is_told_and_the_others_are_read(runs: Path) -> None:
    (runs / "date=2026-01-02" / "selection.json").write_text("{}")
    found = timeline(runs)
    assert [one.day for one in found.runs] == ["2026-01-01", "2026-01-03", "2026-01-04"]
    assert [one.name for one in found.unread] == ["date=2026-01-02"]
    assert "is not the one its manifest names" in found.unread[0].why
    assert "not read: date=2026-01-02" in str(found)
    assert "is not the one its manifest names" in found.to_html()


def test_damaged_runs_alone_are_an_error(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for place in runs.glob("*/selection.json"):
        place.write_text("{}")
    assert run(["history", str(runs)]) == 3
    assert (
        "of 4 finished selections none can be read; date=2026-01-01: File 'selection.json'" in capsys.readouterr().err
    )
    assert not (runs / "history.html").exists()


def test_unfinished_runs_and_other_folders_are_passed_over(runs: Path) -> None:
    (runs / "date=2026-01-02" / "manifest.json").unlink()
    (runs / "other").mkdir()
    (runs / "other" / "manifest.json").write_text("{}")
    assert len(timeline(runs).runs) == 3
    assert timeline(runs).unread == ()


def test_a_folder_without_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Directory '.*': holds no finished selection\. Name a folder"):
        timeline(tmp_path / "none")


def test_the_command_prints_and_leaves_a_page(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["history", str(runs)]) == 0
    printed = capsys.readouterr().out
    assert "4 runs in" in printed
    assert "far drift of b (chosen)" in printed
    page = (runs / "history.html").read_text()
    assert 'href="./date%3D2026-01-03/report.html"' in page
    assert "<b>a</b>" not in page  # a column's name is text
    assert "&lt;b&gt;a&lt;/b&gt;" in page
    assert run(["history", str(runs)]) == 0  # a page of ours is replaced


def test_a_page_elsewhere_links_to_the_runs(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    assert run(["history", str(runs), "--html", str(tmp_path / "pages" / "all.html")]) == 0
    assert 'href="../runs/date%3D2026-01-01/report.html"' in (tmp_path / "pages" / "all.html").read_text()


def test_a_file_that_is_not_ours_stays(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (runs / "history.html").write_text("my own history")
    assert run(["history", str(runs)]) == 2
    assert "is there already, and is no page of spark_pufs" in capsys.readouterr().err
    assert (runs / "history.html").read_text() == "my own history"


def test_json(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["history", str(runs), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert [one["alarm"] for one in values["runs"]] == [False, False, True, False]
    assert values["runs"][2]["change"]["verdict"] == "refit needed"
