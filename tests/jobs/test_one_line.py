"""What one line stands for: the source that a word means, the settings, the folder of the results."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from spark_pufs.errors import ConfigError, DataError
from spark_pufs.jobs.compare_job import EXAMPLE as COMPARE_EXAMPLE
from spark_pufs.jobs.compare_job import CompareConfig
from spark_pufs.jobs.config import EXAMPLE, RunConfig
from spark_pufs.jobs.one_line import OneLine, as_yaml, save_config, source_of
from spark_pufs.jobs.small_tables import check_there
from support.configurations import load_config


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("flows.csv", "csv"),
        ("flows.TSV", "csv"),
        ("flows.parquet", "parquet"),
        ("flows.snappy.parquet", "parquet"),
        ("flows.json.gz", "json"),
        ("flows.jsonl", "json"),
        ("flows.orc", "orc"),
        ("flows.feather", "arrow"),
    ],
)
def test_the_end_of_a_name_tells_the_format(tmp_path: Path, name: str, format_: str) -> None:
    (tmp_path / name).write_bytes(b"a,b\n1,2\n")
    assert source_of(str(tmp_path / name)) == {"path": str(tmp_path / name), "format": format_}


@pytest.mark.parametrize(("head", "separator"), [("a;b;c,d", ";"), ("a\tb", "\t"), ("a|b", "|")])
def test_the_first_line_tells_the_separator(tmp_path: Path, head: str, separator: str) -> None:
    (tmp_path / "t.csv").write_text(f"{head}\n")
    assert source_of(str(tmp_path / "t.csv"))["options"] == {"sep": separator}


def test_a_folder_is_of_the_format_of_its_files(tmp_path: Path) -> None:
    inner = tmp_path / "day=2026-01-01"
    inner.mkdir()
    (inner / "part-0.csv").write_text("a;b\n")
    (inner / "_SUCCESS").write_text("")
    assert source_of(str(inner)) == {"path": str(inner), "format": "csv", "options": {"sep": ";"}}
    assert source_of(str(tmp_path))["format"] == "csv"


def test_what_is_no_file_may_be_an_address_or_a_table_of_a_catalog() -> None:
    assert source_of("hdfs://head/flows") == {"path": "hdfs://head/flows", "format": "parquet"}
    assert source_of("main.lake.flows") == {"table": "main.lake.flows"}


def test_a_file_that_is_not_there_is_found_by_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("a\n")
    with pytest.raises(DataError, match=r"flow\.csv': does not exist\. Did you mean 'flows\.csv'\?"):
        source_of(str(tmp_path / "flow.csv"))
    with pytest.raises(DataError, match=r"Table 'nowhere/x\.csv': does not exist\. Check the path"):
        source_of("nowhere/x.csv")


@pytest.mark.parametrize("name", ["~no-one-of-that-name/x", "x" * 300, "a\0b"])
def test_names_that_no_file_can_have(name: str) -> None:
    with pytest.raises(DataError, match="does not exist"):
        source_of(name)


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    assert source_of(str(tmp_path / "pipe.csv"))["format"] == "csv"
    for place in (tmp_path / "pipe.csv", tmp_path):
        with pytest.raises(DataError, match=r"'pipe\.csv' is a pipe or a device\. Write it to a file first\."):
            check_there(str(place))
    config = RunConfig(source={"path": "t.csv"}, label={"column": "l"}, output={"path": "o"})
    with pytest.raises(ConfigError, match="cannot be written: is a pipe or a device"):
        save_config(tmp_path / "pipe.csv", config)


def test_a_name_that_does_not_tell_its_format(tmp_path: Path) -> None:
    (tmp_path / "flows.dat").write_text("a,b\n")
    with pytest.raises(ConfigError, match=r"does not tell its format\. Name it: --format arrow, csv, json, orc, parq"):
        source_of(str(tmp_path / "flows.dat"))
    assert source_of(str(tmp_path / "flows.dat"), "csv")["format"] == "csv"


def test_the_line_is_a_configuration(tmp_path: Path) -> None:
    line = OneLine("lake.flows", "kind", positive=["fraud", "1", "01", "yes"], unlabelled=["*"], exclude=["id*"], k="5")
    config = line.config(RunConfig, ["select.bins=7"], EXAMPLE)
    assert config.request().label.positive == ("fraud", 1, "01", "yes")
    assert (config.request().k, config.request().bins, config.request().exclude) == (5, 7, ("id*",))
    save_config(tmp_path / "job.yaml", config)
    assert load_config(tmp_path / "job.yaml") == config
    assert yaml.safe_load(as_yaml(config)) == {
        "source": {"table": "lake.flows"},
        "label": {"column": "kind", "positive": ["fraud", 1, "01", "yes"], "unlabelled": ["*"]},
        "features": {"exclude": ["id*"]},
        "select": {"method": "distil", "k": 5, "bins": 7},
        "output": {"path": "runs/lake-flows-distil-k5", "overwrite": True},
    }


def test_a_file_with_other_settings_is_not_replaced(tmp_path: Path) -> None:
    first, second = (OneLine("lake.flows", "s", k=k).config(RunConfig, [], EXAMPLE) for k in ("5", "6"))
    save_config(tmp_path / "job.yaml", first)
    save_config(tmp_path / "job.yaml", first)
    with pytest.raises(ConfigError, match=r"is there already, with other settings\. Name another file\."):
        save_config(tmp_path / "job.yaml", second)
    with pytest.raises(ConfigError, match="cannot be written"):
        save_config(tmp_path / "nowhere" / "job.yaml", first)


def test_a_secret_is_not_shown() -> None:
    config = OneLine("lake.flows", "s").config(RunConfig, ["spark.conf.my.password=hunter2"], EXAMPLE)
    assert "hunter2" not in as_yaml(config)


def test_results_go_where_they_are_sent_and_are_not_replaced_unasked() -> None:
    sent = OneLine("lake.flows", "s", out="runs/x").config(RunConfig, [], EXAMPLE)
    assert (sent.output.path.given, sent.output.overwrite) == ("runs/x", False)
    assert OneLine("lake.flows", "s", out="x", overwrite=True).config(RunConfig, [], EXAMPLE).output.overwrite
    compared = OneLine("lake.flows", "s", methods=["mim", "jmi"], k="3").config(CompareConfig, [], COMPARE_EXAMPLE)
    assert compared.output.path.given == "runs/lake-flows-compare-k3"
    assert compared.compare.methods == ["mim", "jmi"]
