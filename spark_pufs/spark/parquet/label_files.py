"""Files of a table that lack the label column: Spark would read their rows as unlabelled without a word."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from spark_pufs.errors import DataError, Fault

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["check_label_files"]

MOST = 10_000  # files that are looked into, the ends of which hold their columns


def check_label_files(frame: DataFrame, label: str) -> None:
    """Refuse Parquet files of this machine some of which hold the label and some of which do not.

    ``frame`` is what a reader gave: in a query that joins tables the label may rightly stand in some files alone.
    """
    places = [place for place in map(_local, frame.inputFiles()[:MOST]) if place is not None]
    lacking = [place for place in places if not _holds(place, label)]
    if lacking and len(lacking) < len(places):
        found = f"is not in {len(lacking):,} of {len(places):,} files, '{lacking[0].name}' for one"
        fix = "Their rows would count as unlabelled: write them again with the column, or leave them out."
        raise DataError(Fault(f"Column '{label}'", found, fix))


def _local(address: str) -> Path | None:
    parts = urlsplit(address)
    place = Path(unquote(parts.path))
    return place if parts.scheme in ("file", "") and place.suffix == ".parquet" and place.is_file() else None


def _holds(place: Path, label: str) -> bool:
    """Whether a file has the column, itself or as part of its path; Spark does not tell upper case from lower."""
    try:
        names = pq.read_schema(place).names
    except (OSError, pa.ArrowException):
        return True  # whoever reads its rows will say so
    return label.lower() in [name.lower() for name in names] or f"/{label}=".lower() in str(place).lower()
