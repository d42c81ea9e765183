"""A search killed with SIGKILL goes on to the same bits (benchmarks/faults.py does it twenty times)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "faults.py"


def test_killed_searches_lose_nothing() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--kills", "3"], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 kills" in done.stdout
    assert "0 answers differ" in done.stdout
