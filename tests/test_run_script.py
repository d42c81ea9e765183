"""What run.py runs, and when it asks for Java."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_script", ROOT / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def started(script: ModuleType, monkeypatch: pytest.MonkeyPatch, *words: str, **answers: Any) -> tuple[int, list[str]]:
    """The code that run.py ends with, and what it would have run."""
    commands: list[str] = []

    class Beside:
        def __init__(self, *command: object, output: TextIO) -> None:
            commands.append(" ".join(map(str, command[1:])))
            output.write("said by mypy\n")

        def wait(self) -> int:
            return int(answers.get("types", 0))

    def call(*command: object, **environment: str) -> int:
        commands.append(" ".join(map(str, command[1:])))
        return int(answers.get("code", 0))

    monkeypatch.setattr(sys, "argv", ["run.py", *words])
    monkeypatch.setattr(script, "call", call)
    monkeypatch.setattr(script, "start", Beside)
    monkeypatch.setattr(script, "ensure_packages", lambda: None)
    monkeypatch.setattr(script, "ensure_java", lambda: answers.get("java", True))
    return script.main(), commands


def test_all_tests(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    code, commands = started(script, monkeypatch, "test", "-x")
    assert code == 0
    assert commands[:3] == ["-m ruff check .", "-m ruff format --check .", "-m mypy"]
    assert commands[3] == "-m pytest -n 2 --dist loadgroup --no-loadscope-reorder -x"


def test_the_quick_tests_need_no_java(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    code, commands = started(script, monkeypatch, "test", "--quick", "tests/core", java=False)
    assert code == 0
    assert len(commands) == 4
    assert commands[3].startswith("-m pytest -n 2 ")
    assert commands[3].endswith("--no-loadscope-reorder --quick tests/core")


def test_the_demo_needs_no_java(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert started(script, monkeypatch, "demo", java=False) == (0, ["-m spark_pufs.cli demo"])


@pytest.mark.parametrize("words", [("test",), ("demo", "--engine", "spark"), ("demo", "--engine=spark")])
def test_all_else_needs_java(script: ModuleType, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    assert started(script, monkeypatch, *words, java=False) == (4, [])


def test_types_are_checked_beside_the_tests(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    code, commands = started(script, monkeypatch, "test", types=1)
    assert (code, len(commands)) == (1, 4)
    assert "said by mypy" in capfd.readouterr().out


def test_style_that_fails_ends_it(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert started(script, monkeypatch, "test", code=3) == (3, ["-m ruff check ."])


def test_platforms_are_installed_and_tested(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert started(script, monkeypatch, "platforms", "delta", "-x") == (0, ["-m platforms delta -x"])
    assert started(script, monkeypatch, "platforms", java=False) == (4, [])


@pytest.mark.integration
def test_java_is_looked_for_before_anything_is_installed() -> None:
    looked = "import spark_pufs.spark.session as found; print(found.LEAST_JAVA)"
    command = [sys.executable, "-S", "-c", looked]  # -S: without the packages of the environment
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout == "17\n"
