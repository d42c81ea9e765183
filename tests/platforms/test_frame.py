"""The command that installs parts and runs their tests; nothing is installed here."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from platforms import __main__ as command
from platforms import tools


def test_an_unknown_part_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["detla"]) == 2
    assert "No part 'detla'. Known: " in capsys.readouterr().out


def test_tests_know_their_part_and_why_it_lacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran: list[tuple[list[str], dict[str, str]]] = []

    def run(arguments: list[str], env: dict[str, str], **_: object) -> SimpleNamespace:
        ran.append((arguments, env))
        return SimpleNamespace(returncode=5)

    def fail(folder: Path) -> None:
        raise tools.Unreachable("no registry")

    part = SimpleNamespace(install=fail)
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command.importlib, "import_module", lambda name: part)
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.delenv("SPARK_PUFS_TEST_PLATFORM_LACKS", raising=False)
    assert command.main(["delta", "-k", "nothing"]) == 0
    assert ran[0][1]["SPARK_PUFS_TEST_PLATFORM"] == "delta"
    assert ran[0][1]["SPARK_PUFS_TEST_PLATFORM_LACKS"] == "no registry"
    assert ran[0][0][-2:] == ["-k", "nothing"]
    part.install, part.environment = lambda folder: None, lambda folder: {"PYTHONPATH": "there"}
    command.main(["delta"])
    assert ran[1][1]["PYTHONPATH"] == "there"
    assert "SPARK_PUFS_TEST_PLATFORM_LACKS" not in ran[1][1]


def test_what_is_installed_is_not_installed_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran: list[str] = []
    monkeypatch.setattr(tools, "_run", lambda program, *rest, **_: ran.append(program))
    for version in ("1", "1", "2"):
        tools.jars(tmp_path, f"group:artifact:{version}", without=["other:*"])
    assert ran == ["mvn", "mvn"]
    pom = (tmp_path / "pom.xml").read_text()
    assert "<version>2</version>" in pom
    assert "<exclusion><groupId>other</groupId><artifactId>*</artifactId></exclusion>" in pom


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(tools.Unreachable, match="there is no no-such-program on this machine"):
        tools._run("no-such-program")
