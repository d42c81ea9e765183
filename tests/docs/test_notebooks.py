"""The notebooks run from top to bottom, and what a cell ends with can be shown.

They are run by a few lines here: a kernel of Jupyter would be a process of its own for each.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.pages import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = ROOT / "docs" / "notebooks"
NAMES = ("churn", "every_day", "intrusions")


def cells(name: str, kind: str) -> list[str]:
    notebook = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


def shown(code: str, names: dict[str, object]) -> object:
    """Run one cell; the value of its last line, if that is an expression, as a notebook would show it."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # the text is our own documentation
    if not isinstance(last, ast.Expr):
        return None
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    html = getattr(value, "_repr_html_", None)
    return html() if html else value


def run(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    return [shown(code, names) for code in cells(name, "code")]


def test_all_notebooks_are_run_and_hold_no_outputs() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == list(NAMES)
    for path in FOLDER.glob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in notebook["cells"])


def test_churn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = run("churn", tmp_path, monkeypatch)
    assert any("Better than chance" in str(output) for output in outputs)


def test_intrusions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_data: Path) -> None:
    source = shared_data / "rt_iot2022" / "rt_iot2022.parquet"
    (tmp_path / source.name).symlink_to(source)
    run("intrusions", tmp_path, monkeypatch)
    assert (tmp_path / "runs" / "intrusions" / "report.html").is_file()


@pytest.mark.spark
def test_every_day(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Verdict: " in str(run("every_day", tmp_path, monkeypatch)[-2])
