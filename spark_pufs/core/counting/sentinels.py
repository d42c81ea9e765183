"""Numbers that stand for "missing": -999, 9999, far outside all other values and repeated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spark_pufs.core.counting.profile import Profile

__all__ = ["looks_missing", "sentinels"]

FAR = 10.0  # ranges of the other values: as far off nothing but a code or a fault is
LEAST_ROWS = 2


def sentinels(names: Sequence[str], profile: Profile) -> Iterator[tuple[str, str]]:
    """Columns with such a value at either end, and what to tell."""
    for i, name in enumerate(names):
        low, high = (
            (float(end.value[i]), float(end.next[i]), int(end.rows[i])) for end in (profile.lowest, profile.highest)
        )
        span = high[1] - low[1]  # of the values between the outermost two
        if not 0 <= span < float("inf"):
            continue
        for (value, inner, rows), (other, other_inner, _) in ((low, high), (high, low)):
            # The other end may be a sentinel too: then what lies between the two is the rest.
            rest = span if abs(other - other_inner) > span else abs(other - inner)
            far = rest if looks_missing(value) else FAR * rest
            if rows >= LEAST_ROWS and rest > 0 and abs(value - inner) > far:
                yield name, f"{rows:,} rows hold {value:g}, far outside the rest: a code for missing? Set it to null."


def looks_missing(value: float) -> bool:
    """Whether a number is written with nines alone, two or more.

    >>> [looks_missing(v) for v in (-999.0, 99.0, 9.0, 998.0, 99.5)]
    [True, True, False, False, False]
    """
    digits = f"{abs(value):.0f}"
    return value.is_integer() and len(digits) > 1 and set(digits) == {"9"}
