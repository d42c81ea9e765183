"""Secrets are shown to nobody: not in messages, logs, kept settings, manifests or reports; and *** is never a value."""

from __future__ import annotations

import copy
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
from spark_pufs.cli.log_lines import Masked
from spark_pufs.errors import ConfigError, Fault, PufsError
from spark_pufs.jobs.config import RunConfig, parse, resolved, with_overrides
from spark_pufs.jobs.select_job import resume
from spark_pufs.jobs.settings_shown import places_masked
from spark_pufs.masking.addresses import Address, address_shown
from spark_pufs.masking.hidden import Secret, known_address
from spark_pufs.masking.texts import MASK, foreign, masked
from spark_pufs.rundir.folder import RunFolder
from support.configurations import load_config

SECRET = "Xy7/gH+q"
ADDRESSES = [
    (f"s3://AKIA42:{SECRET}@bucket/table", "s3://***@bucket/table"),
    (f"s3://:{SECRET}@bucket/table", "s3://***@bucket/table"),
    (f"https://h/p?sv=2024&sig={SECRET}%3D&se=1", "https://h/p?***"),
    (f"https://h/p?token={SECRET}", "https://h/p?***"),
    (f"https://h/p?code={SECRET}", "https://h/p?***"),
    (f"https://h/p#{SECRET}", "https://h/p#***"),
    (f"https://{SECRET}@host/p", "https://***@host/p"),
    (f"https://user@corp:{SECRET}@host:8443/p", "https://***@host:8443/p"),
    (f"jdbc:postgresql://h:5432/db?user=me&password={SECRET}", "jdbc:postgresql://h:5432/db?***"),
    (f"jdbc:sqlserver://h:1433;user=me;password={SECRET};ssl=true", "jdbc:sqlserver://h:1433;***"),
    (f"jdbc:sqlserver://h:1433;user=me;password={SECRET}@1", "jdbc:sqlserver://***"),
    (f"jdbc:oracle:thin:scott/{SECRET}@h:1521/x", "jdbc:oracle:***"),
    (f"jdbc:mysql://(host=h,password={SECRET})/db", "jdbc:mysql://***"),
    (f"sc://h:15002/;token={SECRET};user_id=me", "sc://h:15002/;***"),
    (f"k8s://https://me:{SECRET}@h:443", "k8s://https://***@h:443"),
    (f"abfss://c:{SECRET}@account.dfs.core.windows.net/t", "abfss://***@account.dfs.core.windows.net/t"),
    (f"mongodb+srv://me:{SECRET}@h/db?w=majority", "mongodb+srv://***@h/db?***"),
]  # fmt: skip
PLAIN = [
    "hdfs://name:8020/user/me@home/table",
    "abfss://container@account.dfs.core.windows.net/table",
    "s3://bucket/a@c/part-*.parquet",
    "spark://one:7077,two:7077",
    "http://[::1]:4040/jobs",
    "file:///home/me@here/table",
    "Column 'token=1': determines the label of every row",
    "Column 'user.token': is constant",
    "path/to/table, seed: 7, C:\\tables\\x",
]


@pytest.mark.parametrize(("text", "shown"), ADDRESSES)
def test_secrets_go_and_the_rest_stays(text: str, shown: str) -> None:
    assert address_shown(text) == shown
    assert f"{Address(text)} {Address(text)!r} {[Address(text)]}".count(SECRET) == 0
    assert masked(text) == shown
    assert masked(f"Source '{text}': cannot be read.") == f"Source '{shown}': cannot be read."
    assert masked(shown) == shown


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("s3://bucket/a:b@c/t", "s3://bucket/a:b@c/t"),  # a path of a bucket may hold all of this
        ("AccountName=me;AccountKey=abc==;EndpointSuffix=x", "***"),
        ("me:secret@host/table", "***@host/table"),
        ("host/container/x?sv=1&sig=abc", "host/container/x?***"),
        ("data/day=1/part-?.csv", "data/day=1/part-?.csv"),
        ("C:\\tables\\me@home", "C:\\tables\\me@home"),
        ("local[*]", "local[*]"),
        ("", ""),
    ],
)
def test_what_is_given_as_a_path_may_still_hold_a_secret(text: str, shown: str) -> None:
    assert address_shown(text) == shown


@given(st.text(min_size=1))
@example("a:b/c")
@example("8020/x")
@example("pa ss'wo\"rd")
@example("8020/x?#;")
def test_no_password_of_an_address_is_left(secret: str) -> None:
    for scheme in ("s3", "https", "jdbc:postgresql"):
        shown = address_shown(f"{scheme}://user:{secret}0@bucket/x")
        assert shown in (f"{scheme}://***@bucket/x", f"{scheme}://***")


@given(st.text(st.characters(exclude_categories=("Cc", "Zl", "Zp")), min_size=6))
def test_no_password_of_an_address_is_left_in_a_text(secret: str) -> None:
    text = masked(f"Output 's3://user:{secret}0@bucket/x': no")
    assert text in ("Output 's3://***@bucket/x': no", "Output 's3://***': no")


