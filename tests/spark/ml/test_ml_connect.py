"""The suite of test_ml.py once more on Spark Connect, which cannot share a process with classic Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

SUITE = Path(__file__).with_name("test_ml.py")


def test_the_same_suite_on_connect() -> None:
    # SPARK_TESTING: a free port instead of 15002, which another Connect on this machine may have
    own = {"SPARK_PUFS_TEST_CONNECT": "1", "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_TESTING": "1"}
    environment = {**os.environ, **own}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(SUITE)],
        cwd=SUITE.parents[3],
        capture_output=True,
        text=True,
        env=environment,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
