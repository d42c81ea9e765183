"""Files without the label column are told, not read as unlabelled rows."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from spark_pufs.errors import DataError
from spark_pufs.spark.parquet.label_files import check_label_files


def frame(*places: Path) -> Any:
    return SimpleNamespace(inputFiles=lambda: [place.as_uri() for place in places])


def written(place: Path, *columns: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame({name: [1, 2] for name in columns}).to_parquet(place)
    return place


def test_files_without_the_label_beside_files_with_it(tmp_path: Path) -> None:
    with_it = written(tmp_path / "a b%.parquet", "x", "Label")
    without = written(tmp_path / "c.parquet", "x")
    with pytest.raises(DataError, match=r"^Column 'label': is not in 1 of 2 files, 'c\.parquet' for one\. Their rows"):
        check_label_files(frame(with_it, without), "label")


def test_where_all_have_it_none_has_it_or_the_path_holds_it(tmp_path: Path) -> None:
    with_it, without = written(tmp_path / "a.parquet", "label"), written(tmp_path / "b.parquet", "x")
    inside = written(tmp_path / "label=1" / "c.parquet", "x")
    damaged = tmp_path / "d.parquet"
    damaged.write_bytes(b"PAR1")
    check_label_files(frame(with_it, inside, damaged), "label")
    check_label_files(frame(without), "label")
    check_label_files(frame(), "label")
