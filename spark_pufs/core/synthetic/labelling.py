"""Which rows of a table with known classes keep a label: mechanisms of missing labels, for experiments.

    SCAR   positives alone, all with one chance                 selected completely at random: what PU methods assume
    MCAR   every row with one chance                            Sechidis & Brown 2017, Fig. 2a
    MAR-C  each class with its own chance                       Sechidis & Brown 2017, Fig. 2b; SCAR is its special case
    SAR    positives with a chance that depends on a feature    selected at random: breaks the assumption of all above

A row's luck is a key of its number and the seed (``row_keys``), so the same rows are labelled wherever they lie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from spark_pufs.core.synthetic.row_blocks import row_keys
from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED

__all__ = ["MAR_C", "MCAR", "SAR", "SCAR", "Counted", "Mechanism", "SmallestKeys", "counted", "draw_labels"]

Keys = NDArray[np.uint64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Mechanism(Protocol):
    """Decides for each row by its key, its class and, where ``feature`` names one, a value."""

    @property
    def feature(self) -> str | None: ...

    def labelled(self, keys: Keys, positive: Mask, x: Floats | None = None) -> Mask:
        """Rows (n,) that keep their label, from keys (n,), class (n,) and values (n,)."""


def draw_labels(
    mechanism: Mechanism, rows: NDArray[np.int64], positive: Mask, seed: int = 0, x: Floats | None = None
) -> NDArray[np.uint8]:
    """Label states (n,) of rows by their numbers (n,) and classes (n,).

    >>> rows, positive = np.arange(100_000), np.arange(100_000) % 4 == 0
    >>> np.bincount(draw_labels(MAR_C(0.4, 0.1), rows, positive, seed=1)).tolist()
    [82669, 9913, 7418]
    """
    labelled = mechanism.labelled(row_keys(rows, seed), positive, x)
    own = np.where(positive, np.uint8(LABELLED_POSITIVE), np.uint8(LABELLED_NEGATIVE))
    return np.where(labelled, own, np.uint8(UNLABELLED))


@dataclass(frozen=True)
class MAR_C:  # noqa: N801 - the name it has in the paper
    """A positive keeps its label with probability ``positive``, a negative with probability ``negative``."""

    positive: float
    negative: float
    feature: None = None

    def __post_init__(self) -> None:
        _check_share("positive", self.positive)
        if self.negative:
            _check_share("negative", self.negative)

    def labelled(self, keys: Keys, positive: Mask, x: Floats | None = None) -> Mask:
        return np.asarray(_uniform(keys) < np.where(positive, self.positive, self.negative))


def SCAR(share: float) -> MAR_C:
    """Each positive keeps its label with probability ``share``, a negative never."""
    return MAR_C(share, 0.0)


def MCAR(share: float) -> MAR_C:
    """Each row keeps its label with probability ``share``."""
    return MAR_C(share, share)


@dataclass(frozen=True)
class Counted:
    """Positives whose key is at most ``last`` keep their label; ``counted`` finds the key for a number of them."""

    last: int
    feature: None = None

    def labelled(self, keys: Keys, positive: Mask, x: Floats | None = None) -> Mask:
        return positive & (keys <= np.uint64(self.last))


@dataclass(frozen=True)
class SAR:
    """A positive keeps its label with probability 2 ``share`` / (1 + exp(-``slope`` (x - ``centre``) / ``scale``)).

    Where the values of positives lie evenly around ``centre`` the share of labelled positives is ``share``, as with
    SCAR, but those with large x are labelled more often. A missing value counts as ``centre``.
    """

    share: float
    feature: str
    slope: float = 3.0
    centre: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        _check_share("share", self.share, most=0.5)
        if not self.scale > 0:
            fault = Fault("Option 'scale'", f"must be above 0, got {self.scale!r}", "Give the spread of the feature.")
            raise ConfigError(fault)

    def labelled(self, keys: Keys, positive: Mask, x: Floats | None = None) -> Mask:
        if x is None:
            raise ValueError(f"SAR labels need the values of '{self.feature}'")
        steps = np.nan_to_num((x - self.centre) / self.scale)
        return np.asarray(positive & (_uniform(keys) < 2 * self.share * expit(self.slope * steps)))


@dataclass(frozen=True)
class KeptKeys:
    """The ``most`` smallest ``keys``, sorted, of ``seen`` ones."""

    keys: Keys
    seen: int
    most: int

    def merge(self, other: KeptKeys) -> KeptKeys:
        keys = np.sort(np.concatenate([self.keys, other.keys]))[: self.most]
        return KeptKeys(keys, self.seen + other.seen, self.most)


@dataclass(frozen=True)
class SmallestKeys:
    """A pass over keys of positives that keeps the ``count`` smallest: one number per label wanted."""

    count: int

    def start(self) -> KeptKeys:
        return KeptKeys(np.zeros(0, np.uint64), 0, self.count)

    def add(self, state: KeptKeys, batch: Keys) -> KeptKeys:
        return state.merge(KeptKeys(batch, len(batch), self.count))


def counted(state: KeptKeys, count: int) -> Counted:
    """The mechanism that labels exactly ``count`` positives, from a state of ``SmallestKeys``.

    >>> kernel, rows = SmallestKeys(3), np.arange(10)
    >>> mechanism = counted(kernel.add(kernel.start(), row_keys(rows, 5)), 3)
    >>> int(draw_labels(mechanism, rows, np.ones(10, bool), seed=5).sum())
    3
    """
    found = state.seen
    if not 0 < count <= found:
        fault = Fault("Option 'count'", f"{count} positives are to be labelled, there are {found}", "Ask for fewer.")
        raise (DataError if count > found else ConfigError)(fault)
    return Counted(int(state.keys[count - 1]))


def _uniform(keys: Keys) -> Floats:
    """Numbers in [0, 1) from the upper 53 bits."""
    return np.asarray((keys >> np.uint64(11)) * 2.0**-53)


def _check_share(name: str, share: float, most: float = 1.0) -> None:
    if not 0 < share <= most:
        fault = Fault(f"Option '{name}'", f"must be above 0 and at most {most:g}, got {share!r}", "For example 0.1.")
        raise ConfigError(fault)
