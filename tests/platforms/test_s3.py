"""A real server of S3: run directories, what a dry run tells, a server that is not there, several runs at once."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

from platforms.kept_tables import table
from spark_pufs.errors import Busy, ConfigError, PufsError
from spark_pufs.jobs.config import parse
from spark_pufs.jobs.select_job import run_select
from spark_pufs.rundir import stores
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.rundir.lock import BID, held

pytestmark = pytest.mark.platform("s3")

KEY, SECRET = "tester", "tester-secret"


@dataclass
class Server:
    program: Path
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        place = ["--port", f"127.0.0.1:{self.port}", "--access", KEY, "--secret", SECRET]
        with (self.folder / "log").open("ab") as log:
            sidecar = ["posix", "--sidecar", str(self.folder / "marks"), str(self.folder / "data")]
            (self.folder / "marks").mkdir(exist_ok=True)
            self.process = subprocess.Popen([str(self.program), *place, *sidecar], stdout=log, stderr=log)
        end = time.monotonic() + 60
        while not self.answers():
            assert time.monotonic() < end, (self.folder / "log").read_text()[-2000:]
            time.sleep(0.05)

    def stop(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def answers(self) -> bool:
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@pytest.fixture(scope="module")
def server(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Server(installed / "bin" / "versitygw", tmp_path_factory.mktemp("s3"), port)
    server.start()
    reached = {"endpoint_override": server.endpoint, "region": "us-east-1", "allow_bucket_creation": True}
    files = fs.S3FileSystem(access_key=KEY, secret_key=SECRET, **reached)
    files.create_dir("lake")
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def variables(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"AWS_ENDPOINT_URL": server.endpoint, "AWS_REGION": "us-east-1"}
    for name, value in {**told, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("source") / "table.parquet"
    table().to_parquet(place)
    return place


def asked(source: Path | str, output: str, **more: Any) -> Any:
    return parse(
        {
            "source": {"path": str(source)},
            "label": {"column": "label"},
            "features": {"keep": ["row_id", "day"]},
            "select": {"method": "fscpu-mi", "k": 2, "clusters": 2},
            "output": {"path": output, **more},
        }
    )


def files_of(folder: RunFolder) -> dict[str, Any]:
    """What a finished run shows, without what differs from run to run."""
    told = json.loads(folder.read("selection.json") or b"")
    told.pop("run")
    rows = folder.inner("likely_positives.parquet").read("part-0.parquet")
    return {"selection": told, "ranking": folder.read("ranking.parquet"), "likely": rows}


def test_a_run_directory_is_what_it_is_on_a_disk(source: Path, tmp_path: Path) -> None:
    run_select(asked(source, str(tmp_path / "run"), likely_positives=True))
    for address in ("s3://lake/runs/a", "s3a://lake/runs/b"):
        run_select(asked(source, address, likely_positives=True))
        assert files_of(RunFolder(address)) == files_of(RunFolder(tmp_path / "run"))
        assert RunFolder(address).changed(RunFolder(address).finished() or {}) == []
        assert not [name for name in RunFolder(address)._listed() if name.startswith((BID, ".lock"))]
        assert "Already done" in run_select(asked(source, address, likely_positives=True)).message


def test_a_dry_run_tells_what_a_run_would_end_with(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_select(asked(source, "s3://lake/dry/run"), dry_run=True)
    assert RunFolder("s3://lake/dry")._listed() == set()
    with pytest.raises(ConfigError) as caught:
        run_select(asked(source, "s3://nowhere/run"), dry_run=True)
    assert caught.value.exit_code == 2
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(ConfigError) as caught:
        run_select(asked(source, "s3://lake/dry/run"), dry_run=True)
    assert caught.value.exit_code == 2


def test_a_server_that_is_not_there_can_be_tried_again(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(stores, "PATIENCE", 1.0)
    for dry_run in (True, False):
        with pytest.raises(PufsError) as caught:
            run_select(asked(source, "s3://lake/away/run"), dry_run=dry_run)
        assert caught.value.exit_code == 1


def test_one_of_several_runs_wins() -> None:
    won, refused, gate = [], [], threading.Barrier(3)

    def run() -> None:
        folder = RunFolder("s3://lake/contested")
        gate.wait()
        try:
            with held(folder):
                won.append(folder)
                gate.wait()
        except Busy:
            refused.append(folder)
            gate.wait()

    for number in range(1, 6):
        threads = [threading.Thread(target=run) for _ in range(3)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert (len(won), len(refused)) == (number, 2 * number)
