"""The examples in README and docs run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spark_pufs.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: p.name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(compile(block, page.name, "exec"), names)  # the text is our own documentation
    assert "spark_pufs" in names


def test_commands_and_files_shown_exist() -> None:
    shown = "\n".join(block for page in PAGES for block in blocks(page, "bash"))
    commands = set(re.findall(r"^spark-pufs (\w+)", shown, re.MULTILINE))
    assert commands
    assert commands <= set(app.commands)
    for path in re.findall(r"(?:conf|jobs|benchmarks)/\w+\.\w+", shown):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    broken = [link for link in re.findall(r"\]\(([^)#:]+)\)", text) if not (page.parent / link).exists()]
    assert broken == []
