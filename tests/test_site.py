"""The documentation builds as a site without a warning, and the API reference on it documents all that is public."""

from __future__ import annotations

import html
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import spark_pufs
from spark_pufs.local import PUSelector

ROOT = Path(__file__).resolve().parents[1]

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("mkdocs", "material", "mkdocstrings")),
        reason="mkdocs is not installed: the site is built with the extra `docs`",
    ),
]

FUNCTIONS = [name for name in spark_pufs.__all__ if inspect.isfunction(getattr(spark_pufs, name))]


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = python("-m", "mkdocs", "build", "--strict", "--site-dir", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def api(site: Path) -> str:
    """The text of the API reference: no tags, one space between words."""
    page = (site / "api" / "index.html").read_text(encoding="utf-8")
    return plain(html.unescape(re.sub(r"<[^>]+>", "", page)))


def plain(text: str) -> str:
    return " ".join(text.split())


def test_it_builds_without_a_warning(site: Path) -> None:
    assert (site / "index.html").is_file()
    assert (site / "repository" / "CONTRIBUTING" / "index.html").is_file()
    assert (site / "repository" / "conf" / "select_features.yaml").is_file()


def test_it_loads_nothing_from_elsewhere(site: Path) -> None:
    loaded = re.compile(r"<(?:script|img|link rel=\"(?:stylesheet|preconnect)\")[^>]+(?:src|href)=\"https?://[^\"]+")
    assert {page.parent.name: loaded.findall(page.read_text("utf-8")) for page in site.rglob("*.html")
            if loaded.search(page.read_text("utf-8"))} == {}  # fmt: skip


def test_what_pages_printed_is_shown_as_output(site: Path) -> None:
    page = (site / "tutorial" / "index.html").read_text(encoding="utf-8")
    assert '<span class="filename">Output</span>' in page
    assert "```" not in page


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_documented(name: str, api: str) -> None:
    function = getattr(spark_pufs, name)
    first = inspect.getdoc(function).split("\n\n")[0].replace("``", "")
    assert plain(first) in api
    for parameter in inspect.signature(function).parameters:
        assert re.search(rf"\b{parameter}\b", api), parameter


@pytest.mark.parametrize("thing", [spark_pufs.Selection, PUSelector], ids=lambda thing: thing.__name__)
def test_classes_show_what_they_hold(thing: type, api: str) -> None:
    """Fields of a dataclass, parameters of a transformer."""
    signature = api.split(f" {thing.__name__}( ")[1].split(" ) ")[0]
    names = [name for name in inspect.signature(thing).parameters if name != "self"]
    assert [name for name in names if f"{name}: " not in signature and f"{name}=" not in signature] == []


def test_examples_are_blocks_of_code(api: str) -> None:
    assert ">>> import" in api
    assert "> > >" not in api


@pytest.mark.parametrize("script", ["docs/site/hooks.py", "docs/site/docstrings.py"])
def test_examples_of_the_scripts_run(script: str) -> None:
    done = python("-m", "doctest", script)
    assert done.returncode == 0, done.stdout + done.stderr
