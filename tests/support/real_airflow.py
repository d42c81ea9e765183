"""An environment with Airflow, and what its tests put into it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

__all__ = ["ALARMS", "ASKED", "BIN", "ROOT", "example_days", "installed"]

ASKED = "SPARK_PUFS_TEST_AIRFLOW"
ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PACKAGES = ["apache-airflow>=3.3,<4", "apache-airflow-providers-apache-spark>=6.3", "psycopg2-binary", "asyncpg"]
ALARMS = "def tell(text, context):\n    with open({path!r}, 'a') as file:\n        file.write(text + chr(10))\n"


def installed(folder: Path) -> str:
    """The Python of an environment with Airflow, a new one unless the variable names one."""
    if Path(os.environ[ASKED]).is_file():
        return os.environ[ASKED]
    venv.create(folder / "venv", with_pip=True)
    python = str(folder / "venv" / "bin" / "python")
    uv = shutil.which("uv", path=f"{BIN}{os.pathsep}{os.environ['PATH']}")
    install = [uv, "pip", "install", "--quiet", "--python", python] if uv else [python, "-m", "pip", "install", "-q"]
    subprocess.run([*install, *PACKAGES], check=True, timeout=900)
    return python


def example_days() -> Any:
    """The maker of days that the page uses."""
    spec = importlib.util.spec_from_file_location("example_days", ROOT / "jobs" / "airflow" / "example_days.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
