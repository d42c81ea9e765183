"""How many steps a backtracking matcher takes: the work of a regular expression without a clock.

Follows the parse tree of Python's own compiler, one step for every part tried at a place. Texts that are hard for a
pattern are made from the pattern: its words, and pieces of a text that it fits, repeated.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import chain, product
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

__all__ = ["is_linear", "steps"]

ENDLESS = 20_000  # steps for some forty characters
LENGTH = 16  # characters, and twice as many
MOST = 3.0  # times the steps for twice the text: linear is 2, quadratic 4
FEW = 3  # a repetition with an upper bound is a constant: this one
REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
Next = Callable[[int], "int | None"]


class Endless(Exception):
    """More steps than any linear pattern takes."""


class Matcher:
    """One text; ``taken`` counts."""

    def __init__(self, text: str, flags: int) -> None:
        self.text, self.flags, self.taken = text, flags, 0

    def match(self, parts: list[Any], at: int, then: Next) -> int | None:
        """Where a match of the parts and of what comes ``then`` ends."""
        if not parts:
            return then(at)
        self.taken += 1
        if self.taken > ENDLESS:
            raise Endless
        (op, given), rest = parts[0], parts[1:]

        def after(end: int) -> int | None:
            return self.match(rest, end, then)

        if op in REPEATS:
            return self.repeated(op, given, at, after)
        if op is ops.SUBPATTERN:
            return self.match(list(given[3]), at, after)
        if op is ops.BRANCH:
            ends = (self.match(list(way), at, after) for way in given[1])
            return next((end for end in ends if end is not None), None)
        if op is ops.ATOMIC_GROUP:
            end = self.match(list(given), at, _end)
            return None if end is None else after(end)
        if op in (ops.ASSERT, ops.ASSERT_NOT):
            return after(at) if self.looks(*given, at) == (op is ops.ASSERT) else None
        if op is ops.AT:
            return after(at) if self.stands(given, at) else None
        fits = at < len(self.text) and fitting(op, given, self.text[at], self.flags)
        return after(at + 1) if fits else None

    def repeated(self, op: Any, given: Any, at: int, after: Next) -> int | None:
        low, high, inner = given
        high = high if high == ops.MAXREPEAT else min(high, max(low, FEW))

        def more(end: int, done: int) -> int | None:
            def again(last: int) -> int | None:
                return None if last == end and done >= low else more(last, done + 1)

            if done < low:
                return self.match(list(inner), end, again)
            ways: tuple[Callable[[], int | None], ...] = (
                lambda: self.match(list(inner), end, again) if done < high else None,
                lambda: after(end) if op is not ops.POSSESSIVE_REPEAT else end,
            )
            tried = (way() for way in (ways[::-1] if op is ops.MIN_REPEAT else ways))
            return next((found for found in tried if found is not None), None)

        found = more(at, 0)
        return found if found is None or op is not ops.POSSESSIVE_REPEAT else after(found)

    def looks(self, direction: int, inner: Any, at: int) -> bool:
        """Looking behind has a fixed width, which is a constant."""
        start = at - inner.getwidth()[0] if direction < 0 else at
        return start >= 0 and self.match(list(inner), start, _end) is not None

    def stands(self, place: Any, at: int) -> bool:
        lines = bool(self.flags & re.MULTILINE)
        if place in (ops.AT_BEGINNING, ops.AT_BEGINNING_STRING):
            return at == 0 or (lines and self.text[at - 1] == "\n")
        return at == len(self.text) or (lines and self.text[at] == "\n")


def _end(at: int) -> int | None:
    return at


def fitting(op: Any, given: Any, letter: str, flags: int) -> bool:
    if op is ops.ANY:
        return letter != "\n" or bool(flags & re.DOTALL)
    if op is ops.IN:
        negated = given[0][0] is ops.NEGATE
        return any(fitting(*one, letter, flags) for one in given[negated:]) != negated
    if op is ops.RANGE:
        return given[0] <= ord(letter) <= given[1]
    if op is ops.CATEGORY:
        pattern = {"DIGIT": r"\d", "WORD": r"\w", "SPACE": r"\s"}[str(given).split("_")[-1]]
        return bool(re.match(pattern, letter)) != ("_NOT_" in str(given))
    same = letter.lower() == chr(given).lower() if flags & re.IGNORECASE else ord(letter) == given
    return same != (op is ops.NOT_LITERAL)


@contextmanager
def _deep() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@cache
def parsed(pattern: str, flags: int) -> list[Any]:
    return list(parser.parse(pattern, flags))


def steps(pattern: str, text: str, flags: int = 0, whole: bool = False) -> int:
    """Steps to find every match in a text, or to fit it as a ``whole``; Endless if there are too many."""
    parts, matcher, at = parsed(pattern, flags), Matcher(text, flags), 0
    with _deep():
        if whole:
            matcher.match(parts, 0, lambda end: end if end == len(text) else None)
            return matcher.taken
        while at <= len(text):
            end = matcher.match(parts, at, _end)
            at = at + 1 if end in (None, at) else end or 0
    return matcher.taken


def is_linear(pattern: str, flags: int = 0, way: str = "search") -> bool:
    """Whether twice the text is about twice the work; ``way``: search, match or fullmatch."""
    for start, pump, end in hard_texts(parsed(pattern, flags)):
        try:
            once, twice = (
                _taken(pattern, start + (pump * length)[:length] + end, flags, way) for length in (LENGTH, 2 * LENGTH)
            )
        except Endless:
            return False
        if twice > MOST * once:
            return False
    return True


def _taken(pattern: str, text: str, flags: int, way: str) -> int:
    if way != "match":
        return steps(pattern, text, flags, way == "fullmatch")
    matcher = Matcher(text, flags)
    with _deep():
        matcher.match(parsed(pattern, flags), 0, _end)
    return matcher.taken


def hard_texts(parts: Any) -> Iterator[tuple[str, str, str]]:
    """A start, what is repeated, and an end."""
    fits = example(parts)
    pieces = {fits[a:b] for a in range(len(fits)) for b in range(a + 1, min(len(fits), a + 12) + 1)}
    starts = dict.fromkeys(["", *(fits[:stop] for stop in range(1, min(len(fits), 8) + 1)), fits])
    pumps = dict.fromkeys([*sorted(set(letters(parts)))[:12], *sorted(pieces, key=len)[:30], fits])
    return ((start, pump, end) for start, pump, end in product(starts, filter(None, pumps), ("", "\x01")))


def example(parts: Any) -> str:
    """A text that the parts fit, if nothing looks around: every repetition once, the first of all alternatives."""
    return "".join(map(_one, parts))


def _one(part: Any) -> str:
    op, given = part
    if op in REPEATS:
        return example(given[2]) * max(given[0], 1)
    if op is ops.SUBPATTERN:
        return example(given[3])
    if op is ops.BRANCH:
        return example(given[1][0])
    if op is ops.ATOMIC_GROUP:
        return example(given)
    if op in (ops.AT, ops.ASSERT, ops.ASSERT_NOT):
        return ""
    return next((letter for letter in "a1 .-=\n,;" if fitting(op, given, letter, 0)), "") or next(letters([part]), "")


def letters(parts: Any) -> Iterator[str]:
    """The letters that a pattern names, and one of each class."""
    for op, given in parts:
        if op in (ops.LITERAL, ops.NOT_LITERAL):
            yield chr(given)
        elif op is ops.RANGE:
            yield chr(given[0])
        elif op is ops.CATEGORY:
            yield {"DIGIT": "1", "WORD": "a", "SPACE": " "}[str(given).split("_")[-1]]
        elif op is ops.IN:
            yield from letters(one for one in given if one[0] is not ops.NEGATE)
        elif op in REPEATS:
            yield from letters(given[2])
        elif op is ops.SUBPATTERN:
            yield from letters(given[3])
        elif op is ops.BRANCH:
            yield from chain.from_iterable(map(letters, given[1]))
        elif op is ops.ATOMIC_GROUP:
            yield from letters(given)
