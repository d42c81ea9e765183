"""Secrets are shown to nobody: not in messages, logs, kept settings, manifests or reports; and *** is never a value."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

import spark_pufs
from spark_pufs.cli import run
from spark_pufs.cli.commands import Masked
from spark_pufs.errors import ConfigError, Fault, PufsError
from spark_pufs.jobs.config import RunConfig, load_config, parse, resolved, with_overrides
from spark_pufs.jobs.select_job import resume
from spark_pufs.masking import MASK, masked, masked_settings, places_masked
from spark_pufs.rundir.folder import RunFolder

SECRET = "Xy7/gH+q"
ADDRESSES = [
    (f"s3://AKIA42:{SECRET}@bucket/table", "s3://***@bucket/table"),
    (f"s3://:{SECRET}@bucket/table", "s3://***@bucket/table"),
    (f"https://h/p?sv=2024&sig={SECRET}%3D&se=1", "https://h/p?sv=2024&sig=***&se=1"),
    (f"https://h/p?token={SECRET}", "https://h/p?token=***"),
    (f"https://h/p?X-Amz-Signature={SECRET}&a=b", "https://h/p?X-Amz-Signature=***&a=b"),
    (f"jdbc:postgresql://h:5432/db?user=me&password={SECRET}", "jdbc:postgresql://h:5432/db?user=me&password=***"),
    (f"jdbc:sqlserver://h:1433;user=me;password={SECRET};ssl=true", "jdbc:sqlserver://h:1433;user=me;password=***;ssl=true"),
    (f"jdbc:oracle:thin:scott/{SECRET}@h:1521/x", "jdbc:oracle:thin:***@h:1521/x"),
    (f"-Djavax.net.ssl.trustStorePassword={SECRET} -Xmx1g", "-Djavax.net.ssl.trustStorePassword=*** -Xmx1g"),
    (f"'spark.hadoop.fs.s3a.secret.key': '{SECRET} 2'", "'spark.hadoop.fs.s3a.secret.key': ***"),
]  # fmt: skip
PLAIN = [
    "hdfs://name:8020/user/me@home/table",
    "abfss://container@account.dfs.core.windows.net/table",
    "s3://bucket/a:b@c/part-*.parquet",
    "spark://host:7077",
    "Column 'token=1': tells the label of every row",
    "path/to/table, seed: 7, C:\\tables\\x",
]


@pytest.mark.parametrize(("text", "shown"), ADDRESSES)
def test_secrets_go_and_the_rest_stays(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert masked(f"Source '{text}': cannot be read.") == f"Source '{shown}': cannot be read."
    assert masked(shown) == shown


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text
    assert masked_settings({"path": text}) == {"path": text}


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="'\"<>`@"), min_size=6))
@example("a:b/c")
@example("8020/x")
def test_no_password_of_an_address_is_left(secret: str) -> None:
    assert masked(f"Output 's3://user:{secret}0@bucket/x': no") == "Output 's3://***@bucket/x': no"


NAMES = [
    "spark.hadoop.fs.s3a.secret.key", "spark.hadoop.fs.s3a.access.key", "spark.ssl.keyPassword", "password",
    "spark.hadoop.fs.azure.account.key.me.dfs.core.windows.net", "spark.kubernetes.authenticate.oauthToken",
    "fs.azure.account.oauth2.client.secret", "sessionToken", "api_key",
]  # fmt: skip


def config(**sections: Any) -> dict[str, Any]:
    base = {"source": {"path": "x"}, "label": {"column": "label"}, "output": {"path": "o"}}
    return base | sections


@pytest.mark.parametrize("name", NAMES)
def test_settings_with_secret_names_are_kept_masked_and_asked_for_again(tmp_path: Path, name: str) -> None:
    given = parse(config(spark={"conf": {name: SECRET, "spark.sql.shuffle.partitions": "4"}}))
    kept = resolved(given)
    assert SECRET.encode() not in kept
    assert yaml.safe_load(kept)["spark"]["conf"] == {name: MASK, "spark.sql.shuffle.partitions": "4"}
    (tmp_path / "config.yaml").write_bytes(kept)
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path / "config.yaml")
    assert str(caught.value) == (
        f"Setting 'spark.conf.{name}': *** stands for a secret, which is not kept. "
        "Give it again: --set with this name and the value."
    )
    again = load_config(tmp_path / "config.yaml", [f"spark.conf.{name}={SECRET}"])
    assert again == given


def test_every_masked_place_is_named_at_once(tmp_path: Path) -> None:
    source = {"path": ADDRESSES[0][0], "format": "jdbc", "options": {"password": SECRET, "url": ADDRESSES[5][0]}}
    kept = resolved(parse(config(source=source, output={"path": ADDRESSES[3][0]}, select={"costs": {"token_age": 2}})))
    assert SECRET.encode() not in kept
    values = yaml.safe_load(kept)
    assert values["select"]["costs"] == {"token_age": 2}
    assert list(places_masked(values)) == [
        "source.path",
        "source.options.password",
        "source.options.url",
        "output.path",
    ]


def test_the_answer_does_not_hang_on_where_the_table_lies() -> None:
    one, other = (parse(config(source={"path": path})).request() for path in (ADDRESSES[0][0], ADDRESSES[0][1]))
    assert one == other


def test_resume_asks_for_secrets_and_never_uses_the_mask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[RunConfig] = []
    monkeypatch.setattr("spark_pufs.jobs.select_job.run_select", lambda config, note: used.append(config))
    given = parse(config(source={"path": ADDRESSES[0][0]}, output={"path": "s3://a:b@c/d"}))
    RunFolder(tmp_path).write("config.pending.yaml", resolved(given))
    with pytest.raises(ConfigError, match=r"^Setting 'source\.path': \*\*\* stands for a secret"):
        resume(str(tmp_path))
    assert used == []
    resume(str(tmp_path), [f"source.path={ADDRESSES[0][0]}"])
    assert (used[0].source.path, used[0].output.path) == (ADDRESSES[0][0], str(tmp_path))


def test_faults_and_tracebacks_in_logs_are_masked(caplog: pytest.LogCaptureFixture) -> None:
    address, shown = ADDRESSES[0]
    fault = Fault(f"Output '{address}'", f"cannot be written: {address}", f"Try {address}.")
    assert SECRET not in f"{fault} {fault!r} {PufsError(fault)} {PufsError([fault, fault])}"
    assert shown in fault.where
    try:
        raise OSError(address)
    except OSError:
        logging.getLogger("spark_pufs").warning("failed at %s", address, exc_info=True)
    line = Masked("%(message)s").format(caplog.records[-1])
    assert SECRET not in line
    assert "OSError" in line


def test_wrong_values_of_secret_settings_are_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(config(spark={"conf": {"spark.ssl.keyPassword": [12345]}}))
    assert "12345" not in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        with_overrides({}, [f"source.options={{password: {SECRET}"])
    assert str(caught.value) == "Override 'source.options': its value is not YAML. Quote it."
    (tmp_path / "bad.yaml").write_text(f"source: {{options: {{password: {SECRET}\nlabel: x")
    with pytest.raises(
        ConfigError, match=r"is not YAML: while parsing a flow mapping .*, line 2, column 6\. Mend"
    ) as c:
        load_config(tmp_path / "bad.yaml")
    assert SECRET not in str(c.value)


def test_the_command_shows_no_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(config(output={"path": f"nonsense://me:{SECRET}@host/x"})))
    assert run(["-v", "select", "--config", str(path)]) == 2
    printed = "".join(capsys.readouterr())
    assert "Output 'nonsense://***@host/x': cannot be used" in printed
    assert SECRET not in printed


def test_reports_and_files_show_no_secret(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    address, shown = ADDRESSES[3]
    table = pd.DataFrame(X, columns=["a", "token=1", "c"]).assign(origin=np.where(X[:, 2] > 0, address, "x"))
    table["label"] = np.where(X[:, 0] > 0.8, f"s3://k:{SECRET}@b", "no")
    selection = spark_pufs.select(
        table, label="label", positive=f"s3://k:{SECRET}@b", unlabelled="no", method="semi-mim", k=4
    )
    selection.write(tmp_path)
    for path in tmp_path.iterdir():
        assert SECRET.encode() not in path.read_bytes(), path.name
    written = json.loads((tmp_path / "selection.json").read_text())
    assert sorted(written["names"]) == ["a", "c", "origin", "token=1"]  # names are the answer: they stay
    assert written["request"]["label"]["positive"] == ["s3://***@b"]
    assert shown in (tmp_path / "report.html").read_text()
