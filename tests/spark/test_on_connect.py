"""Suites on Spark Connect, in a process of their own: it cannot share one with classic Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
SUITES = [Path(__file__).with_name("answers_over_connect.py"), Path(__file__).parent / "ml" / "test_ml.py"]


def test_all_suites_on_connect() -> None:
    # SPARK_TESTING: a free port instead of 15002, which another Connect on this machine may have
    own = {"SPARK_PUFS_TEST_CONNECT": "1", "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_TESTING": "1"}
    environment = {**os.environ, **own}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, SUITES)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=environment,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
