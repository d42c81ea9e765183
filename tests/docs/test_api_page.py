"""docs/api.md is what its generator gives now, and names everything that is public."""

from __future__ import annotations

import click
import pytest

import spark_pufs
from spark_pufs.cli import app
from spark_pufs.selectors.registry import METHODS
from spark_pufs.spark import PUFeatureSelector
from support.pages import ROOT, script

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def fresh() -> str:
    return str(script("make_api").page())


def test_page_is_fresh(fresh: str) -> None:
    assert fresh == PAGE, "docs/api.md is stale; run: python docs/make_api.py"


def test_public_names_are_there() -> None:
    wanted = [f"`spark_pufs.{n}`" if "Error" in n or n in ("Stopped", "EnvironmentFault") else n for n in NAMES]
    assert [name for name in wanted if name not in PAGE] == []


NAMES = spark_pufs.__all__


def test_commands_and_their_options_are_there() -> None:
    assert sorted(name for name in commands(app, "spark-pufs") if f"### {name}\n" not in PAGE) == []
    options = {opt for command in commands(app, "spark-pufs").values() for p in command.params for opt in p.opts}
    assert {option for option in options if option.startswith("--") and f"`{option}" not in PAGE} == set()


def commands(command: click.Command, name: str) -> dict[str, click.Command]:
    found = {name: command}
    for one in command.commands.values() if isinstance(command, click.Group) else ():
        found |= commands(one, f"{name} {one.name}")
    return found


def test_params_and_options_of_methods_are_there() -> None:
    assert [param.name for param in PUFeatureSelector().params if f"| `{param.name}` |" not in PAGE] == []
    lines = [f"| `{m.name}` | `{option}` |" for m in METHODS.values() for option in m.options]
    assert [line for line in lines if line not in PAGE] == []
