"""Random numbers that belong to rows, not to the place where they are drawn.

A generated table is a sequence of blocks of 1,024 rows. The numbers of a block come from a counter-based generator
keyed by (seed, stream) and set to the block's number, so that any machine makes the same block, and a longer table
begins with the rows of a shorter one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.hashing import mix

__all__ = ["BLOCK", "block_generator", "block_rows", "row_keys"]

BLOCK = 1024


def block_generator(seed: int, stream: int, block: int) -> np.random.Generator:
    """The generator of one block: Philox with the block's number in the highest word of its counter.

    >>> a, b = (block_generator(7, 0, 3).random() for _ in range(2))
    >>> a == b, a == block_generator(7, 0, 4).random()
    (True, False)
    """
    key, counter = np.array([seed, stream], np.uint64), np.array([0, 0, 0, block], np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def block_rows(block: int, rows: int) -> NDArray[np.int64]:
    """Row numbers of a block of a table of ``rows`` rows; the last block may be short.

    >>> block_rows(1, 1026)
    array([1024, 1025])
    """
    return np.arange(block * BLOCK, min((block + 1) * BLOCK, rows), dtype=np.int64)


def row_keys(rows: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """A well-spread 64-bit key (n,) per row number; different rows have different keys."""
    salt = mix(np.array([seed], np.uint64))
    return mix(rows.astype(np.int64).view(np.uint64) ^ salt)
