"""The files of a selection in a run directory, the manifest last. A folder without a manifest is not finished."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from spark_pufs.report import to_html, to_markdown
from spark_pufs.rundir.folder import MANIFEST, RunFolder
from spark_pufs.rundir.lock import held
from spark_pufs.types import Json

if TYPE_CHECKING:
    from spark_pufs.selection import Selection

__all__ = ["MANIFEST", "RunFolder", "parquet", "selection_files", "write_selection"]


def write_selection(selection: Selection, path: str | Path, overwrite: bool = False) -> None:
    """All files of a selection; nothing happens where the same selection already lies."""
    folder = RunFolder(path)
    with held(folder):
        if not folder.check(selection.fingerprint, overwrite, request=selection.request.as_dict()):
            folder.write_all(*selection_files(selection))


def selection_files(selection: Selection) -> tuple[dict[str, bytes], dict[str, Json]]:
    """The files by name, and what the manifest says beside them."""
    files = {
        "selection.json": selection.to_json().encode(),
        "ranking.parquet": parquet(selection.table()),
        "report.html": to_html(selection).encode(),
        "report.md": to_markdown(selection).encode(),
    }
    facts: dict[str, Json] = {
        "fingerprint": selection.fingerprint,
        "method": selection.method,
        "versions": dict(selection.versions),
        "metrics": metrics_of(selection),
    }
    return files, facts


def metrics_of(selection: Selection) -> dict[str, Json]:
    """What the work took, in numbers for who watches many runs."""
    run, search = selection.run, selection.findings.search
    return {
        "rows": selection.facts["rows"],
        "passes": len(run.passes),
        "bytes": sum(one.bytes for one in run.passes),
        "seconds": run.seconds,
        "masks": 0 if search is None else search.masks,
    }


def parquet(table: pd.DataFrame | pa.Table) -> bytes:
    """A table as the bytes of a Parquet file."""
    file = io.BytesIO()
    pq.write_table(
        pa.Table.from_pandas(table, preserve_index=False) if isinstance(table, pd.DataFrame) else table, file
    )
    return file.getvalue()
