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

from support.fuzz.doors import DOORS
from support.fuzz.places import Door, checked, load_libraries

FEW = {"compare": 5, "check labels": 3, "prior": 3, "likely positives": 8, "Arrow": 8, "settings": 8}


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    load_libraries()


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_an_answer_or_an_error_of_ours(door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    @settings(max_examples=FEW.get(door.name, 14), suppress_health_check=list(HealthCheck))
    @given(st.data())
    def tried(data: Any) -> None:
        checked(door, data.draw(door.cases), tmp_path / "place")

    tried()
