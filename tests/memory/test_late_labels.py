"""Labels that come after their rows: the partitions they belong to are counted again, and the others are not."""

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
from spark_pufs.core.counting.profile import ContentKernel
from spark_pufs.errors import DataError
from spark_pufs.findings.run_facts import RunFacts
from spark_pufs.jobs.config import parse
from spark_pufs.jobs.select_job import run_select
from spark_pufs.memory.late_labels import CorrectedKernel
from spark_pufs.types import RawBatch, Text
from support.memory_days import OPTIONS, days

TABLE = days(1, 3).assign(flow=np.arange(1200))


def remembered(path: Path, table: pd.DataFrame = TABLE, late: pd.DataFrame | None = None, **options: Any) -> Selection:
    own = {"memory": path, "partition": "day", "keep": ["flow"], **OPTIONS}
    return spark_pufs.select(table, late_labels=late, **own | options)


def read(found: Selection) -> tuple[str, ...]:
    assert found.findings.memory is not None
    return found.findings.memory.read


def answer(found: Selection) -> Any:
    return json.loads(replace(found, run=RunFacts("", 0.0), findings=replace(found.findings, memory=None)).to_json())


def corrected(table: pd.DataFrame, late: pd.DataFrame) -> pd.DataFrame:
    """The table as it would have been, by pandas."""
    return table.assign(label=table["flow"].map(late.set_index("flow")["label"]).fillna(table["label"]))


@pytest.mark.parametrize("known", [False, True])
def test_affected_partitions_alone_are_counted(known: bool, tmp_path: Path) -> None:
    late = pd.DataFrame({"flow": [405, 410, 411, 799], "label": [1, 1, 0, 1]})
    for name in ("late", "whole"):
        remembered(tmp_path / name)
    given = late.assign(day="2026-01-02") if known else late
    found = remembered(tmp_path / "late", late=given)
    assert read(found) == ("2026-01-02",)
    assert answer(found) == answer(remembered(tmp_path / "whole", corrected(TABLE, late)))
    # They stay: the next day is added, and nothing else is read.
    more = days(4, 4).assign(flow=np.arange(1200, 1600))
    again = remembered(tmp_path / "late", pd.concat([TABLE, more]))
    assert read(again) == ("2026-01-04",)
    assert answer(again) == answer(remembered(tmp_path / "whole", pd.concat([corrected(TABLE, late), more])))


def test_corrected_again_and_out_of_the_window(tmp_path: Path) -> None:
    remembered(tmp_path)
    remembered(tmp_path, late=pd.DataFrame({"flow": [5], "label": [1]}))
    settled = remembered(tmp_path, late=pd.DataFrame({"flow": [5], "label": [TABLE["label"][5]]}))
    assert read(settled) == ("2026-01-01",)
    assert answer(settled) == answer(remembered(tmp_path / "plain"))
    assert len(list(tmp_path.glob("labels-*"))) == 1
    remembered(tmp_path, window=2)
    assert not list(tmp_path.glob("labels-*"))


def test_a_day_that_is_run_again_keeps_the_labels_of_later_days(tmp_path: Path) -> None:
    remembered(tmp_path)
    late = remembered(tmp_path, late=pd.DataFrame({"flow": [1100], "label": [1]}), window=2)
    remembered(tmp_path, window=2, until="2026-01-02")
    again = remembered(tmp_path, window=2)
    assert (read(again), answer(again)) == ((), answer(late))


def test_only_late_labels_are_positive(tmp_path: Path) -> None:
    """A source that never has labels of its own."""
    bare = TABLE.assign(label=0)
    late = TABLE.loc[TABLE["label"] == 1, ["flow", "label"]]
    assert answer(remembered(tmp_path / "late", bare, late)) == answer(remembered(tmp_path / "plain"))


def test_labels_of_no_row(tmp_path: Path) -> None:
    remembered(tmp_path)
    with pytest.warns(spark_pufs.PufsWarning, match="2 late labels belong to no row of the table's partitions"):
        found = remembered(tmp_path, late=pd.DataFrame({"flow": [1, 5000, 5001], "label": [1, 1, 1]}))
    assert read(found) == ("2026-01-01",)


@pytest.mark.parametrize(
    ("late", "message"),
    [
        ({"flow": [1]}, "expected columns 'label', one that tells rows apart and perhaps 'day', found .'flow'."),
        ({"flow": [1, 1], "label": [0, 1]}, "1 ids have several labels .1."),
        ({"flow": [1, None], "label": [0, 1]}, "1 rows have no 'flow'"),
        ({"flw": [1], "label": [1]}, "'flw' is not a column of partition '2026-01-01'. Did you mean 'flow'"),
        ({"flow": [1], "label": [7]}, "Partition '2026-01-01', Column 'label': expected 0, 1 or null, found '7'"),
    ],
)
def test_refused(late: dict[str, list[Any]], message: str, tmp_path: Path) -> None:
    remembered(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.glob("[!l]*")}
    with pytest.raises(DataError, match=message):
        remembered(tmp_path, late=pd.DataFrame(late))
    assert {file.name: file.read_bytes() for file in tmp_path.glob("[!l]*")} == before


def test_from_a_configuration(tmp_path: Path) -> None:
    for day, rows in TABLE.groupby("day"):
        (tmp_path / f"flows/day={day}").mkdir(parents=True)
        rows.drop(columns="day").to_parquet(tmp_path / f"flows/day={day}/0.parquet", index=False)
    (tmp_path / "late.csv").write_text("flow,label\n3,1\n801,1\n")
    values: dict[str, Any] = {
        "source": {"path": str(tmp_path / "flows")},
        "label": {"column": "label"},
        "features": {"keep": ["flow"]},
        "select": {"method": "semi-jmi", "k": 3},
        "output": {"path": str(tmp_path / "run")},
        "memory": {"path": str(tmp_path / "state"), "partition": "day"},
        "engine": "memory",
    }
    run_select(parse(values))
    memory = {**values["memory"], "late_labels": str(tmp_path / "late.csv")}
    found = run_select(parse({**values, "memory": memory, "output": {"path": str(tmp_path / "late")}})).selection
    assert found is not None
    assert read(found) == ("2026-01-01", "2026-01-03")
    again = run_select(parse({**values, "output": {"path": str(tmp_path / "again"), "overwrite": True}})).selection
    assert again is not None
    assert read(again) == ()


def test_kernel_by_hand() -> None:
    """Labels of rows b and d are given anew, to a value, and to null."""

    class Seen:
        def start(self) -> Any:
            return []

        def add(self, state: Any, batch: RawBatch) -> Any:
            values = [*batch.label.values, None]
            return [*state, len(batch.text), [values[code] for code in batch.label.codes], batch.label.values]

    ids = Text(np.array([0, 1, 2, 3], np.int32), list("abcd"))
    label = Text(np.array([0, -1, 0, 1], np.int32), ["0", "1"])
    batch = RawBatch(np.zeros((4, 0)), np.zeros(0, np.int64), [ids], label)
    kernel: CorrectedKernel[Any] = CorrectedKernel(Seen(), {"b": "2", "d": None, "z": "9"})
    assert kernel.add(kernel.start(), batch) == [0, ["0", "2", "0", None], ["0", "2"]]
    plain = CorrectedKernel(ContentKernel(), {})
    assert str(plain.add(plain.start(), batch)) == str(
        ContentKernel().add(ContentKernel().start(), replace(batch, text=[]))
    )
