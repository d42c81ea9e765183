"""One address for Arrow and for Spark; what a store's errors mean; who is asked again."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from pyarrow import fs

from spark_pufs.errors import Busy, ConfigError, EnvironmentFault, PufsError
from spark_pufs.rundir import stores
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.rundir.lock import BID, held
from spark_pufs.rundir.s3_settings import settings_for_spark
from spark_pufs.rundir.stores import Store, address_for_arrow, store_settings, trouble

NO_SERVER = (
    "When getting information for key 'a' in bucket 'b': AWS Error NETWORK_CONNECTION during HeadObject operation"
)


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def remote(tmp_path: Path) -> RunFolder:
    """A folder that is not of this machine, as far as ours can tell."""
    folder = RunFolder(tmp_path / "run")
    folder._store, folder._base = Store(fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())), "run"
    return folder


@pytest.mark.parametrize(
    ("address", "arrow"),
    [
        ("runs/a", "runs/a"),
        ("C:/runs", "C:/runs"),
        ("file:/data/a%20b", "/data/a b"),
        ("file:///data/a", "/data/a"),
        ("s3://lake/a", "s3://lake/a"),
        ("s3a://lake/a", "s3://lake/a"),
        ("S3N://lake/a", "s3://lake/a"),
        ("s3a://key:word@lake/a?region=x", "s3://key:word@lake/a?region=x"),
        ("gs://lake/a", "gs://lake/a"),
        ("abfss://in@account.dfs.core.windows.net/a", "abfss://in@account.dfs.core.windows.net/a"),
        ("hdfs://head:8020/a", "hdfs://head:8020/a"),
    ],
)
def test_what_arrow_calls_a_place(address: str, arrow: str) -> None:
    assert address_for_arrow(address) == arrow


def test_a_place_of_databricks_is_no_local_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for address in ("dbfs:/runs/a", "dbfs:///runs/a"):
        with pytest.raises(ConfigError, match="is a place of Databricks, which is not mounted here as /dbfs"):
            RunFolder(address)
    monkeypatch.setattr(Path, "is_dir", lambda self: str(self) == "/dbfs")
    assert address_for_arrow("dbfs:/runs/a") == address_for_arrow("dbfs:///runs/a") == "/dbfs/runs/a"
    assert not list(tmp_path.iterdir())


def test_a_scheme_without_slashes_is_no_local_folder() -> None:
    with pytest.raises(ConfigError, match=r"has no // after its scheme\. Write hdfs:///runs"):
        RunFolder("hdfs:/runs")


def test_settings_of_spark_are_those_of_our_files() -> None:
    conf = {
        "spark.hadoop.fs.s3a.endpoint": "store:9000",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.access.key": "me",
        "spark.hadoop.fs.s3a.secret.key": "a/b",
    }
    with store_settings(conf):
        found = address_for_arrow("s3a://lake/a")
    assert found == "s3://me:a%2Fb@lake/a?endpoint_override=store%3A9000&scheme=http&region=us-east-1"
    assert address_for_arrow("s3a://lake/a") == "s3://lake/a"


def test_variables_of_aws_are_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"AWS_ENDPOINT_URL": "http://store:9000/", "AWS_DEFAULT_REGION": "eu-west-1"}
    assert settings_for_spark({}) == {}
    assert settings_for_spark(told) == {
        "spark.hadoop.fs.s3a.endpoint.region": "eu-west-1",
        "spark.hadoop.fs.s3a.endpoint": "http://store:9000/",
        "spark.hadoop.fs.s3a.path.style.access": "true",
    }
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    expected = "s3://lake/a?endpoint_override=store%3A9000&scheme=http&region=eu-west-1"
    assert address_for_arrow("s3://lake/a") == expected


@pytest.mark.parametrize(
    ("said", "kind", "code"),
    [
        (NO_SERVER, PufsError, 1),
        ("AWS Error SLOW_DOWN during PutObject operation", PufsError, 1),
        ("HDFS list directory failed. Detail: [errno 255] Unknown error 255", PufsError, 1),
        ("AWS Error NO_SUCH_BUCKET during PutObject operation", ConfigError, 2),
        ("AWS Error ACCESS_DENIED during HeadObject operation", ConfigError, 2),
        ("Unable to load libjvm: libjvm.so: cannot open shared object file", EnvironmentFault, 4),
    ],
)
def test_what_an_error_means(said: str, kind: type[PufsError], code: int) -> None:
    error = trouble(OSError(said), "Output 's3://lake/a'", "cannot be written")
    assert type(error) is kind
    assert error.exit_code == code
    assert stores.may_pass(OSError(said)) == (code == 1)


def failing(monkeypatch: pytest.MonkeyPatch, times: int, said: str = NO_SERVER) -> list[float]:
    """Questions fail so many times; the pauses that are made."""
    pauses: list[float] = []
    left = [times]
    real = Store._ask

    def ask(self: Store, question: object) -> object:
        def asked() -> object:
            if left[0]:
                left[0] -= 1
                raise OSError(said)
            return question()  # type: ignore[operator]

        return real(self, asked)

    monkeypatch.setattr(Store, "_ask", ask)
    monkeypatch.setattr(stores.time, "sleep", pauses.append)
    monkeypatch.setattr(stores.time, "monotonic", lambda: sum(pauses))
    return pauses


def test_a_store_out_of_reach_is_asked_again(remote: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = failing(monkeypatch, 4)
    remote.write("a.txt", b"1")
    assert pauses == [0.5, 1.0, 2.0, 4.0]
    assert remote.read("a.txt") == b"1"
    assert remote.names() == ["a.txt"]


def test_for_a_minute_and_no_longer(remote: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = failing(monkeypatch, 10**6)
    with pytest.raises(PufsError, match=r"cannot be written: .*NETWORK_CONNECTION") as caught:
        remote.write("a.txt", b"1")
    assert caught.value.exit_code == 1
    with pytest.raises(PufsError, match="NETWORK_CONNECTION"):
        remote.write("b.txt", b"1")  # nothing is waited for twice
    assert 50 < sum(pauses) <= 60


def test_what_is_refused_is_told_at_once(remote: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = failing(monkeypatch, 10**6, "AWS Error ACCESS_DENIED during PutObject operation")
    with pytest.raises(ConfigError, match=r"ACCESS_DENIED.*ask for the right to it"):
        remote.write("a.txt", b"1")
    assert not pauses


def test_a_move_whose_answer_was_lost_is_done(
    remote: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote.make()
    remote._store.put("run/staged", b"1")
    real = Store._replace

    def lost(self: Store, staged: str, place: str) -> None:
        real(self, staged, place)
        raise OSError(NO_SERVER)

    monkeypatch.setattr(Store, "_replace", lost)
    monkeypatch.setattr(stores.time, "sleep", lambda seconds: None)
    remote._store.move("run/staged", "run/shown")
    assert remote.names() == ["shown"]
    with pytest.raises(FileNotFoundError):
        remote._store.move("run/staged", "run/shown")


def test_a_store_is_tried_and_nothing_is_left(remote: RunFolder) -> None:
    remote.check_place()
    assert remote._listed() == set()


def test_one_of_many_wins_on_a_store(remote: RunFolder, tmp_path: Path) -> None:
    """No door of this machine is shared: only what the store lists tells."""
    won, refused, done = [], [], threading.Barrier(4)

    def run() -> None:
        folder = RunFolder(tmp_path / "run")
        folder._store, folder._base = remote._store, "run"
        done.wait()
        try:
            with held(folder):
                won.append(folder)
                done.wait()
        except Busy:
            refused.append(folder)
            done.wait()

    for _ in range(5):
        threads = [threading.Thread(target=run) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert (len(won), len(refused)) == (1, 3)
        won.clear()
        refused.clear()
        assert not [name for name in remote.names() if name.startswith(BID)]


def test_an_old_bid_of_a_killed_run_does_not_count(remote: RunFolder, tmp_path: Path) -> None:
    remote.make()
    remote.put(f"{BID}0", b"")
    with pytest.raises(Busy, match="another run began in it at the same moment"), held(remote):
        pass
    os.utime(tmp_path / "run" / f"{BID}0", (1, 1))
    with held(remote):
        assert (tmp_path / "run" / ".lock").exists()
