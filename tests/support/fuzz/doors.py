"""Every door of the package that needs no Spark."""

from __future__ import annotations

from support.fuzz.command_doors import COMMAND_DOORS
from support.fuzz.folder_doors import FOLDER_DOORS
from support.fuzz.python_doors import PYTHON_DOORS

__all__ = ["DOORS"]

DOORS = (*PYTHON_DOORS, *COMMAND_DOORS, *FOLDER_DOORS)
