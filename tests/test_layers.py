"""Imports go down only: cli -> jobs -> spark | local -> run -> selectors -> table -> engines -> core -> types."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "spark_pufs"

# A unit may import units of its own row and of rows above it here. What is not named is a front door: it may import
# anything, and nothing named may import it.
LAYERS = [
    {"masking", "values"},
    {"errors", "fragments", "version"},
    {"types"},
    {"core"},
    {"findings", "request"},
    {"engines"},
    {"table"},
    {"selectors"},
    {"report"},
    {"rundir"},
    {"memory"},
    {"selection"},
    {"history", "run"},
    {"local", "spark"},
    {"api"},
    {"jobs"},
    {"studies"},
    {"cli"},
]
# The same inside core/: a room may import its own row and the rows above it.
ROOMS = [
    {"counting", "information", "process_state", "records", "schema", "search"},
    {"clusters", "evidence", "synthetic"},
    {"baselines", "pu", "soft"},
]

SOURCES = sorted(PACKAGE.rglob("*.py"))
JOBS = sorted((ROOT / "jobs").rglob("*.py"))


def unit(module: str) -> str:
    """The part of the package a module belongs to: 'core' of 'spark_pufs.core.counting.bins'."""
    return [*module.split("."), "__init__"][1]


def rank(name: str) -> int:
    return next((level for level, units in enumerate(LAYERS) if name in units), len(LAYERS))


def unit_of_file(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(tree: ast.AST, with_types: bool = False) -> Iterator[tuple[str, int]]:
    """Modules imported anywhere in a file, also inside functions; those for type checkers only when asked for."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
            for other in node.orelse:
                yield from imports(other, with_types)
            if with_types:
                yield from imports(ast.Module(node.body, []), with_types)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            # `from spark_pufs import core` imports spark_pufs.core
            whole = node.module == "spark_pufs"
            yield from ((f"{node.module}.{a.name}" if whole else str(node.module), node.lineno) for a in node.names)
        else:
            yield from imports(node, with_types)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported(path: Path, with_types: bool = False) -> list[tuple[str, int]]:
    return list(imports(parsed(path), with_types))


def test_the_reader_of_imports_sees_all_of_them() -> None:
    source = """
import os, spark_pufs.core.counting.bins
from spark_pufs import request
if TYPE_CHECKING:
    import pyspark
def f():
    try:
        from spark_pufs.spark.scan import reduce
    except ImportError:
        import typing.io
"""
    found = {module for module, _ in imports(ast.parse(source))}
    assert found == {"os", "spark_pufs.core.counting.bins", "spark_pufs.request", "spark_pufs.spark.scan", "typing.io"}
    assert "pyspark" in {module for module, _ in imports(ast.parse(source), with_types=True)}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path: Path) -> None:
    own = unit_of_file(path)
    wrong = [
        f"line {line}: {module}"
        for module, line in imported(path)
        if module.split(".")[0] == "spark_pufs" and rank(unit(module)) > rank(own)
    ]
    assert not wrong


@pytest.mark.parametrize("path", sorted((PACKAGE / "core").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_inside_core_go_down(path: Path) -> None:
    def level(room: str) -> int:
        return next(level for level, rooms in enumerate(ROOMS) if room in rooms)

    own = path.relative_to(PACKAGE / "core").parts[0].removesuffix(".py")
    wrong = [
        f"line {line}: {module}"
        for module, line in imported(path)
        if module.startswith("spark_pufs.core.") and level(module.split(".")[2]) > level(own)
    ]
    assert not wrong


def test_no_folder_is_crowded() -> None:
    folders = [PACKAGE, *(path.parent for path in PACKAGE.rglob("__init__.py"))]
    modules = {
        folder: [p for p in folder.glob("*.py") if p.stem.strip("_") not in ("init", "main")] for folder in folders
    }
    assert {str(folder): len(found) for folder, found in modules.items() if len(found) > 16} == {}
    assert len(modules[PACKAGE]) <= 8


@pytest.mark.parametrize(("own", "other"), [("spark", "local"), ("local", "spark")])
def test_the_engines_never_import_each_other(own: str, other: str) -> None:
    wrong = [
        f"{path.name} line {line}"
        for path in (PACKAGE / own).rglob("*.py")
        for module, line in imported(path, with_types=True)
        if module.startswith(f"spark_pufs.{other}")
    ]
    assert (PACKAGE / own).is_dir()
    assert not wrong


def test_pyspark_is_imported_in_one_place() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} line {line}"
        for path in [*SOURCES, *JOBS]
        if PACKAGE / "spark" not in path.parents
        for module, line in imported(path)
        if module.split(".")[0] == "pyspark"
    ]
    assert not wrong


