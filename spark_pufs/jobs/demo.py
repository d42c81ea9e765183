"""The built-in example: generated data whose relevant features are known, so that the answer can be checked."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.errors import ConfigError, Fault
from spark_pufs.jobs.config import RunConfig, parse
from spark_pufs.rundir.files import parquet
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.selection import Selection

__all__ = ["demo_config", "found_text", "write_example"]

RELEVANT = 25
RUNS = 12  # halves of the rows, to tell how far the answer depends on the draw


def write_example(path: Path, seed: int = 7) -> None:
    """4,500 rows, 50 features of which 25 matter, 200 rows labelled positive, as Parquet."""
    data = make_artificial(CONDITIONS[0], seed)
    table = pd.DataFrame(data.X, columns=data.names)
    table.insert(0, "row_id", [f"row-{i:05d}" for i in range(len(table))])
    # Sorted by name the relevant features do not simply come first.
    table = table[sorted(table.columns)]
    table["label"] = pd.array([1 if s else None for s in data.s], dtype="Int64")
    folder = RunFolder(path.parent)
    there, example = folder.read(path.name), parquet(table)
    if there == example:
        return
    if there is not None or path.exists():
        found = "is there already, and is not the example"
        raise ConfigError(Fault(f"Table '{path}'", found, "Name another folder with --out; nothing was replaced."))
    folder.write(path.name, example)


def demo_config(folder: Path, method: str) -> RunConfig:
    """The configuration of the example run; it is written beside the results like any other."""
    return parse(
        {
            "source": {"path": str(folder / "table.parquet")},
            "label": {"column": "label"},
            "features": {"keep": ["row_id"]},
            "select": {"method": method, "k": RELEVANT, "stability": RUNS},
            "output": {"path": str(folder / method), "overwrite": True},
        }
    )


def found_text(selection: Selection) -> str:
    """How many of the relevant features were found."""
    found = sum(name.startswith("relevant") for name in selection.names)
    return f"Found {found} of the {RELEVANT} features that matter, among {len(selection.features)}."
