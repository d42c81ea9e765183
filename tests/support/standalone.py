"""A standalone Spark master and its workers on loopback, from the installed pyspark; none of them outlives the test."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

from support.quick_java import QUICK

__all__ = ["Cluster", "cluster", "environment", "submit_command", "wait_for"]

BIN = Path(sys.executable).parent
HOME = Path(pyspark.__file__).parent
LOOPBACK = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(HOME)}
START = 300.0  # for a machine that is busy with other things


@dataclass(frozen=True)
class Cluster:
    folder: Path
    master: str
    workers: list[subprocess.Popen[bytes]]

    def kill(self, number: int) -> None:
        """Take one machine away: the worker and the executors it started, as a power cut would."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)
        self.workers[number].wait()


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """A master and so many workers of one core and 1 GB, on hosts of their own as far as Spark can tell.

    A task is repeated by speculation only on another host; all of 127.0.0.0/8 is this machine.
    """
    started: list[subprocess.Popen[bytes]] = []
    try:
        port = free_port()
        log = folder / "master.log"
        started.append(start(folder, log, "127.0.0.1", "master.Master", "--port", str(port), "--webui-port", "0"))
        wait_for(lambda: said(log, "I have been elected leader") == 1, "the master", log, started)
        for number in range(workers):
            size = ["--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(folder / f"work{number}")]
            own, of = folder / f"worker{number}.log", f"spark://127.0.0.1:{port}"
            started.append(start(folder, own, f"127.0.0.{number + 1}", "worker.Worker", *size, of))
        wait_for(lambda: said(log, "Registering worker") == workers, "the workers", log, started)
        yield Cluster(folder, f"spark://127.0.0.1:{port}", started[1:])
    finally:
        for process in started:
            with suppress(ProcessLookupError):  # a machine that the test itself took away
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def start(folder: Path, log: Path, host: str, name: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [str(BIN / "spark-class"), f"org.apache.spark.deploy.{name}", "--host", host, *arguments]
    own = {"SPARK_LOCAL_DIRS": str(folder / "local"), "SPARK_LOCAL_IP": host}
    own |= {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": QUICK}
    with log.open("wb") as file:
        # a group of its own: what it starts can be ended with it
        return subprocess.Popen(
            command, cwd=folder, env=environment(**own), stdout=file, stderr=file, start_new_session=True
        )


def submit_command(master: str, *arguments: str, **conf: str) -> list[str]:
    """spark-submit with a driver and executors that fit the small workers."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "600m",
        "spark.executor.memory": "600m",
        "spark.executor.extraJavaOptions": QUICK,
        **conf,
    }
    pairs = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    return [str(BIN / "spark-submit"), "--master", master, *pairs, *arguments]


def environment(**more: str) -> dict[str, str]:
    """Ours without what would let a process find the repository by itself."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYSPARK_PYTHON")}
    return {**kept, **LOOPBACK, **more}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def said(log: Path, words: str) -> int:
    return log.read_text(errors="replace").count(words)


def wait_for(
    there: Callable[[], bool], what: str, log: Path, running: Sequence[subprocess.Popen[bytes]], seconds: float = START
) -> None:
    """Until something is there, as long as those who should bring it about are running."""
    end = time.monotonic() + seconds
    while not there():
        late = time.monotonic() > end or any(process.poll() is not None for process in running)
        assert not late, f"{what} did not come\n{log.read_text(errors='replace')[-2000:]}"
        time.sleep(0.1)