def test_nothing_imports_the_jobs() -> None:
    assert not [path for path in SOURCES for module, _ in imported(path) if module.split(".")[0] == "jobs"]


BLOCKED = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pyspark", "py4j"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Block())
import importlib
for module in sys.argv[1:]:
    importlib.import_module(module)
assert not [name for name in sys.modules if name.split(".")[0] in ("pyspark", "py4j")]
import spark_pufs, pandas
table = pandas.DataFrame({"a": [1, 2] * 50, "b": [3, 3, 4, 4] * 25, "label": [1, None] * 50})
print(spark_pufs.select(table, label="label", method="semi-mim", k=1).names)
"""


@pytest.mark.integration
def test_all_but_the_spark_engine_works_without_pyspark() -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in SOURCES
        if unit_of_file(path) in {"core", "engines", "local", "selectors", "table"} and path.name != "__init__.py"
    ]
    assert "spark_pufs.core.counting.counts" in modules
    run = subprocess.run(
        [sys.executable, "-c", BLOCKED, *modules], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "['a']"


def uses_spark(path: Path) -> list[str]:
    """Names of functions that ask for the session, and imports of pyspark."""
    tree = parsed(path)
    asking = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        if "spark" in [argument.arg for argument in [*node.args.args, *node.args.kwonlyargs]]
    ]
    modules = [module for module, _ in imports(tree)]
    return asking + [m for m in modules if m.split(".")[0] == "pyspark" or m.startswith("spark_pufs.spark")]


@pytest.mark.parametrize("folder", ["core", "local", "selectors"])
def test_tests_of_the_numpy_side_start_no_jvm(folder: str) -> None:
    assert not {path.name: uses_spark(path) for path in (ROOT / "tests" / folder).rglob("*.py") if uses_spark(path)}


def test_tests_that_use_the_session_are_marked() -> None:
    unmarked = [
        f"{path.name}: {node.name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        if "spark" in [argument.arg for argument in node.args.args]
        if not any("spark" in ast.unparse(mark) for mark in node.decorator_list)
        and "pytestmark" not in path.read_text(encoding="utf-8")
    ]
    assert not unmarked


# Where values come from outside, whose types nobody knows: users, YAML, JSON, Spark's Java side, untyped libraries.
BORDERS = {
    "values.py", "api.py", "request.py",  # users' values
    "jobs/config.py", "jobs/plain_yaml.py", "jobs/settings_shown.py", "report/rerun.py",  # YAML
    "core/records.py", "masking/hidden.py", "rundir/folder.py",  # JSON
    "spark/parquet/bare_scan.py", "spark/parquet/label_files.py", "spark/ml/params.py",  # py4j
    "spark/ml/persistence.py", "spark/ml/vectors.py", "spark/own_session.py", "spark/shipping.py",
    "core/process_state.py", "local/selector.py", "rundir/mlflow_logging.py",  # threadpoolctl, scikit-learn, MLflow
}  # fmt: skip
MOST_ANY = 59


def any_count(tree: ast.AST) -> int:
    """How often ``Any`` is named, also inside a type that is written as text."""
    named = sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree))
    quoted = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return named + sum(text.count("[Any") + text.count(", Any]") for text in quoted)


def test_types_are_named_but_at_the_borders() -> None:
    counts = {path.relative_to(PACKAGE).as_posix(): any_count(parsed(path)) for path in SOURCES}
    assert set(counts) >= BORDERS
    inside = {name: count for name, count in counts.items() if count and name not in BORDERS}
    assert sum(inside.values()) <= MOST_ANY, inside
    assert any_count(ast.parse("x: Any = 1\nS = 'dict[str, Any]'\ndef f(y: list[Any]) -> None: ...")) == 3
