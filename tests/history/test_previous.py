"""The run before a run, and what a selection tells of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_pufs import Selection
from spark_pufs.errors import ConfigError
from spark_pufs.history.previous import Previous, previous_run
from spark_pufs.masking.addresses import Address
from spark_pufs.report import to_html, to_markdown
from support.days import selection


def latest(folder: Path, name: str) -> Previous:
    return previous_run(Address("latest"), Address(str(folder / name)))


def test_the_last_earlier_day_beside_it_whenever_it_was_run(tmp_path: Path) -> None:
    for day in (5, 1, 2):
        selection(1).write(tmp_path / f"2026-01-0{day}")
    assert latest(tmp_path, "2026-01-04").name == "2026-01-02"
    assert latest(tmp_path, "2026-01-05/").name == "2026-01-02"  # its own results, to be replaced, are none
    assert latest(tmp_path, "2026-01-01") == Previous()


def test_without_days_the_last_that_finished(tmp_path: Path) -> None:
    selection(1).write(tmp_path / "b")
    assert latest(tmp_path, "a").name == "b"
    assert latest(tmp_path / "none", "a") == Previous()


def test_nothing_is_asked_for() -> None:
    assert previous_run(None, Address("runs/today")) == Previous()


def test_a_named_run_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no finished selection"):
        previous_run(Address(str(tmp_path / "none")), Address(str(tmp_path / "today")))


def test_a_damaged_run_beside_it_is_a_warning(tmp_path: Path) -> None:
    selection(1).write(tmp_path / "2026-01-01")
    (tmp_path / "2026-01-01" / "selection.json").write_text("{}")
    found, pages = latest(tmp_path, "2026-01-02").since(selection(2))
    assert pages == {}
    assert found.findings.since is None
    assert "The run before could not be read. File 'selection.json'" in found.warnings[-1]


def test_what_changed_is_told_first_and_kept(tmp_path: Path) -> None:
    selection(2).write(tmp_path / "2026-01-02")
    found, pages = latest(tmp_path, "2026-01-03").since(selection(3))  # column b has another unit
    since = found.findings.since
    assert since is not None
    assert (since.previous, since.verdict) == ("2026-01-02", "refit needed")
    assert since.reasons[0].startswith("far drift of b (chosen)")
    assert b"refit needed" in pages["changes.html"]
    page = to_html(found)
    assert page.index("Since 2026-01-02") < page.index("<h2 id=")
    assert 'href="changes.html"' in page
    assert "**Since 2026-01-02.** refit needed; far drift of b" in to_markdown(found)
    assert Selection.from_dict(found.as_dict()).findings.since == since
