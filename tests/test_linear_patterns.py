"""Scans of texts of users are linear: twice the text, about twice the work.

What is compared is the ratio of the CPU time of two lengths, and only where there is enough of it to measure.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from spark_pufs.core.synthetic.bayes_net import parse_bif, read_bif
from spark_pufs.errors import PufsError
from spark_pufs.masking.addresses import address_shown
from spark_pufs.masking.texts import foreign, gist, is_secret, masked, masked_texts, visible

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


def test_a_network_that_would_fill_the_memory_is_refused() -> None:
    names = [f"n{i}" for i in range(9)]
    states = ", ".join(f"s{i}" for i in range(200))
    text = "".join(f"variable {name} {{ type discrete [ 200 ] {{ {states} }}; }}\n" for name in names)
    text += "".join(f"probability ( {name} ) {{ table 1; }}\n" for name in names[1:])
    text += f"probability ( n0 | {', '.join(names[1:])} ) {{ table 1; }}"
    with pytest.raises(PufsError, match="probability of 'n0': would have 512,000,000,000,000,000,000 numbers"):
        read_bif(text.encode())
