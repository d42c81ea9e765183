"""A quiet Spark session of our own, or the one that spark-submit prepared; Java is checked first."""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spark_pufs.errors import EnvironmentFault, Fault, PufsError
from spark_pufs.masking.addresses import address_shown
from spark_pufs.masking.hidden import known_address
from spark_pufs.masking.texts import foreign, gist
from spark_pufs.rundir.s3_settings import settings_for_spark
from spark_pufs.spark.private_launch import start_jvm
from spark_pufs.spark.versions import check_release, check_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_java", "java_version", "open_session", "under_submit"]

log = logging.getLogger("spark_pufs")

LEAST_JAVA = 17
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # Without it each Python task waits some 40 ms for a delayed ACK on the loopback socket (Spark 4.1 and later).
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # What Spark itself must not show of its settings, in its page and its event log.
    "spark.redaction.regex": "(?i)secret|passw|passphrase|pwd|token|credential|signature|jaas|bearer|auth|sas"
    "|(access|account|api|encryption|private|shared)[._-]?key|[.]pass|[.]key|[.]url$|[.]uri$|JavaOptions",
}

# Of a session on this machine, with the Python that runs here. Java compiles what runs often twice, the second time at
# great cost: of a session that mostly starts jobs of Python, that is a third of what Java takes. It has to run ten
# times as often as by default, which code that goes through rows soon does.
LOCAL_SETTINGS = {
    "spark.python.daemon.module": "spark_pufs.spark.worker",
    "spark.driver.defaultJavaOptions": "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000",
}


def under_submit() -> bool:
    """Whether spark-submit started this program."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def open_session(master: str, conf: Mapping[str, str]) -> SparkSession:
    """The session to work in."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        fix = "Install spark-pufs[spark], or run with the spark-submit of your cluster."
        raise EnvironmentFault(Fault("Package 'pyspark'", "is not installed", fix)) from error
    check_release()
    if under_submit():
        return _checked(_configured(SparkSession.builder, conf).getOrCreate())
    if "SPARK_REMOTE" in os.environ or master.startswith("sc://"):
        return _checked(_remote(os.environ.get("SPARK_REMOTE", master), conf))
    check_java()
    alike = master.startswith("local") and os.environ.get("PYSPARK_PYTHON", sys.executable) == sys.executable
    settings = {**SETTINGS, **(LOCAL_SETTINGS if alike else {}), **settings_for_spark(os.environ), **conf}
    with _same_python(), _stderr_to_file() as noise:
        try:
            start_jvm(settings)
            session = _configured(SparkSession.builder.master(master).appName("spark-pufs"), settings).getOrCreate()
        except PufsError:
            raise
        except Exception as error:  # py4j and pyspark raise many kinds; all mean that no session came up
            raise EnvironmentFault(_no_session(master, error, noise)) from error
    return session if alike else _checked(session)


def _remote(address: str, conf: Mapping[str, str]) -> SparkSession:
    """A session of Spark Connect."""
    from pyspark.sql import SparkSession

    known_address(address)
    try:
        if address.startswith("local"):  # pyspark starts a server of its own
            start_jvm(conf)
        return _configured(SparkSession.builder.remote(address), conf).getOrCreate()
    except PufsError:
        raise
    except Exception as error:  # of gRPC and pyspark, many kinds; all mean that no session came up
        fix = "Check the address, the token and that the server runs."
        raise EnvironmentFault(Fault(f"Spark Connect at '{address_shown(address)}'", gist(error), fix)) from error


def _checked(session: SparkSession) -> SparkSession:
    """The session, once its workers were found to have the driver's Python and packages."""
    check_workers(session)
    return session


def check_java() -> None:
    """Raise unless a usable Java is there."""
    version = java_version()
    if version is None or version < LEAST_JAVA:
        found = "none was found" if version is None else f"found version {version}"
        fix = f"Install Java {LEAST_JAVA} (Debian, Ubuntu: openjdk-17-jre-headless) or set JAVA_HOME."
        raise EnvironmentFault(Fault("Java", f"Spark needs version {LEAST_JAVA} or later, {found}", fix))


def java_version() -> int | None:
    """Major version of the Java that Spark would start."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None:
        return None
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(match.group(1)) if match else None


def _configured(builder: SparkSession.Builder, conf: Mapping[str, str]) -> SparkSession.Builder:
    for name, value in conf.items():
        builder = builder.config(name, value)
    return builder


@contextmanager
def _same_python() -> Iterator[None]:
    """Workers run `python3` from the PATH unless told, which may lack our packages; a session asks when it starts."""
    told = "PYSPARK_PYTHON" in os.environ
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        yield
    finally:
        if not told:
            del os.environ["PYSPARK_PYTHON"]


@contextmanager
def _stderr_to_file() -> Iterator[Path]:
    """What the JVM says while it starts, and later, goes to a file: it inherits our standard error when it starts.

    The file loses its name once Java is up, so that it goes with Java however that ends; who asks for debug messages
    is told of it and finds it, and so is who gets no session.
    """
    descriptor, name = tempfile.mkstemp(prefix="spark-pufs-", suffix=".spark.log")
    noise = Path(name)
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    try:
        yield noise
    finally:
        os.dup2(kept, 2)
        os.close(kept)
    if log.isEnabledFor(logging.DEBUG):
        log.debug("Spark's own messages are in %s", noise)
    else:
        noise.unlink()


def _no_session(master: str, error: Exception, noise: Path) -> Fault:
    tail = noise.read_text(errors="replace").strip().splitlines()[-1:] if noise.exists() else []
    why = str(error).strip().splitlines()[:1]
    found = f"no session: {foreign('; '.join([*why, *tail]))}"
    return Fault(f"Spark master '{address_shown(master)}'", found, f"Spark's messages: {noise}")
