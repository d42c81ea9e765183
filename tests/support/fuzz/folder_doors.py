"""The doors to folders: what is written there, what is read back damaged, and the counts that are kept."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import spark_pufs
from spark_pufs.selection import Selection
from support.fuzz.command_doors import PLACES, command, configs
from support.fuzz.places import Door, Place, example, finished_run, selected
from support.fuzz.python_doors import plain
from support.fuzz.values import names, odd, paths, tables

__all__ = ["FOLDER_DOORS", "days", "remembered"]

_FIELDS = ["method", "features", "facts", "details", "columns", "request", "versions", "run", "warnings", "surrogate"]
_RUNS = st.sampled_from(["run", "run", ".", "user", "x", "notes.txt", "~"])
_PAGES = st.none() | st.sampled_from(["out.html", "x/y.html", "run", *PLACES])
_damage = st.lists(
    st.tuples(
        st.sampled_from(["selection.json", "manifest.json", "report.html", "ranking.parquet"]),
        st.floats(0, 1),
        st.binary(max_size=8),
    ),
    max_size=2,
)


def _damaged(case: Any, folder: Path) -> None:
    """Change files of a folder: cut them, put bytes in, or in their place."""
    for name, how, data in case:
        path = folder / name
        whole = path.read_bytes()
        at = int(how * len(whole))
        path.write_bytes({0: data, 1: whole[:at], 2: whole[:at] + data + whole[at:]}[len(data) % 3])


def _written(case: Any, place: Place) -> str:
    target, overwrite = case
    selected().write(target, overwrite=overwrite)
    return ""


def _reported(case: Any, place: Place) -> str:
    selected().write_report(case)
    return ""


def _checkpointed(case: Any, place: Place) -> str:
    where, damage = case
    folder = place.folder / "out"
    folder.mkdir()
    (folder / "checkpoint.npz").write_bytes(damage)
    given = {"method": "fscpu-mi", "k": 1, "generations": 1, "generation_size": 16, "clusters": 2}
    return str(spark_pufs.select(example(), label="label", checkpoint=where, **given))


def _resume(case: Any, place: Place) -> str:
    import yaml

    settings, damage, run = case
    (place.folder / "run" / "config.yaml").write_text(yaml.safe_dump(settings))
    _damaged(damage, place.folder / "run")
    return command("resume", run)


def _diff(case: Any, place: Place) -> str:
    damage, first, second, html = case
    _damaged(damage, place.folder / "run")
    extra = [] if html is None else ["--html", html]
    return command("diff", first, second, *extra)


def _history(case: Any, place: Place) -> str:
    damage, runs, page = case
    selected("semi-mim").write(place.folder / "other")
    _damaged(damage, place.folder / "run")
    return command("history", runs, *([] if page is None else ["--html", page]))


def _loaded(case: Any, place: Place) -> str:
    """A stored selection with fields changed, and a manifest that says it is whole."""
    values = json.loads(finished_run()["selection.json"]) | dict(case)
    data = json.dumps(values, default=str).encode()
    manifest = json.loads(finished_run()["manifest.json"])
    manifest["files"]["selection.json"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (place.folder / "run" / "selection.json").write_bytes(data)
    (place.folder / "run" / "manifest.json").write_text(json.dumps(manifest))
    found = spark_pufs.diff("run", selected())
    said = str(found) + json.dumps([found.to_json(), found.to_html()])
    loaded = Selection.from_dict(json.loads(data))
    return said + str(loaded) + json.dumps([loaded.to_json(), str(loaded.table())])


_DAYS: list[Any] = [
    lambda n: np.where(np.arange(n) % 2, "2026-01-01", "2026-01-02"),
    lambda n: np.arange(n) % 3,
    lambda n: pd.date_range("2026-01-01", periods=max(n, 1), freq="h")[:n],
    lambda n: ["1", 1, 1.0] * n,
    lambda n: [None, "a"] * n,
    lambda n: [[1]] * n,
    lambda n: ["\ud800", "../x", "\x1b[2J"] * n,
    lambda n: np.where(np.arange(n) % 2, np.nan, 1.5),
]
_CHANGES: list[Any] = [
    lambda table: table,
    lambda table: table.iloc[:30],
    lambda table: table.iloc[::-1],
    lambda table: table.drop(columns="a"),
    lambda table: table.assign(a=table["a"] * 1e6),
    lambda table: table.assign(a="text"),
    lambda table: table.assign(c=table["c"].where(table["a"] > 2)),
    lambda table: table.assign(c="new " + table["c"]),
    lambda table: table.assign(new=np.arange(len(table))),
    lambda table: table.assign(label=0),
    lambda table: table.assign(label=2),
]
_LATE: list[Any] = [
    pd.DataFrame({"b1": [0, 1], "label": [1, 1]}),
    pd.DataFrame({"row": [0, 59, 60], "label": [1, None, 0]}),
    pd.DataFrame({"row": [3, 3], "label": [1, 0]}),
    pd.DataFrame({"row": [3], "label": [7], "day": ["2026-01-02"]}),
    pd.DataFrame({"row": [None], "label": [1]}),
    pd.DataFrame({"row": [], "label": []}),
    pd.DataFrame({"row": [[1]], "label": [1]}),
    pd.DataFrame({"row": ["\ud800"], "label": ["\x1b[2J"]}),
    pd.DataFrame(),
]
COUNTING = {"label": "label", "method": "semi-mim", "k": 1}


@st.composite
def days(draw: st.DrawFn) -> Any:
    """A table cut by a column, most as a user's next day; whether a memory is there and how its files are damaged; and
    what is asked of it."""
    odd_table = draw(st.integers(0, 3)) == 0
    table = draw(tables()) if odd_table else draw(st.sampled_from(_CHANGES))(example())
    if isinstance(table, pd.DataFrame):
        made = draw(st.sampled_from(_DAYS if odd_table else _DAYS[:4]))(len(table))
        table["day"] = made[: len(table)] if isinstance(made, list) else made
        table["row"] = np.arange(len(table))
    usual: dict[str, Any] = {
        "window": st.sampled_from([1, 2, 30]),
        "refit": st.sampled_from(["now", "auto", "propose"]),
        "method": st.sampled_from(["semi-jmi", "mim", "mrmr", "pucfs", "lasso"]),
        "late_labels": st.sampled_from(_LATE),
        "until": st.sampled_from(["2026-01-01", "2026-01-09", "1", "", 1, "x"]),
        "features": st.lists(names, max_size=2),
        "partition": odd | st.sampled_from(["a", "label"]),
        "memory": odd | st.sampled_from(["out", "user", "run"]),
        "k": odd,
    }
    rare = draw(st.integers(0, 3)) == 0
    asked = draw(st.lists(st.sampled_from([*usual][: 9 if rare else 5]), max_size=3, unique=True))
    given = {name: draw(usual[name]) for name in asked}
    cut = draw(st.floats(0, 1)) if draw(st.integers(0, 3)) == 0 else None
    known = {"memory": "state", "partition": "day", "keep": ["row"]}
    return table, draw(st.booleans()), (cut, draw(st.binary(max_size=4))), COUNTING | known | given


def _as_given(table: Any) -> Any:
    return table


def remembered(case: Any, place: Place, table_of: Any = _as_given) -> str:
    table, before, (cut, junk), given = case
    if before:
        known = example().assign(day=np.where(np.arange(60) % 2, "2026-01-01", "2026-01-03"), row=np.arange(60))
        spark_pufs.select(table_of(known), memory="state", partition="day", keep=["row"], **COUNTING)
        files = sorted(path.name for path in (place.folder / "state").iterdir())
        if cut is not None:
            _damaged([(files[int(cut * (len(files) - 1))], cut, junk)], place.folder / "state")
    return str(spark_pufs.select(table_of(table), **given))


FOLDER_DOORS = (
    Door("write", st.tuples(paths(*PLACES), st.booleans()), _written),
    Door("report", paths("out.html", "run/report.md", "out/deep.html", *PLACES), _reported),
    Door("checkpoint", st.tuples(paths("out", "user", "run") | odd, st.binary(max_size=64)), _checkpointed),
    Door("resume", st.tuples(configs(), _damage, st.sampled_from(["run", "user", "out", "notes.txt"])), _resume, 2),
    Door("diff", st.tuples(_damage, st.sampled_from(["run", "user", "x"]), st.just("run"), _PAGES), _diff),
    Door("history", st.tuples(_damage, _RUNS, _PAGES), _history),
    Door("load", st.lists(st.tuples(st.sampled_from(_FIELDS), plain), min_size=1, max_size=2), _loaded, 2),
    Door("memory", days(), remembered, 4),
)
