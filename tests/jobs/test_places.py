"""An output that would take the source's place is refused, however the two are written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spark_pufs.errors import ConfigError
from spark_pufs.jobs.places import check_apart
from spark_pufs.masking.addresses import Address


@pytest.mark.parametrize(
    ("source", "output", "how"),
    [
        ("data/t", "data/t", "is"),
        ("data/t", "data/t/", "is"),
        ("data/t", "file://{here}/data/t", "is"),
        ("file:{here}/data/t", "data/./x/../t", "is"),
        ("data/t", "data/t/run", "lies in"),
        ("data/t/part.parquet", "data", "holds"),
        ("data/link", "data/t/run", "lies in"),
        ("data/*", "data/run", "is"),
        ("data/*/day=1", "data", "holds"),
        ("data/{a,b}", "data/a/run", "lies in"),
        ("s3a://key:secret@Bucket/t", "s3://bucket/t/run", "lies in"),
        ("hdfs://name/t", "hdfs://name/t", "is"),
    ],
)
def test_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, output: str, how: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data/t").mkdir(parents=True)
    os.symlink(tmp_path / "data" / "t", "data/link")
    with pytest.raises(ConfigError, match=rf"Output '.*': {how} the source '.*', which would be lost") as caught:
        check_apart(*(Address(one.replace("{here}", str(tmp_path))) for one in (source, output)))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("data/t", "data/t2"),
        ("data/t.parquet", "runs/x"),
        ("data/*.parquet", "data/run"),
        ("s3://one/t", "s3://other/t"),
        ("s3://one/t", "t"),
        (None, "runs/x"),
    ],
)
def test_apart(source: str | None, output: str) -> None:
    check_apart(None if source is None else Address(source), Address(output))
