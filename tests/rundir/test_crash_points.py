"""Jobs struck at their file operations, one after the other: run again they give the same answer, and nothing is lost.

benchmarks/faults.py --points strikes at every one of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.crash_jobs import JOBS
from support.crash_points import Job, strike_everywhere

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
@pytest.mark.parametrize("full", [False, True], ids=["killed", "disk full"])
def test_struck_at_some_points(job: Job, full: bool, tmp_path: Path) -> None:
    found = strike_everywhere(job, tmp_path, full, most=40, every=9)
    assert found.strikes
    assert found.clean, found
