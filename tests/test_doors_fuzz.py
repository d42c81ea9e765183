"""Whatever comes through a door, an answer or a PufsError goes out, and nothing else is left behind.

benchmarks/fuzz.py draws more of the same.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.fuzz_doors import Door, checked
from support.fuzz_every_door import EVERY_DOOR

FEW = {"compare": 6, "select": 16, "prior": 4, "false discoveries": 8}


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Libraries that change a process when they are loaded are loaded."""
    import spark_pufs
    from support.fuzz_doors import example

    spark_pufs.compare(example(), label="label", methods=["k-best"], k=1, folds=2, repeats=1)


@pytest.mark.parametrize("door", EVERY_DOOR, ids=lambda door: door.name)
def test_an_answer_or_an_error_of_ours(door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    @settings(max_examples=FEW.get(door.name, 20), suppress_health_check=list(HealthCheck))
    @given(st.data())
    def tried(data: Any) -> None:
        checked(door, data.draw(door.cases), tmp_path / "place")

    tried()