FOREIGN = [
    ('LoginModule required username="me" password="pa ss";', 'LoginModule required username="me" password=***'),
    ("-Djavax.net.ssl.trustStorePassword=a b -Xmx1g", "-Djavax.net.ssl.trustStorePassword=***"),
    ("Server=h;Uid=me;Pwd=x y;Encrypt=yes", "Server=h;Uid=me;Pwd=***"),
    ("DefaultEndpointsProtocol=https;AccountKey=abc==", "DefaultEndpointsProtocol=https;AccountKey=***"),
    ("es.net.http.auth.pass -> x, es.nodes -> h", "es.net.http.auth.pass -> ***"),
    ("'spark.hadoop.fs.s3a.secret.key': 'x 2'", "'spark.hadoop.fs.s3a.secret.key': ***"),
    ('{"password":\n  "x",\n  "a": 1}', '{"password":***\n***\n  "a": 1}'),
    ("Authorization: Basic abc", "Authorization: ***"),
    ("sent Bearer abc.def", "sent Bearer ***"),
    ("key -----BEGIN PRIVATE KEY-----\nabc", "key ***"),
    ("Table or view not found: lake.flows", "Table or view not found: lake.flows"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown"), FOREIGN)
def test_words_of_others_end_where_a_secret_may_begin(text: str, shown: str) -> None:
    assert foreign(text) == shown


def test_a_secret_that_is_known_is_found_in_the_words_of_others() -> None:
    kept = Secret("my pa$$ phrase"), known_address("https://me:s3cr/t@host/x?code=abc%2Fdef")
    said = "no login: my pa$$ phrase, my%20pa%24%24%20phrase, s3cr/t, abc/def"
    assert foreign(said) == "no login: ***, ***, ***, ***"
    assert f"{kept[0]} {kept!r}" == "*** (***, Address('https://***@host/x?***'))"
    with pytest.raises(TypeError, match="a secret is not sent or kept"):
        copy.copy(kept[0])


NAMES = [
    "spark.hadoop.fs.s3a.secret.key", "spark.hadoop.fs.s3a.access.key", "spark.ssl.keyPassword", "password",
    "spark.hadoop.fs.azure.account.key.me.dfs.core.windows.net", "spark.kubernetes.authenticate.oauthToken",
    "fs.azure.account.oauth2.client.secret", "sessionToken", "api_key", "credentials", "pass", "auth", "sas", "bearer",
    "encryption.key", "es.net.http.auth.pass", "spark.kafka.sasl.jaas.config", "spark.sql.catalog.lake.password",
    "spark.sql.catalog.lake.uri", "spark.executorEnv.X", "spark.driver.extraJavaOptions", "spark.a.name.nobody.knows",
    "spark.shuffle.service.secretThing", "spark.redaction.string.regex",
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
        "Give it again: --set-file or --set with this name and the value."
    )
    again = load_config(tmp_path / "config.yaml", [f"spark.conf.{name}={SECRET}"])
    assert again == given


def test_every_masked_place_is_named_at_once(tmp_path: Path) -> None:
    options = {"password": SECRET, "url": ADDRESSES[8][0], "dbtable": "(select 1)", "pin": 1234, "header": True}
    source = {"path": ADDRESSES[0][0], "format": "jdbc", "options": options}
    kept = resolved(parse(config(source=source, output={"path": ADDRESSES[3][0]}, select={"costs": {"token_age": 2}})))
    assert b"1234" not in kept
    assert SECRET.encode() not in kept
    values = yaml.safe_load(kept)
    assert values["select"]["costs"] == {"token_age": 2}
    assert list(places_masked(values)) == [
        "source.path",
        "source.options.password",
        "source.options.url",
        "source.options.dbtable",
        "source.options.pin",
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
    assert (used[0].source.path, used[0].output.path) == (Address(ADDRESSES[0][0]), Address(str(tmp_path)))


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
    with pytest.raises(ConfigError, match=r"is not YAML: while parsing a flow mapping .*, line 2, column 6\. Fix") as c:
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


def test_what_a_terminal_obeys_is_shown_in_all_that_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    red, page = "\x1b[31mred\x9b2J\n", tmp_path / "t.parquet"
    table = pd.DataFrame({red: [1, 2] * 50, "b": [3, 3, 4, 4] * 25, "label": [1, 0] * 50})
    found = spark_pufs.select(table, label="label", method="semi-mim", k=1)
    assert str(found).splitlines()[0] == r"semi-mim: 1 of 2 features: \x1b[31mred\x9b2J\n"
    table.to_parquet(page)
    line = ["select", str(page), "--label", "label", "-k", "1", "--method", "semi-mim"]
    for day in ("monday", "tuesday"):
        assert run([*line, "--out", str(tmp_path / day)]) == 0
    assert run(["diff", str(tmp_path / "monday"), str(tmp_path / "tuesday")]) == 0
    assert run(["history", str(tmp_path)]) == 0
    printed = "".join(capsys.readouterr())
    assert r"\x1b[31mred\x9b2J\n" in printed
    assert not {"\x1b", "\x9b"} & set(printed)
    assert run(["diff", str(tmp_path / "monday"), str(tmp_path / "tuesday"), "--json"]) == 0
    printed = capsys.readouterr().out
    assert not {"\x1b", "\x9b"} & set(printed)
    assert json.loads(printed)["stayed"][0]["name"] == red
