"""Secrets reach Spark in files that only the user can read, and no command line, run directory or log holds them."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from spark_pufs.errors import ConfigError, EnvironmentFault
from spark_pufs.jobs.demo import write_example
from spark_pufs.spark import private_launch
from spark_pufs.spark.private_launch import properties

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = "spark.driver.extraJavaOptions"


def unescaped(data: bytes) -> dict[str, str]:
    """What Java reads: all but letters and digits is escaped, so that Python's escapes read the same."""
    return {_text(key): _text(value) for key, _, value in (line.partition("=") for line in data.decode().splitlines())}


def _text(escaped: str) -> str:
    halves = escaped.encode().decode("unicode_escape")
    return halves.encode("utf-16", "surrogatepass").decode("utf-16")


@pytest.mark.parametrize("value", ["plain", " pa ss ", "a=b:c#d!e", "back\\slash\n\ttab", "ü€", "\U0001f600", "'\""])
def test_any_value_stands_in_a_file_of_properties(value: str) -> None:
    assert unescaped(properties({"a.b": value, "a b=c": "1"})) == {"a.b": value, "a b=c": "1"}


class Seen:
    """What a JVM would find when it starts."""

    def __init__(self) -> None:
        self.words = private_launch.shlex.split(os.environ["PYSPARK_SUBMIT_ARGS"])
        self.file = Path(self.words[self.words.index("--properties-file") + 1])
        self.modes = [stat.S_IMODE(path.stat().st_mode) for path in (self.file.parent, *self.file.parent.iterdir())]
        self.text = self.file.read_text()
        self.remote = os.environ.get("SPARK_REMOTE")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Seen]:
    found: list[Seen] = []
    monkeypatch.setattr("pyspark.SparkContext._ensure_initialized", lambda: found.append(Seen()))
    return found


def test_settings_go_into_a_file_of_the_user_alone_and_the_file_goes(
    seen: list[Seen], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    monkeypatch.setenv("SPARK_REMOTE", "local[1]")
    private_launch.start_jvm({"spark.a.secret": "hunter two", OPTIONS: '-Da=\'x y\' -Db="q\\""'})
    (one,) = seen
    assert one.words[2:] == ["pyspark-shell"]
    assert one.modes == [0o700, 0o600, 0o600]
    assert unescaped(one.text.encode()) == {"spark.a.secret": "hunter two", OPTIONS: f"@{one.file.parent / OPTIONS}"}
    assert one.remote is None
    assert not one.file.parent.exists()
    assert "PYSPARK_SUBMIT_ARGS" not in os.environ
    assert os.environ["SPARK_REMOTE"] == "local[1]"


def test_options_of_the_jvm_are_quoted_as_java_reads_them(tmp_path: Path) -> None:
    private_launch._with_java_options({OPTIONS: "-Da='x y' -Db=c\\\\d"}, tmp_path)
    assert (tmp_path / OPTIONS).read_text() == '"-Da=x y"\n"-Db=c\\\\d"'
    with pytest.raises(ConfigError, match="has a quote that is not closed"):
        private_launch._with_java_options({OPTIONS: "-Da='x"}, tmp_path)


def test_the_defaults_of_the_installation_count_and_ours_come_after_them(
    seen: list[Seen], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.a 1\nspark.b 1")
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    private_launch.start_jvm({"spark.a": "2"})
    assert seen[0].text == "spark.a 1\nspark.b 1\nspark.a=2\n"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--load-spark-defaults pyspark-shell")  # Spark 4 reads them itself
    private_launch.start_jvm({"spark.a": "2"})
    assert seen[1].text == "spark.a=2\n"


def test_what_users_set_up_counts_too(seen: list[Seen], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("theirs 1")
    given = f"--jars a.jar --properties-file {tmp_path / 'own'} pyspark-shell"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", given)
    private_launch.start_jvm({"spark.a": "2"})
    assert seen[0].words[2:] == ["--jars", "a.jar", "pyspark-shell"]
    assert seen[0].text == "theirs 1\nspark.a=2\n"
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == given
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--properties-file /nowhere pyspark-shell")
    with pytest.raises(EnvironmentFault, match="Properties file '/nowhere': cannot be read"):
        private_launch.start_jvm({})


SECRETS = {
    "spark.hadoop.fs.s3a.secret.key": "Q1 w'o\"rd=#",
    "spark.hadoop.es.net.http.auth.pass": "Q2pass",
    "spark.hadoop.encryption.key": "Q3key",
    "spark.kafka.sasl.jaas.config": 'Login required username="u" password="Q4 jaas";',
    OPTIONS: "-Dmy.trustStorePassword=Q5options",
    "spark.some.number": 987654321012,
}
MARKS = ["Q1 w", "Q2pass", "Q3key", "Q4 jaas", "Q5options", "987654321012", "Q6login", "Q7asked", "Q8option"]

SCRIPT = """
import glob, json, sys
from spark_pufs.cli import run
code = run(["-v", "select", "--config", sys.argv[1]])
from pyspark import SparkContext
jvm = SparkContext._jvm
lines = []
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        lines.append(open(path, "rb").read().decode(errors="replace"))
    except OSError:
        pass
conf = {name: SparkContext._active_spark_context.getConf().get(name) for name in json.loads(sys.argv[2])}
with open(sys.argv[3], "w") as file:
    option = jvm.System.getProperty("my.trustStorePassword")
    json.dump({"code": code, "lines": lines, "conf": conf, "option": option}, file)
"""


@pytest.mark.integration
def test_no_secret_is_on_a_command_line_in_the_run_directory_or_in_what_is_printed(tmp_path: Path) -> None:
    write_example(tmp_path / "table.parquet")
    config = {
        "source": {"path": str(tmp_path / "table.parquet"), "options": {"my.credentials": "Q8option"}},
        "label": {"column": "label"},
        "features": {"keep": ["row_id"]},
        "select": {"method": "semi-mim", "k": 2},
        "output": {"path": str(tmp_path / "run")},
        "spark": {"master": "local[1]", "conf": {**SECRETS, "spark.my.place": "https://me:Q6login@h/x?code=Q7asked"}},
    }
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(config))
    arguments = [str(tmp_path / "c.yaml"), yaml_names(), str(tmp_path / "seen.json")]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    seen = yaml.safe_load((tmp_path / "seen.json").read_text())
    assert seen["code"] == 0, done.stderr
    assert seen["conf"] == {name: str(value) for name, value in SECRETS.items() if name != OPTIONS}
    assert seen["option"] == "Q5options"
    assert any("SparkSubmit" in line and "--properties-file" in line for line in seen["lines"])
    written = [path.read_bytes().decode(errors="replace") for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert len(written) >= 6
    logs = [path.read_text(errors="replace") for path in tmp_path.glob("*.log")]
    for mark in MARKS:
        assert [text for text in (*seen["lines"], *written, *logs, done.stdout, done.stderr) if mark in text] == []


def yaml_names() -> str:
    return "[" + ", ".join(f'"{name}"' for name in SECRETS if name != OPTIONS) + "]"
