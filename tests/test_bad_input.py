"""Broken tables and settings, each with the exact message a user gets and the exit code a scheduler sees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spark_pufs.errors import PufsError
from support.bad_input import CASES
from support.configurations import load_config


@pytest.mark.parametrize(("code", "broken", "message"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_message(code: int, broken: Callable[[], Any], message: str) -> None:
    with pytest.raises(PufsError) as caught:
        broken()
    assert str(caught.value) == message
    assert caught.value.exit_code == code


def test_yaml_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("source: [unclosed")
    with pytest.raises(PufsError, match=r"is not YAML: while parsing a flow sequence .* Fix the file\."):
        load_config(path)


def test_yaml_that_is_a_list(tmp_path: Path) -> None:
    path = tmp_path / "list.yaml"
    path.write_text("- 1\n")
    with pytest.raises(PufsError, match=r"expected sections such as source and label, found list\."):
        load_config(path)
