"""Hashes of values and rows that are the same everywhere: of the content alone, not of place or order."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["column_sums", "mix", "one_form", "row_hashes", "text_hashes"]

_SLICE = 32_768


def one_form(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A copy in which equal values have equal bits: one zero, one NaN."""
    plain = values + 0.0
    plain[np.isnan(plain)] = np.nan
    return plain


def mix(bits: NDArray[np.uint64], out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
    """splitmix64's finaliser: a fixed, well-spread hash of 64 bits; into ``out``, which is in one piece, if given."""
    z: NDArray[np.uint64] = np.add(bits, np.uint64(0x9E3779B97F4A7C15), out=out)
    flat = z.ravel(order="K")  # a view: z is in one piece
    for first in range(0, flat.size, _SLICE):  # many steps on what the cache holds, not each step on everything
        part = flat[first : first + _SLICE]
        shifted = np.empty_like(part)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            np.right_shift(part, np.uint64(shift), out=shifted)
            np.bitwise_xor(part, shifted, out=part)
            if factor > 1:
                np.multiply(part, np.uint64(factor), out=part)
    return z


def row_hashes(X: NDArray[np.float64], mark: NDArray[np.uint8], seed: int) -> NDArray[np.uint64]:
    """One hash (n,) per row of X (n, D) with its ``mark`` (n,); equal rows have equal hashes.

    >>> a, b, c = row_hashes(np.array([[0.0, 1], [-0.0, 1], [1, 0]]), np.zeros(3, np.uint8), seed=1)
    >>> bool(a == b), bool(a == c)
    (True, False)
    """
    shift = np.uint64(seed * 0x632BE59BD9B4E019 % 2**64)
    salt = mix(np.arange(X.shape[1] + 1, dtype=np.uint64) + shift)
    total = mix(one_form(X).view(np.uint64) ^ salt[:-1]).sum(axis=1, dtype=np.uint64)
    return mix(total + mix(mark.astype(np.uint64) ^ salt[-1]))


def column_sums(columns: NDArray[np.uint64], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The sum (n,) of columns (D, n) times a factor (D,) each, modulo 2^64.

    >>> column_sums(np.array([[1, 2], [3, 4]], np.uint64), np.array([1, 10], np.uint64)).tolist()
    [31, 42]
    """
    total, product = np.zeros((2, columns.shape[1]), np.uint64)
    for own, factor in zip(columns, factors, strict=True):  # numpy's own product of integers takes twice as long
        total += np.multiply(own, factor, out=product)
    return total


def text_hashes(values: list[str]) -> NDArray[np.uint64]:
    """A hash (n,) per text."""
    digests = b"".join(hashlib.blake2b(value.encode(), digest_size=8).digest() for value in values)
    return np.frombuffer(digests, np.uint64)
