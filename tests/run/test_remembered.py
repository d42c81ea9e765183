"""A memory of counts gives what a recount of its window gives, and reads what is new."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs import Selection
from spark_pufs.errors import ConfigError, DataError, Stopped
from spark_pufs.findings.run_facts import RunFacts
from spark_pufs.memory.counts import PartitionState
from spark_pufs.memory.store import INDEX, Store
from spark_pufs.report import to_markdown
from spark_pufs.rundir.checkpoint import FolderKeeper
from spark_pufs.rundir.folder import RunFolder
from support.memory_days import OPTIONS, day, days


def remembered(table: pd.DataFrame, path: Path, window: int | None = None, **options: Any) -> Selection:
    return spark_pufs.select(table, memory=path, partition="day", window=window, **OPTIONS | options)


def answer(found: Selection) -> Any:
    """All that a selection says, but how it came about."""
    plain = json.loads(replace(found, run=RunFacts("", 0.0), findings=replace(found.findings, memory=None)).to_json())
    return {name: value for name, value in plain.items() if name not in ("fingerprint", "request", "created")}


def counts(path: Path) -> dict[str, PartitionState]:
    store = Store(RunFolder(path))
    index = store.index()
    assert index is not None
    return {key: store.counts(entry) for key, entry in index.partitions.items()}


def test_first_run_is_the_plain_answer(tmp_path: Path) -> None:
    table = days(1, 3)
    plain = spark_pufs.select(table.drop(columns="day"), **OPTIONS)
    found = remembered(table, tmp_path / "m")
    assert answer(found) == answer(plain)
    assert "near_a" not in found.names
    assert found.findings.memory is not None
    assert (found.findings.memory.made, found.findings.memory.rows_read) == (True, 1200)


@pytest.mark.parametrize("method", ["semi-mim", "mrmr", "cmim", "apucfs"])
def test_every_counting_method(method: str, tmp_path: Path) -> None:
    table = days(1, 2)
    plain = spark_pufs.select(table.drop(columns="day"), **OPTIONS | {"method": method})
    assert answer(remembered(table, tmp_path, method=method)) == answer(plain)


def test_new_days_are_added_and_old_ones_leave(tmp_path: Path) -> None:
    """Day by day, the window slides; the recount has the same frozen cut points and reads all of it at once."""
    remembered(days(1, 2), tmp_path / "daily")
    remembered(days(1, 2), tmp_path / "recount")
    for number in range(3, 6):
        found = remembered(day(number), tmp_path / "daily", window=3)
    again = remembered(days(3, 5), tmp_path / "recount", window=3)
    assert found.findings.memory is not None
    assert again.findings.memory is not None
    assert found.findings.memory.read == ("2026-01-05",)
    told = "From the counts of 3 partitions, 2026-01-03 to 2026-01-05; 1 read for this answer, 400 rows."
    assert told in to_markdown(found)
    assert found.findings.memory.left == ("2026-01-02",)
    assert again.findings.memory.rows_read == found.facts["rows"] == 1200
    assert answer(found) == answer(again)
    assert found.fingerprint == again.fingerprint
    daily, recount = counts(tmp_path / "daily"), counts(tmp_path / "recount")
    assert list(daily) == list(recount) == [f"2026-01-0{number}" for number in (3, 4, 5)]
    for key in daily:
        np.testing.assert_array_equal(daily[key].counts.counts, recount[key].counts.counts)


def test_a_day_less_is_the_days_after_it(tmp_path: Path) -> None:
    remembered(days(1, 4), tmp_path)
    first, *others = (state.counts.counts for state in counts(tmp_path).values())
    total = first + sum(others)
    remembered(days(1, 4), tmp_path, window=3)
    np.testing.assert_array_equal(total - first, sum(state.counts.counts for state in counts(tmp_path).values()))


def test_counts_by_brute_force(tmp_path: Path) -> None:
    table = day(1)
    remembered(table, tmp_path)
    store = Store(RunFolder(tmp_path))
    index = store.index()
    assert index is not None
    reference, kept = store.reference(index), store.counts(index.partitions["2026-01-01"]).counts.counts
    place = {one.name: i for i, one in enumerate(reference.bins)}
    word, a = reference.bins[place["word"]], reference.bins[place["a"]]
    for w, value in enumerate(word.categories):
        for s in (0, 1):
            rows = table[(table["word"] == value) & (table["label"] == s)]
            cut = np.digitize(rows["a"], a.edges)
            found = kept[s, reference.layout.span(place["word"])][w, reference.layout.span(place["a"])]
            assert found.tolist() == np.bincount(cut, minlength=a.levels).tolist()


def test_nothing_is_read_twice(tmp_path: Path) -> None:
    remembered(days(1, 3), tmp_path)
    before = (tmp_path / INDEX).read_bytes()
    found = remembered(days(1, 3), tmp_path)
    assert found.findings.memory is not None
    assert found.findings.memory.read == ()
    assert (tmp_path / INDEX).read_bytes() == before


def test_changed_rows_are_counted_again(tmp_path: Path) -> None:
    remembered(days(1, 3), tmp_path / "late")
    remembered(days(1, 3), tmp_path / "recount")
    late = days(1, 3)
    late.loc[late["day"] == "2026-01-02", "label"] = day(9)["label"].to_numpy()
    found = remembered(late, tmp_path / "late")
    assert found.findings.memory is not None
    assert found.findings.memory.read == ("2026-01-02",)
    shuffled = late.sample(frac=1, random_state=1)
    again = remembered(shuffled, tmp_path / "recount")
    assert answer(found) == answer(again)
    settled = remembered(shuffled, tmp_path / "late").findings.memory
    assert settled is not None
    assert settled.read == ()


def test_what_was_not_there_when_the_cut_points_were_made(tmp_path: Path) -> None:
    """Missing values and texts that no earlier day had, each at a level of its own; and a day without rows labelled."""
    remembered(days(1, 2), tmp_path)
    new = day(3)
    new.loc[:39, "a"] = np.nan
    new.loc[:19, "word"] = "new"
    new.loc[20:29, "word"] = None
    found = remembered(new.assign(label=0), tmp_path)
    by_name = {one.bins.name: one for one in found.columns}
    assert sum(by_name["a"].rows(state)[-1] for state in range(3)) == 40
    assert [sum(by_name["word"].rows(state)[i] for state in range(3)) for i in (-2, -1)] == [20, 10]
    plain = {one.name: one for one in found.features}
    assert set(plain) == {"a", "b", "c", "d", "near_a", "word"}


def test_values_that_left_the_cut_points(tmp_path: Path) -> None:
    remembered(days(1, 2), tmp_path)
    moved = day(3, rows=4000).assign(b=lambda t: t["b"] + 50)
    with pytest.warns(spark_pufs.PufsWarning, match=r"Cut points are out of date: 'b' has 9\d % of rows in its outer"):
        found = remembered(moved, tmp_path)
    assert found.findings.memory is not None
    assert [one.name for one in found.findings.memory.outside] == ["b"]
    with pytest.raises(DataError, match="cut points need all 3 partitions of the window, 2 are not in the table"):
        remembered(moved, tmp_path, refit="auto")
    every = pd.concat([days(1, 2), moved])
    found = remembered(every, tmp_path, refit="auto")
    assert found.findings.memory is not None
    assert (found.findings.memory.made, len(found.findings.memory.read)) == (True, 3)
    plain = spark_pufs.select(every.drop(columns="day"), **OPTIONS)
    assert found.warnings[:-1] == plain.warnings  # the last says that the newest day is unlike the others
    assert answer(replace(found, warnings=())) == answer(replace(plain, warnings=()))
    settled = remembered(every, tmp_path, refit="auto").findings.memory
    assert settled is not None
    assert not settled.made


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"partition": "week"}, "'week' is the name of 0 columns"),
        ({"window": 0}, "Option 'window': must be a whole number of at least 1, got 0"),
        ({"refit": "maybe"}, "Option 'refit': must be one of propose, auto, now, got 'maybe'"),
        ({"partition": None}, "Option 'partition': must be the name of a column"),
    ],
)
def test_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises((ConfigError, DataError), match=message):
        spark_pufs.select(day(1), **{"memory": tmp_path / "m", "partition": "day"} | OPTIONS | options)
    assert not (tmp_path / "m" / INDEX).exists()


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (day(2), {"bins": 7}, "was made with bins = 5, asked for is 7"),
        (day(2), {"positive": 0, "unlabelled": 1}, "was made with label = positive .1., .* asked for is positive .0."),
        (day(2).drop(columns="d"), {}, "Column 'd': not found in partition '2026-01-02'; counts are kept of it"),
        (day(2).assign(d="text"), {}, "Column 'd': holds text values in partition '2026-01-02', numeric ones"),
        (day(2).assign(label=7), {}, "Partition '2026-01-02', Column 'label': expected 0, 1 or null, found '7'"),
        (day(2).assign(day=None), {}, "Column 'day': 400 rows have no value and belong to no partition"),
        (day(2).rename(columns={"day": "date"}), {"partition": "date"}, "is cut by 'day', asked for is 'date'"),
        (days(1, 2).drop(columns="label"), {}, "Column 'label': not found in partition '2026-01-01'"),
        (day(1).assign(e=1.0).rename(columns={"e": "d"}), {}, "Column 'd': occurs twice in the table"),
        (day(2).assign(day=[[1]] * 400), {}, "Column 'day': cannot be read as partitions: unhashable type: 'list'"),
    ],
)
def test_refused_later(table: pd.DataFrame, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    remembered(day(1), tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises((ConfigError, DataError), match=message):
        spark_pufs.select(table, **{"memory": tmp_path, "partition": "day"} | OPTIONS | options)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_options_of_a_memory_without_one() -> None:
    with pytest.raises(ConfigError, match="Option 'window': is an option of a memory, and none is given"):
        spark_pufs.select(day(1), window=3, **OPTIONS)


def test_named_partition_column_and_moments(tmp_path: Path) -> None:
    table = days(1, 2)
    table["day"] = pd.to_datetime(table["day"]) + pd.to_timedelta(np.arange(len(table)) % 24, unit="h")
    found = remembered(table, tmp_path, exclude=["day"], keep=["da*"])
    assert found.findings.memory is not None
    assert (found.findings.memory.first, found.findings.memory.last) == ("2026-01-01", "2026-01-02")
    assert "day" not in {one.name for one in found.features}


def test_a_number_and_its_text_are_one_partition(tmp_path: Path) -> None:
    table = days(1, 2)
    mixed = table.assign(day=pd.Series([1, "1"] * 400, dtype=object))
    found = remembered(mixed, tmp_path)
    assert found.findings.memory is not None
    assert (found.findings.memory.partitions, found.findings.memory.rows) == (1, 800)
    assert found.names == spark_pufs.select(table.drop(columns="day"), **OPTIONS).names


def test_fewer_columns_later(tmp_path: Path) -> None:
    remembered(days(1, 2), tmp_path)
    found = remembered(days(1, 2), tmp_path, exclude=["a", "word"])
    assert found.findings.memory is not None
    assert found.findings.memory.read == ()
    assert {one.name for one in found.features} == {"b", "c", "d", "near_a"}


def test_a_day_that_is_run_again(tmp_path: Path) -> None:
    """Its window is that of its day; days after it stay in the memory, and those that left are read again."""
    first = remembered(days(1, 3), tmp_path, window=2)
    remembered(days(1, 5), tmp_path, window=2)
    again = remembered(days(1, 5), tmp_path, window=2, until="2026-01-03")
    assert again.findings.memory is not None
    assert (again.findings.memory.first, again.findings.memory.last) == ("2026-01-02", "2026-01-03")
    assert answer(again) == answer(first)
    assert list(counts(tmp_path)) == [f"2026-01-0{number}" for number in (4, 5, 2, 3)]
    settled = remembered(days(5, 5), tmp_path, window=2).findings.memory
    assert settled is not None
    assert (settled.read, settled.left) == ((), ("2026-01-02", "2026-01-03"))
    with pytest.warns(spark_pufs.PufsWarning, match="The window up to 2026-01-04 has 1 of 2 partitions"):
        remembered(days(4, 5), tmp_path, window=2, until="2026-01-04")
    with pytest.raises(DataError, match=r"Option 'until': no partition is up to '2025', the first is '2026-01-04'"):
        remembered(days(4, 5), tmp_path / "new", until="2025")


def test_cut_points_made_anew_for_an_older_day_drop_the_later_ones(tmp_path: Path) -> None:
    remembered(days(1, 4), tmp_path)
    found = remembered(days(1, 4), tmp_path, until="2026-01-02", refit="now").findings.memory
    assert found is not None
    assert found.left == ("2026-01-03", "2026-01-04")
    assert list(counts(tmp_path)) == ["2026-01-01", "2026-01-02"]


def test_a_stopped_search_goes_on_from_its_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory was brought up to the table before the search began."""
    options: dict[str, Any] = {"method": "fscpu", "generations": 3}
    whole = answer(remembered(days(1, 2), tmp_path / "whole", **options))
    told = FolderKeeper.save

    def stop_after_the_first(keeper: FolderKeeper, state: Any) -> None:
        told(keeper, state)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FolderKeeper, "save", stop_after_the_first)
        with pytest.raises(Stopped, match="after 1 generations"):
            remembered(days(1, 2), tmp_path / "m", checkpoint=tmp_path / "c", **options)
    again = remembered(days(1, 2), tmp_path / "m", checkpoint=tmp_path / "c", **options)
    assert again.findings.memory is not None
    assert again.findings.memory.read == ()
    assert answer(again) == whole
