"""The pages of the documentation and the blocks of code on them.

The first word after a fence says what happens to a block: ``python`` is run, ``py`` is run with a Spark session,
``bash`` is checked command by command, ``yaml`` is read as a configuration, ``pycon`` comes from docstrings and runs
there; ``text`` and nothing are shown only. ``text output`` must be what the block before it printed.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
KINDS = ("python", "py", "bash", "yaml", "pycon", "text", "")


@dataclass(frozen=True)
class Block:
    """Code between two fences: its ``kind``, the words after that, and the line it begins on."""

    kind: str
    words: tuple[str, ...]
    text: str
    line: int


def blocks(page: Path, *kinds: str) -> list[Block]:
    """The blocks of a page in order, all of them or those of some kinds."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in re.finditer(r"^```([^\n`]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        kind, *words = match[1].split() or [""]
        found.append(Block(kind, tuple(words), match[2], text[: match.start()].count("\n") + 2))
    return [block for block in found if not kinds or block.kind in kinds]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def script(name: str) -> ModuleType:
    """A script of the docs folder, loaded as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
