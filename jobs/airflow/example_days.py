"""A made-up table by days, as a lake has it: FOLDER/day=2026-03-01 and on, each with a _SUCCESS when it is whole.

python jobs/airflow/example_days.py FOLDER FIRST LAST [--changed-from DAY]

Two of four columns tell the positives. From the day of --changed-from on the second of them comes in another unit.
"""

from __future__ import annotations

import argparse
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 3000


def rows(day: date, unit: float = 1.0) -> pd.DataFrame:
    """The rows of a day; ``unit``: of the column packets."""
    rng = np.random.default_rng(day.toordinal())
    positive = rng.random(ROWS) < 0.2
    table = pd.DataFrame(rng.normal(size=(ROWS, 4)), columns=["bytes", "packets", "ttl", "port"])
    table["bytes"] += 2 * positive
    table["packets"] = (table["packets"] + 1.5 * positive) * unit
    label = (positive & (rng.random(ROWS) < 0.3)).astype(int)
    return table.assign(label=label, row_id=[f"{day}-{number}" for number in range(ROWS)])


def write_day(folder: Path, table: pd.DataFrame) -> Path:
    """The partition, whole once its marker is there."""
    folder.mkdir(parents=True, exist_ok=True)
    table.to_parquet(folder / "rows.parquet", index=False)
    (folder / "_SUCCESS").touch()
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("first", type=date.fromisoformat)
    parser.add_argument("last", type=date.fromisoformat)
    parser.add_argument("--changed-from", type=date.fromisoformat, default=date.max)
    given = parser.parse_args()
    for number in range((given.last - given.first).days + 1):
        day = given.first + timedelta(days=number)
        print(write_day(given.folder / f"day={day}", rows(day, 1000.0 if day >= given.changed_from else 1.0)))


if __name__ == "__main__":
    main()
