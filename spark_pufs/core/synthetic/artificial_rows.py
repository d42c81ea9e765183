"""The ten artificial conditions row by row, for tables of any length and width.

``artificial.py`` draws the paper's 4,500 rows at once: exact class sizes, columns scaled by their own range. Here
each row is drawn by itself, so that rows can be made anywhere in any number: a row is positive with probability
``positives``, so class sizes are binomial, and values stay as drawn. Without clusters a row is positive when its norm
passes the chi-square quantile that leaves the share ``positives`` outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from spark_pufs.core.synthetic.artificial import Condition
from spark_pufs.core.synthetic.row_blocks import BLOCK, block_generator
from spark_pufs.errors import ConfigError, Fault

__all__ = ["ArtificialRows"]

WIDEST = 100_000  # columns of a kind: each has a name, and a block of rows is held whole
_ROWS, _PLAN = 0, 1  # streams of random numbers: of the rows, and of what all rows share
_CLUSTER_VARIANCE, _OUTLIER_VARIANCE = 10.0, 25.0


@dataclass(frozen=True)
class ArtificialRows:
    """A condition with its sizes; a fifth of the noise columns follow another one up to N(0, 1).

    >>> table = ArtificialRows(Condition(0.4, 8, 1), seed=1)
    >>> X, positive = table.block(0)
    >>> X.shape, table.names[0], table.names[-1]
    ((1024, 50), 'relevant_01', 'noise_25')
    """

    condition: Condition
    seed: int = 0
    relevant: int = 25
    noise: int = 25
    positives: float = 1 / 9  # 500 of 4,500

    def __post_init__(self) -> None:
        faults = [
            Fault(f"Option '{name}'", f"must be {what}, got {got!r}", f"The paper's value is {paper}.")
            for name, what, got, ok, paper in (
                ("relevant", f"from 1 to {WIDEST:,}", self.relevant, 1 <= self.relevant <= WIDEST, "25"),
                ("noise", f"from 0 to {WIDEST:,}", self.noise, 0 <= self.noise <= WIDEST, "25"),
                ("positives", "between 0 and 1", self.positives, 0 < self.positives < 1, "1/9"),
                ("seed", "at least 0", self.seed, self.seed >= 0, "not known"),
            )
            if not ok
        ]
        if faults:
            raise ConfigError(faults)

    @property
    def names(self) -> list[str]:
        """``relevant_01`` ... ``noise_25``: the names tell the truth, no selector reads them."""
        digits = max(2, len(str(max(self.relevant, self.noise))))
        kinds = (("relevant", self.relevant), ("noise", self.noise))
        return [f"{kind}_{i:0{digits}d}" for kind, count in kinds for i in range(1, count + 1)]

    def block(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Values (1024, relevant + noise) and hidden class (1024,) of one block of rows."""
        rng = block_generator(self.seed, _ROWS, number)
        relevant, positive = self._clusters(rng) if self.condition.negative_clusters else self._outliers(rng)
        return np.hstack([relevant, self._noise(rng)]), positive

    @cached_property
    def centres(self) -> NDArray[np.float64]:
        """Cluster means, uniform(-5, 5): those of the negatives, then those of the positives (clusters, relevant)."""
        clusters = self.condition.negative_clusters + self.condition.positive_clusters
        return block_generator(self.seed, _PLAN, 0).uniform(-5, 5, (clusters, self.relevant))

    @cached_property
    def copied(self) -> NDArray[np.intp]:
        """The uniform columns that the last noise columns follow (copies,)."""
        copies = self.noise // 5
        return np.asarray(block_generator(self.seed, _PLAN, 1).permutation(self.noise - copies)[:copies], np.intp)

    def _clusters(self, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        negative, own = self.condition.negative_clusters, self.condition.positive_clusters
        positive = rng.random(BLOCK) < self.positives
        cluster = np.where(positive, negative + rng.integers(own, size=BLOCK), rng.integers(negative, size=BLOCK))
        spread = rng.normal(0, np.sqrt(_CLUSTER_VARIANCE), (BLOCK, self.relevant))
        return self.centres[cluster] + spread, positive

    def _outliers(self, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        X = rng.normal(0, np.sqrt(_OUTLIER_VARIANCE), (BLOCK, self.relevant))
        border = _OUTLIER_VARIANCE * chi2.isf(self.positives, self.relevant)
        return X, np.asarray((X**2).sum(axis=1) > border)

    def _noise(self, rng: np.random.Generator) -> NDArray[np.float64]:
        uniform = rng.uniform(-10, 10, (BLOCK, self.noise - len(self.copied)))
        return np.hstack([uniform, uniform[:, self.copied] + rng.normal(0, 1, (BLOCK, len(self.copied)))])
