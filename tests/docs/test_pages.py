"""The examples in README and docs run as they stand, print what the pages say, and links lead somewhere."""

from __future__ import annotations

import io
import math
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from spark_pufs.jobs.config import parse
from support.pages import KINDS, PAGES, ROOT, blocks, name_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Data that a page reads from the working directory, by their place in the shared folder.
DATA = {"docs/tutorial.md": "rt_iot2022/rt_iot2022.parquet"}
# Pages with Spark that another test runs, there on classic Spark and on Spark Connect.
ELSEWHERE = {"docs/pipelines.md": "tests/spark/ml/test_ml.py"}
# Code that is shown and not run, and why.
SHOWN = {
    "docs/airflow.md": "a DAG of the user's own that follows ours; its like runs in tests/integration/test_airflow.py",
    "docs/places.md": "a notebook's own session, a Connect server's address",
}

WITH_PYTHON = [page for page in PAGES if blocks(page, "python") and not blocks(page, "py")]
WITH_SPARK = [page for page in PAGES if blocks(page, "py") and name_of(page) not in ELSEWHERE]


def run(page: Path, names: dict[str, object]) -> dict[str, object]:
    """Every block in one namespace, which is returned, and what it prints beside what the page says."""
    printed = ""
    for block in blocks(page, "python", "py", "text"):
        if block.kind != "text":
            out = io.StringIO()
            code = "\n" * (block.line - 1) + block.text  # so that a traceback names the line of the page
            with redirect_stdout(out):
                exec(compile(code, name_of(page), "exec"), names)  # the text is our own documentation
            printed = out.getvalue()
        elif "output" in block.words:
            assert_same(printed, block.text, f"{name_of(page)}:{block.line}")
    return names


def assert_same(printed: str, shown: str, where: str) -> None:
    """Equal but for spaces, and for the last digits of numbers: other versions of libraries round otherwise."""
    got, wanted = printed.split(), shown.split()
    assert len(got) == len(wanted), f"{where}: printed\n{printed}"
    for one, other in zip(got, wanted, strict=True):
        assert one == other or _near(one, other), f"{where}: printed {one}, shown {other}, in\n{printed}"


def _near(one: str, other: str) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=0.02, abs_tol=0.02)
    except ValueError:
        return False


def prepared(page: Path, folder: Path, request: pytest.FixtureRequest) -> None:
    """The data that a page reads, in the working directory."""
    if name_of(page) in DATA:
        source = request.getfixturevalue("shared_data") / DATA[name_of(page)]
        (folder / source.name).symlink_to(source)


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name_of)
def test_examples_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    prepared(page, tmp_path, request)
    monkeypatch.chdir(tmp_path)
    assert "spark_pufs" in run(page, {})


@pytest.mark.spark
@pytest.mark.parametrize("page", WITH_SPARK, ids=name_of)
def test_examples_with_spark_run(
    page: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    prepared(page, tmp_path, request)
    monkeypatch.chdir(tmp_path)
    assert "spark_pufs" in run(page, {"spark": spark})


@pytest.mark.parametrize(("page", "test"), ELSEWHERE.items())
def test_pages_run_elsewhere(page: str, test: str) -> None:
    assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_has_a_kind(page: Path) -> None:
    assert {block.kind for block in blocks(page)} <= set(KINDS)


def test_code_that_is_only_shown_is_listed() -> None:
    looks_like_code = re.compile(r"^(?:import |from \w+ import|.*\bspark_pufs\.\w+\()", re.MULTILINE)
    shown = [(name_of(page), block.text) for page in PAGES for block in blocks(page, "text", "")]
    found = {page for page, text in shown if looks_like_code.search(text)}
    assert found == set(SHOWN)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "yaml")], ids=name_of)
def test_configurations_are_valid(page: Path) -> None:
    for block in blocks(page, "yaml"):
        assert parse(yaml.safe_load(block.text)).request()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"", text)
    relative = [link for pair in links for link in pair if link and ":" not in link]
    broken = [link for link in relative if not _leads(page, link)]
    assert broken == []


def _leads(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in _anchors(target))


def _anchors(page: Path) -> set[str]:
    """Headings as GitHub turns them into anchors."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)", index.read_text("utf-8"))}
    assert [name_of(page) for page in PAGES if page != index and page.resolve() not in linked] == []
