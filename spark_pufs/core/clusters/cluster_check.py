"""Does the cluster assumption hold: do clusters on some columns gather the labelled rows more than chance would?

The clusters are kept and the labels redrawn: with cluster sizes c_k fixed, |L| labels thrown over N rows at random fall
multivariate hypergeometric into the clusters, which is drawn exactly and without touching a row. The effect size is
f N / |L|, the LL score of "row lies in a positive cluster": 1 by chance, 1 / (share of positives) at most, and
independent of the label rate. Taking all clusters always scores 1, so f sees labels gathered in few clusters, not a
slight shift of their shares.

A mask that was searched for by maximising f on the same labels makes this null optimistic. There are two ways out.
``selected=True`` takes the p-value times ``tried``, as if that many unrelated masks had been tried (Bonferroni): safe,
and cheap where labels are not very few, because real clusters lie far beyond any chance. Or keep labels back: search
with the first part of ``split_labels``, leave those rows out, and count the held labels only; then the null is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spark_pufs import fragments
from spark_pufs.core.clusters.objective import recall_precision
from spark_pufs.errors import ConfigError, DataError, Fault

__all__ = ["HOLDS", "LEAST", "WEAK", "ClusterCheck", "ClusterVerdict", "cluster_check", "split_labels"]

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
ClusterVerdict: TypeAlias = Literal["holds", "weak", "does not hold", "too few labels to tell"]

# Effect sizes. Measured on the relevant features of the ten artificial conditions: 4.3 to 9.1 where the assumption
# holds, 1.0 to 1.5 where it does not.
HOLDS: Final = 2.0
WEAK: Final = 1.25
LEAST: Final = 5  # labelled rows below which nothing is said
BLOCK: Final = 20_000  # draws at once


@dataclass(frozen=True)
class ClusterCheck:
    """``effect`` = f N / |L| beside what chance gives: its mean ``chance`` and the ``critical`` value to pass at alpha.

    ``p_value`` is that of f under redrawn labels, counted with the +1 rule and already corrected for the search.
    """

    f: float
    effect: float
    chance: float
    critical: float
    p_value: float
    labelled: int
    rows: int
    verdict: ClusterVerdict
    reason: str

    def __str__(self) -> str:
        return f"cluster assumption: {self.verdict}. {self.reason}"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        tones: dict[str, fragments.Tone] = {"holds": "good", "weak": "fair"}
        tone = tones.get(self.verdict, "poor")
        return fragments.card(f"Cluster assumption: {self.verdict}", tone, fragments.paragraph(self.reason))


def cluster_check(
    labelled: ArrayLike,
    rows: ArrayLike,
    rng: np.random.Generator,
    *,
    selected: bool = False,
    tried: int = 1000,
    prior: float | None = None,
    draws: int = 2000,
    alpha: float = 0.05,
) -> ClusterCheck:
    """Check one clustering from its counts: ``labelled`` (K,) and all ``rows`` (K,) of every cluster.

    ``selected`` says that the columns were chosen by these very labels; ``tried`` is then the number of unrelated masks
    to allow for (see the module). With a high share of positives, ``prior``, even perfect clusters have a small effect:
    given it, a third of the way from chance to perfect is enough to hold.

    >>> print(cluster_check([45, 5, 0], [500, 1500, 2500], np.random.default_rng(0)))
    cluster assumption: holds. The LL score of the clusters is 7.29, by chance it is 1.00 (p = 0.0005).
    """
    a, c = _checked(labelled, rows)
    if not 0 < alpha < 1 or draws < 1 or tried < 1 or not (prior is None or 0 < prior < 1):
        found = f"alpha {alpha}, draws {draws}, tried {tried}, prior {prior} are out of range"
        raise ConfigError(Fault("Cluster check", found, "alpha and prior lie in (0, 1), the others are at least 1."))
    total, size = int(a.sum()), int(c.sum())
    if total == 0:
        return ClusterCheck(0.0, 0.0, 1.0, 1.0, 1.0, 0, size, *_decide(0, 0.0, 1.0, 1.0, 1.0, alpha, prior))
    masks = tried if selected else 1
    # A p-value times 1000 can only pass when the draws resolve 1 / 1000 of alpha.
    null = _null(c, total, max(draws, int(np.ceil(2 * masks / alpha)) if selected else 0), rng)
    f = float(recall_precision(a[None], c[None], total)[0])
    lift = size / total
    above = int((null >= f * (1 - 1e-12)).sum())
    p = min(1.0, masks * (1 + above) / (1 + len(null)))
    critical = float(np.quantile(null, 1 - alpha / masks)) * lift
    chance = float(null.mean()) * lift
    verdict, reason = _decide(total, f * lift, chance, critical, p, alpha, prior)
    return ClusterCheck(f, f * lift, chance, critical, p, total, size, verdict, reason)


def split_labels(labelled: ArrayLike, rng: np.random.Generator, held: float = 0.5) -> tuple[Mask, Mask]:
    """Labels (N,) for the search and labels (N,) kept back for the check, no row in both.

    Leave the rows labelled for the search out of the counts: clusters were chosen to hold them.

    >>> search, check = split_labels([1, 1, 1, 1, 0, 0], np.random.default_rng(0))
    >>> int(search.sum()), int(check.sum()), bool((search & check).any())
    (2, 2, False)
    """
    flag = np.asarray(labelled).astype(np.bool_)
    where = rng.permutation(np.flatnonzero(flag))
    kept = np.zeros(len(flag), np.bool_)
    kept[where[: round(held * len(where))]] = True
    return flag & ~kept, kept


def _null(sizes: Ints, total: int, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """f (draws,) of labels thrown at random."""
    parts = []
    for start in range(0, draws, BLOCK):
        count = min(BLOCK, draws - start)
        if sizes.sum() < 10**9:
            thrown = rng.multivariate_hypergeometric(sizes, total, count, method="marginals")
        else:  # numpy's limit; among so many rows drawing with or without replacement is the same
            thrown = np.minimum(rng.multinomial(total, sizes / sizes.sum(), count), sizes)
        parts.append(recall_precision(thrown, np.broadcast_to(sizes, thrown.shape), total))
    return np.concatenate(parts)


def _decide(
    labelled: int, effect: float, chance: float, critical: float, p: float, alpha: float, prior: float | None
) -> tuple[ClusterVerdict, str]:
    room = float("inf") if prior is None else 1 / prior - 1
    holds, weak = min(HOLDS, 1 + room / 3), min(WEAK, 1 + room / 8)
    seen = f"The LL score of the clusters is {effect:.2f}, by chance it is {chance:.2f} (p = {p:.2g})"
    if labelled < LEAST:
        return "too few labels to tell", f"Only {labelled} labelled rows, at least {LEAST} are needed."
    if p >= alpha and critical >= holds:
        reach = f"With {labelled} labelled rows chance alone can reach {critical:.2f}"
        return "too few labels to tell", f"{reach}; the LL score of the clusters is {effect:.2f}."
    if p >= alpha:
        return "does not hold", f"{seen} and can reach {critical:.2f}."
    if effect >= holds:
        return "holds", f"{seen}."
    if effect >= weak:
        return "weak", f"{seen}; {holds:.2f} or more would be convincing."
    return "does not hold", f"{seen}: more than chance, but too little to build on."


def _checked(labelled: ArrayLike, rows: ArrayLike) -> tuple[Ints, Ints]:
    a, c = np.asarray(labelled, np.float64), np.asarray(rows, np.float64)
    if a.ndim != 1 or a.shape != c.shape or len(a) == 0:
        found = f"expected two counts (K,), got shapes {a.shape} and {c.shape}"
        raise DataError(Fault("Cluster check", found, "Give labelled and all rows of every cluster."))
    if (a != np.rint(a)).any() or (c != np.rint(c)).any() or (a < 0).any() or (a > c).any() or c.sum() == 0:
        found = "counts must be whole, and no cluster can hold more labelled rows than rows"
        raise DataError(Fault("Cluster check", found, "Count every row once, without weights."))
    return a.astype(np.int64), c.astype(np.int64)
