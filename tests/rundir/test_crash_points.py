"""Jobs struck at their file operations, one after the other: run again they give the same answer, and nothing is lost.

benchmarks/faults.py --points strikes at every one of them.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from support.crash_jobs import JOBS
from support.crash_points import Job, strike_everywhere
from support.crash_store import strike_the_store

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
@pytest.mark.parametrize("full", [False, True], ids=["killed", "disk full"])
def test_struck_at_some_points(job: Job, full: bool, tmp_path: Path) -> None:
    found = strike_everywhere(job, tmp_path, full, most=40, every=9)
    assert found.strikes
    assert found.clean, found


def test_a_memory_struck_day_after_day(tmp_path: Path) -> None:
    """Nothing is put back between kills; benchmarks/faults.py --store 50 does it longer."""
    found = strike_the_store(tmp_path, 4, random.Random(1))
    assert found.strikes >= 4
    assert found.clean, found
