"""Settings for a JVM that is about to start, in files that only this user can read.

pyspark puts the settings of a session on the command line of the JVM, which every user of the machine can read. Here
they go into a properties file instead, and options of the JVM itself into a file of arguments, as Java calls it; both
are gone once the JVM has read them.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from spark_pufs.errors import ConfigError, EnvironmentFault, Fault
from spark_pufs.masking.texts import gist

__all__ = ["properties", "start_jvm"]

_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
_REMOTE = "SPARK_REMOTE"  # with it spark-submit would start no JVM of its own
_PROGRAM = "pyspark-shell"  # what pyspark asks spark-submit for
_JAVA_OPTIONS = ("spark.driver.extraJavaOptions", "spark.driver.defaultJavaOptions")


def start_jvm(conf: Mapping[str, str]) -> None:
    """Start the JVM that sessions of this process will use, unless it runs already; settings are given to it again by
    whoever makes a session, through the connection to it."""
    from pyspark import SparkContext

    with _launched_with(conf):
        SparkContext._ensure_initialized()


@contextmanager
def _launched_with(conf: Mapping[str, str]) -> Iterator[None]:
    """While it lasts, a JVM that pyspark starts reads ``conf`` besides the settings that users have set up."""
    before = {name: os.environ.pop(name, None) for name in (_ARGUMENTS, _REMOTE)}
    folder = Path(tempfile.mkdtemp(prefix="spark-pufs-"))  # mode 0700
    try:
        os.environ[_ARGUMENTS] = _arguments(before[_ARGUMENTS] or _PROGRAM, conf, folder)
        yield
    finally:
        os.environ.pop(_ARGUMENTS, None)
        os.environ.update({name: value for name, value in before.items() if value is not None})
        shutil.rmtree(folder, ignore_errors=True)


def _arguments(given: str, conf: Mapping[str, str], folder: Path) -> str:
    """The arguments of spark-submit with our file in them; a file that users name there is read into ours."""
    words, theirs = shlex.split(given), b""
    if "--properties-file" in words[:-1]:
        place = words.index("--properties-file")
        theirs = _read(Path(words[place + 1])) + b"\n"
        del words[place : place + 2]
    elif "--load-spark-defaults" not in words and (defaults := _defaults()).is_file():
        theirs = _read(defaults) + b"\n"  # which a file of ours would otherwise stand in for
    file = folder / "spark.properties"
    _write(file, theirs + properties(_with_java_options(conf, folder)))
    return shlex.join(["--properties-file", str(file), *words])


def _defaults() -> Path:
    """The settings of this installation of Spark; only Spark 4 can be told to read them beside another file."""
    from pyspark.find_spark_home import _find_spark_home

    return Path(os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home(), "conf"), "spark-defaults.conf")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        fault = Fault(f"Properties file '{path}'", f"cannot be read: {gist(error)}", f"Check {_ARGUMENTS}.")
        raise EnvironmentFault(fault) from error


def _with_java_options(conf: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The settings with the driver's own Java options, which may set passwords too, each in a file of arguments."""
    found = dict(conf)
    for name in _JAVA_OPTIONS:
        if found.get(name, "").strip():
            file = folder / name
            _write(file, "\n".join(map(_quoted, _options(name, found[name]))).encode())
            found[name] = f"@{file}"
    return found


def _options(name: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        fault = Fault(f"Setting 'spark.conf.{name}'", "has a quote that is not closed", "Close it.")
        raise ConfigError(fault) from error


def _quoted(option: str) -> str:
    return '"' + option.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _write(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def properties(conf: Mapping[str, str]) -> bytes:
    """Settings in Java's format, in ASCII.

    >>> print(properties({"a b": "x = y\\\\z", "c": "ä\\n"}).decode())
    a\\u0020b=x\\u0020\\u003d\\u0020y\\u005cz
    c=\\u00e4\\u000a
    <BLANKLINE>
    """
    return "".join(f"{_escaped(name)}={_escaped(value)}\n" for name, value in conf.items()).encode("ascii")


def _escaped(text: str) -> str:
    """Letters and digits as they are, all else by its number in UTF-16."""
    return "".join(one if one.isascii() and (one.isalnum() or one in "._-/") else _numbers(one) for one in text)


def _numbers(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
