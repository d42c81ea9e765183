"""The files around the code say the same as the code: workflows, the lock, the citation, the templates."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import spark_pufs

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_workflows_are_there() -> None:
    assert [path.stem for path in WORKFLOWS] == ["build", "docs", "release", "test"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_rights_are_small(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        used = [step["uses"] for step in job.get("steps", []) if "uses" in step]
        assert [name for name in used if not re.search(r"@(?:release/)?v\d+$", name)] == []
        assert "uses" in job or job["timeout-minutes"] <= 60


def test_every_supported_python_is_tested() -> None:
    jobs = read(ROOT / ".github" / "workflows" / "test.yml")["jobs"]
    pythons = jobs["newest"]["strategy"]["matrix"]["python"]
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    assert jobs["lowest"]["name"].endswith(pythons[0])


def test_extras_of_the_workflows_exist() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    named = {extra for extras in re.findall(r"[.}]\[([a-z,]+)\]", text) for extra in extras.split(",")}
    assert {"dev", "test", "spark"} <= named <= set(PROJECT["optional-dependencies"])


def test_only_publishing_may_ask_for_an_identity() -> None:
    asking = {
        f"{path.stem} {name}"
        for path in WORKFLOWS
        for name, job in read(path)["jobs"].items()
        if "id-token" in job.get("permissions", {})
    }
    assert asking == {"docs deploy", "release publish"}


def test_the_citation_states_version_and_licence() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert str(citation["version"]) == spark_pufs.__version__
    assert citation["license"] == PROJECT["license"]


@pytest.mark.parametrize("name", ["bug", "request"])
def test_issue_forms_ask_by_unique_names(name: str) -> None:
    form = read(ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml")
    names = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(names) == len(set(names)) > 3


def test_pages_named_in_the_templates_exist() -> None:
    folder = ROOT / ".github"
    text = "".join(path.read_text("utf-8") for path in folder.rglob("*") if path.suffix in (".yml", ".md"))
    assert [name for name in re.findall(r"\bdocs/[\w/]+\.(?:md|py)\b", text) if not (ROOT / name).is_file()] == []


def test_the_lock_holds_names_versions_and_hashes_only() -> None:
    lock = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    line = re.compile(r"(?:[\w.-]+(?:\[[\w,-]+\])?==[\w.+!-]+(?: ; [^:/]+)?|    --hash=sha256:[0-9a-f]{64})(?: \\)?")
    assert [text for text in lock.splitlines() if not line.fullmatch(text)] == []
