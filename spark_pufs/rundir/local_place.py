"""What is there already, on this machine, where a run directory is to be."""

from __future__ import annotations

import os
from pathlib import Path

from spark_pufs.errors import ConfigError, Fault

__all__ = ["in_the_way", "nearest"]


def nearest(place: Path | None) -> Path | None:
    """What exists of the path, itself or the closest folder above it; None for a path elsewhere."""
    if place is None:
        return None
    return next((one for one in (place, *place.parents) if os.path.lexists(one)), None)


def in_the_way(place: Path | None, shown: str) -> ConfigError | None:
    """What stands where a folder should; ``shown`` is the path as users are shown it."""
    there = nearest(place)
    if there is None or there.is_dir():
        return None
    found = f"'{there}' is a file, not a folder" if there.exists() else f"'{there}' is a link to nothing"
    return ConfigError(Fault(f"Output '{shown}'", found, "Name another output.path."))
