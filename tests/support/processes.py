"""Tests without a mark start neither Java nor Python: `python3 run.py test --quick` runs these and must stay quick."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

__all__ = ["Watch", "slow"]


def slow(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("spark", "integration", "platform"))


class Watch:
    """An audit hook: what starts a process in a test without a mark is refused."""

    test: str | None = None  # the one that runs, where it has no mark

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.test is None or event not in ("subprocess.Popen", "os.fork"):
            return
        program = Path(str(arguments[0])).name if arguments else "a copy of this process"
        if not arguments or program.startswith(("java", "python", "spark")):
            raise RuntimeError(f"{self.test} starts {program}: mark it spark or integration.")
