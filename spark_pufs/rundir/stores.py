"""Where files lie: one address in a configuration, and what Arrow and Spark each call it; what a store's errors mean.

A store out of reach is asked again for a minute. What it refuses for good is told at once.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, unquote, urlencode, urlsplit

from pyarrow import fs
from pyarrow.dataset import dataset

from spark_pufs.errors import ConfigError, EnvironmentFault, Fault, PufsError
from spark_pufs.masking.texts import gist
from spark_pufs.rundir.s3_settings import S3A, settings_for_spark

__all__ = ["FIX", "Store", "address_for_arrow", "store_settings", "trouble"]

FIX = "Check that the place exists, has room and may be written."
PATIENCE = 60.0  # seconds for which a store that does not answer is asked again
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 5.0
_S3 = ("s3", "s3a", "s3n")
# What a store says where asking again, now or by a scheduler, gives the same answer.
_REFUSED = (
    "NO_SUCH_BUCKET", "NoSuchBucket", "Bucket '", "ACCESS_DENIED", "AccessDenied", "INVALID_ACCESS_KEY",
    "InvalidAccessKeyId", "INVALID_CLIENT_TOKEN", "SIGNATURE_DOES_NOT_MATCH", "SignatureDoesNotMatch",
    "HTTP status 403", "HTTP status 301", "INVALID_BUCKET_NAME", "AuthenticationFailed", "ContainerNotFound",
    "Permission denied", "AccessControlException",
)  # fmt: skip
_ABSENT = ("libjvm", "libhdfs", "JAVA_HOME", "CLASSPATH", "built without", "was not built with")
_conf: ContextVar[Mapping[str, object] | None] = ContextVar("settings of Spark for stores", default=None)
Answer = TypeVar("Answer")
log = logging.getLogger("spark_pufs")


@contextmanager
def store_settings(conf: Mapping[str, object]) -> Iterator[None]:
    """Files of ours go to S3 by the settings that Spark gets for it, fs.s3a.endpoint and the like."""
    before = _conf.set(conf)
    try:
        yield
    finally:
        _conf.reset(before)


def address_for_arrow(address: str) -> str:
    """What Arrow calls a place; a path of this machine as it is.

    >>> address_for_arrow("s3a://lake/runs"), address_for_arrow("file:/data/runs"), address_for_arrow("runs/first")
    ('s3://lake/runs', '/data/runs', 'runs/first')
    """
    scheme, colon, rest = address.partition(":")
    scheme = scheme.lower()
    if colon and scheme == "file":
        return unquote(urlsplit(address).path)
    if colon and scheme == "dbfs":
        return _mounted(address, "/" + rest.lstrip("/"))
    if "://" not in address:
        if colon and scheme in (*_S3, "hdfs", "gs", "abfs", "abfss"):
            raise ConfigError(Fault(f"Output '{address}'", "has no // after its scheme", f"Write {scheme}://{rest}."))
        return address
    return _s3(f"s3:{rest}") if scheme in _S3 else address


def _mounted(address: str, path: str) -> str:
    """DBFS is a folder of the machines of a cluster; elsewhere it cannot be reached by a path."""
    if not Path("/dbfs").is_dir():
        found = "is a place of Databricks, which is not mounted here as /dbfs"
        raise ConfigError(Fault(f"Output '{address}'", found, "Name a volume, /Volumes/..., or an address of a store."))
    return f"/dbfs{path}"


def _s3(address: str) -> str:
    """With endpoint, region and credentials where the address has none, from Spark's settings or AWS's variables."""
    conf = {name.removeprefix(S3A): str(value) for name, value in (_conf.get() or {}).items() if name.startswith(S3A)}
    told = settings_for_spark(os.environ)
    endpoint = conf.get("endpoint") or told.get(f"{S3A}endpoint")
    region = conf.get("endpoint.region") or told.get(f"{S3A}endpoint.region")
    rest, _, asked = address.removeprefix("s3://").partition("?")
    wanted = {}
    if endpoint and "endpoint_override=" not in asked:
        plain = conf.get("connection.ssl.enabled", "true").lower() == "false"
        scheme, _, host = endpoint.rpartition("://")
        wanted = {"endpoint_override": host.rstrip("/"), "scheme": scheme or ("http" if plain else "https")}
    if "region=" not in asked and (region or endpoint):
        wanted["region"] = region or "us-east-1"
    key, secret = conf.get("access.key"), conf.get("secret.key")
    if key and secret and "@" not in rest.partition("/")[0] and not conf.get("session.token"):
        rest = f"{quote(key, safe='')}:{quote(secret, safe='')}@{rest}"
    query = "&".join(one for one in (asked, urlencode(wanted)) if one)
    return f"s3://{rest}?{query}" if query else f"s3://{rest}"


def trouble(error: OSError | ValueError, where: str, found: str) -> PufsError:
    """What an error of a store means for who could try again: nothing, the environment, or a setting."""
    text = str(error)
    if any(mark in text for mark in _ABSENT):
        fix = "HDFS needs Java, JAVA_HOME, HADOOP_HOME and CLASSPATH: export CLASSPATH=$(hadoop classpath --glob)."
        return EnvironmentFault(Fault(where, f"{found}: {gist(error)}", fix))
    if any(mark in text for mark in _REFUSED) or isinstance(error, ValueError):
        return ConfigError(Fault(where, f"{found}: {gist(error)}", "Correct the address, or ask for the right to it."))
    return PufsError(Fault(where, f"{found}: {gist(error)}", FIX))


class Store:
    """A file system of Arrow; errors are OSErrors, after some patience where the place is not of this machine."""

    def __init__(self, files: fs.FileSystem) -> None:
        self._fs = files
        self.local = isinstance(files, fs.LocalFileSystem)
        self._given_up = False  # then what follows, such as clearing up, waits no more until it answers again

    def kind(self, place: str) -> fs.FileType:
        return self.info(place).type

    def info(self, place: str) -> fs.FileInfo:
        return self._ask(lambda: self._fs.get_file_info(place))

    def listed(self, folder: str, recursive: bool = False) -> list[fs.FileInfo]:
        wanted = fs.FileSelector(folder, allow_not_found=True, recursive=recursive)
        return list(self._ask(lambda: self._fs.get_file_info(wanted)))

    def read(self, place: str) -> bytes:
        def read() -> bytes:
            with self._fs.open_input_stream(place, compression=None) as file:
                return bytes(file.read())

        return self._ask(read)

    def put(self, place: str, data: bytes) -> None:
        def put() -> None:
            with self._fs.open_output_stream(place, compression=None) as file:
                file.write(data)

        self._ask(put)

    def make(self, folder: str) -> None:
        self._ask(lambda: self._fs.create_dir(folder, recursive=True))

    def delete(self, place: str) -> None:
        def delete() -> None:
            if self._fs.get_file_info(place).type == fs.FileType.File:  # a try whose answer was lost has done it
                self._fs.delete_file(place)

        self._ask(delete)

    def delete_folder(self, folder: str) -> None:
        def delete() -> None:
            if self._fs.get_file_info(folder).type == fs.FileType.Directory:
                self._fs.delete_dir(folder)

        self._ask(delete)

    def move(self, staged: str, place: str) -> None:
        """Show what was staged; done where nothing is staged any more but it was when this began."""
        if self.kind(staged) == fs.FileType.NotFound:
            raise FileNotFoundError(f"'{staged}' is not there")

        def move() -> None:
            if self._fs.get_file_info(staged).type != fs.FileType.NotFound:
                self._replace(staged, place)

        self._ask(move)

    def _replace(self, staged: str, place: str) -> None:
        if isinstance(self._fs, fs.HadoopFileSystem) and self._fs.get_file_info(place).type == fs.FileType.File:
            self._fs.delete_file(place)  # its rename replaces nothing
        self._fs.move(staged, place)

    def move_folder(self, staged: str, folder: str) -> None:
        """Stores of objects have no folders to move: there the files are copied."""
        if isinstance(self._fs, fs.LocalFileSystem | fs.HadoopFileSystem):
            self._fs.move(staged, folder)
            return
        self.make(folder)
        copied = {"source_filesystem": self._fs, "destination_filesystem": self._fs}
        self._ask(lambda: fs.copy_files(staged, folder, **copied))
        self.delete_folder(staged)

    def rows(self, folder: str) -> int:
        """Rows of a table of Parquet files."""
        return self._ask(lambda: int(dataset(folder, filesystem=self._fs, format="parquet").count_rows()))

    def _ask(self, question: Callable[[], Answer]) -> Answer:
        """The answer; a store that does not answer is asked again for a while, since all that is asked may be."""
        end, pause = time.monotonic() + PATIENCE, FIRST_PAUSE
        while True:
            try:
                answer = question()
                self._given_up = False
                return answer
            except OSError as error:
                late = self._given_up or time.monotonic() + pause > end
                if self.local or not may_pass(error) or late:
                    self._given_up = late
                    raise
                log.warning("a store does not answer, asked again in %.1f s: %s", pause, gist(error))
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


def may_pass(error: OSError) -> bool:
    """Whether the same question may be answered in a while."""
    gone = isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError | IsADirectoryError)
    return not gone and type(trouble(error, "", "")) is PufsError
