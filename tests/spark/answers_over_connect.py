"""The same answers over Spark Connect as in this process; test_on_connect.py runs this file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spark_pufs
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.errors import DataError
from spark_pufs.spark.own_session import in_own_session, is_ours
from spark_pufs.spark.versions import check_workers

pytestmark = pytest.mark.spark

CALLS: dict[str, dict[str, Any]] = {
    "semi-jmi": {"k": 10, "binning": "equal-frequency"},
    "semi-iamb": {},
    "fscpu": {"k": 25, "generations": 1, "generation_size": 32},
}


@pytest.fixture(scope="module")
def local() -> pd.DataFrame:
    data = make_artificial(CONDITIONS[0], seed=3, negatives=400, positives=100)
    return pd.DataFrame(data.X, columns=data.names).assign(label=data.s.astype(int), row=range(500))


@pytest.fixture(scope="module")
def table(session: Any, local: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("table") / "table.parquet"
    local.to_parquet(path)
    return session.read.parquet(str(path))


def test_it_works_in_a_copy_of_the_session(session: Any, table: Any) -> None:
    assert check_workers(session)
    ours = in_own_session(table).sparkSession
    assert is_ours(ours)
    assert ours.session_id != session.session_id


@pytest.mark.parametrize("method", CALLS)
def test_same_answers_as_in_process(session: Any, table: Any, local: pd.DataFrame, method: str) -> None:
    before = dict(session.conf.getAll)
    asked = {"label": "label", "keep": ["row"], "method": method, **CALLS[method]}
    found, expected = spark_pufs.select(table, **asked), spark_pufs.select(local, **asked)
    assert [(f.name, f.score) for f in found.features] == [(f.name, f.score) for f in expected.features]
    assert found.details.get("f") == expected.details.get("f")
    if method == "fscpu":
        likely = sorted(row["row"] for row in spark_pufs.likely_positives(found, table).collect())
        assert likely == sorted(spark_pufs.likely_positives(expected, local)["row"])
    assert dict(session.conf.getAll) == before


@pytest.mark.parametrize("elsewhere", [False, True], ids=["a folder", "another file system"])
def test_files_without_the_label_are_found(session: Any, tmp_path: Path, elsewhere: bool) -> None:
    for name, columns in (("a", ["x", "label"]), ("b", ["x"])):
        pd.DataFrame({column: [0, 1] for column in columns}).to_parquet(tmp_path / f"{name}.parquet")
    link = "fs.viewfs.mounttable.elsewhere.link./t"
    session.conf.set(link, f"file://{tmp_path}")
    table = session.read.parquet("viewfs://elsewhere/t" if elsewhere else str(tmp_path)).where("x >= 0")
    with pytest.raises(DataError, match=r"^Column 'label': is not in 1 of 2 files, 'b\.parquet' for one\."):
        spark_pufs.select(table, label="label", method="mim", k=1)
    session.conf.unset(link)
