"""Scans of texts of users are linear: twice the text, about twice the work.

Of every regular expression in the package the steps are counted. Of the functions that use them what is compared is
the ratio of the CPU time of two lengths, and only where there is enough of it to measure.
"""

from __future__ import annotations

import ast
import fnmatch
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from spark_pufs.core.synthetic.bayes_net import parse_bif, read_bif
from spark_pufs.errors import PufsError
from spark_pufs.masking.addresses import address_shown
from spark_pufs.masking.texts import foreign, gist, is_secret, masked, masked_texts, visible
from support.regex_steps import is_linear

SHORT = 20_000  # characters; the cubic pattern that once was here took 5 CPU seconds for 800
ENOUGH = 0.05  # CPU seconds that can be compared
MOST = 3.2  # times the work for twice the text: linear is 2, quadratic 4


def work(run: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    with suppress(PufsError):
        run(text)
    return time.process_time() - began


def linear(run: Callable[[str], object], text: str) -> bool:
    """The best of three: a busy machine only ever adds."""
    for _ in range(3):
        once = work(run, text)
        if once < ENOUGH / 4 or work(run, text * 2) < max(MOST * once, ENOUGH):
            return True
    return False


SCANS: list[Callable[[str], object]] = [
    masked, foreign, visible, address_shown, is_secret, masked_texts, parse_bif, lambda text: gist(ValueError(text))
]  # fmt: skip
TEXTS = ["a.", "a.secret.", "secret=", "'a://x ", "a:", "://", "s3://k:", " ", "-", "A", "'", "'s3://b/'x ", "jdbc:",
         "@", "probability (", "probability ( ", "(", "table ", "variable x {", "discrete [", "variable "]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("scan", range(len(SCANS)))
def test_every_scan(scan: int, text: str) -> None:
    assert linear(SCANS[scan], (text * SHORT)[:SHORT])


ROOT = Path(__file__).resolve().parents[1]
WAYS = {"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
_VALUE = '(?:"[^"\\n]*"|[^"\\n,]*)'
MADE = {  # patterns that are put together when they are used, as they may come out
    "b'%s(?:%s%s)*' % (value, separator, value)": f"{_VALUE}(?:,{_VALUE})*",
    "f'{CHANGED}: (.*)'": "was written again: (.*)",
}


@dataclass(frozen=True)
class Found:
    """A pattern, where it stands, and the ways it is used."""

    place: str
    pattern: str
    flags: int
    ways: frozenset[str]


def patterns(path: Path) -> Iterator[Found]:
    tree = ast.parse(path.read_text())
    used: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in WAYS:
            used.setdefault(node.value.id, set()).add(node.attr)
    names = {id(node.value): ast.unparse(node.targets[0]) for node in ast.walk(tree) if isinstance(node, ast.Assign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and re.fullmatch(r"re\.\w+", ast.unparse(node.func)):
            way = ast.unparse(node.func)[3:]
            ways = {way} if way in WAYS else used.get(names.get(id(node), ""), WAYS) if way == "compile" else set()
            if ways:
                yield Found(f"{path.relative_to(ROOT)}:{node.lineno}", *_written(node), frozenset(ways))


def _written(call: ast.Call) -> tuple[str, int]:
    first = call.args[0]
    given = first.value if isinstance(first, ast.Constant) else MADE[ast.unparse(first)]
    flags = (getattr(re, name) for name in ("IGNORECASE", "MULTILINE", "DOTALL") if f"re.{name}" in ast.unparse(call))
    return given.decode("latin-1") if isinstance(given, bytes) else str(given), sum(flags)


SOURCES = [*(ROOT / "spark_pufs").rglob("*.py"), *(ROOT / "jobs").rglob("*.py"), ROOT / "run.py"]
PATTERNS = [found for path in sorted(SOURCES) for found in patterns(path)]


@pytest.mark.parametrize("found", PATTERNS, ids=lambda found: found.place)
def test_every_pattern(found: Found) -> None:
    for way in {one if one in ("match", "fullmatch") else "search" for one in found.ways}:
        assert is_linear(found.pattern, found.flags, way), way


def test_patterns_that_are_not_linear_are_known_as_such() -> None:
    search = [r"\s+$", r"(\w+\.)*\w+=", r"[\w.]+secret[\w.]*=", "a*a*b", "(a+)+b"]
    assert not any(map(is_linear, search))
    assert not any(is_linear(one, way="fullmatch") for one in ("(a|a)*b", "x[ab]*[ab]*y", "(a*)*b"))
    assert len(PATTERNS) > 30


@pytest.mark.parametrize("glob", ["*a*a*a*a*b", "*[a-c]*?*x", "*" * 9 + "b", "a*b?c*"])
def test_globs_of_users(glob: str) -> None:
    assert is_linear(fnmatch.translate(glob), way="match")


def test_a_network_that_would_fill_the_memory_is_refused() -> None:
    names = [f"n{i}" for i in range(9)]
    states = ", ".join(f"s{i}" for i in range(200))
    text = "".join(f"variable {name} {{ type discrete [ 200 ] {{ {states} }}; }}\n" for name in names)
    text += "".join(f"probability ( {name} ) {{ table 1; }}\n" for name in names[1:])
    text += f"probability ( n0 | {', '.join(names[1:])} ) {{ table 1; }}"
    with pytest.raises(PufsError, match="probability of 'n0': would have 512,000,000,000,000,000,000 numbers"):
        read_bif(text.encode())
