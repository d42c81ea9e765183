"""How much is lost by the choice: columns chosen without some rows, judged on these rows beside all columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.evidence.label_rate import placement_variance, placements
from spark_pufs.core.soft.distillation import left_out, soft_labels, taught
from spark_pufs.core.soft.encoding import Codes, Encoding, Floats
from spark_pufs.core.soft.folds import HashedFolds
from spark_pufs.core.soft.students import core_report, mean_rank
from spark_pufs.core.soft.teacher import Bools

__all__ = ["HeldOut", "column_scores", "judged", "rank_columns", "soft_auc"]


@dataclass(frozen=True)
class HeldOut:
    """AUC of labelled against other rows, none of which was seen: ``chosen`` columns, ``every`` column.

    ``error``, ``chosen_error``, ``every_error``: standard errors of the difference, of ``chosen`` and of ``every``.
    ``lost``: by how much the choice falls short of all columns where rows count by the teacher's soft labels, which
    vary less than a few labels do; without a teacher, by the labels.
    """

    chosen: float
    every: float
    chosen_error: float
    error: float
    lost: float
    every_error: float | None = None  # None: judged before it was told

    def told(self, better: bool, chosen: int, columns: int) -> str:
        """The verdict on so many of all columns in one line."""
        gap = f"difference {self.chosen - self.every:+.3f} +- {self.error:.3f}"
        aucs = f"held-out AUC {self.chosen:.3f} +- {self.chosen_error:.3f} with {chosen} of {columns} columns"
        how = "Better than chance" if better else "No better than chance"
        rest = f"{self.every:.3f} with all ({gap}, up to {self.most_lost:.2f} may be lost), 0.5 by chance."
        return f"{how}: {aucs}, {rest}"

    @property
    def most_lost(self) -> float:
        """What may be lost, with two standard errors to spare."""
        return max(self.every - self.chosen, self.lost, 0.0) + 2 * self.error


def rank_columns(
    codes: Codes, positive: Bools, negative: Bools, encoding: Encoding, hidden: float, k: int, folds: int, trees: int,
    seed: int,
) -> Floats:  # fmt: skip
    """The mean rank (D,) over the views of rows with codes (D, n), from a teacher of their own."""
    hashed = HashedFolds.of(codes, positive, folds, seed)
    teaching, _ = taught(codes, positive, hashed, encoding, trees, seed)
    soft = soft_labels(teaching.target, positive, negative, hidden)
    return mean_rank(core_report(codes, positive, teaching.target, soft, encoding, k, seed).scores)


def column_scores(
    codes: Codes, labelled: Bools, test: Bools, encoding: Encoding, columns: NDArray[np.intp], trees: int, seed: int
) -> Floats:
    """What members that learnt from some columns of the other rows say (M, m) of the ``test`` rows."""
    own = np.ascontiguousarray(codes[columns])
    return left_out(own, labelled, test, encoding.of_features(columns), trees, seed)[0]


def judged(chosen: Floats, every: Floats, labelled: Bools, soft: Floats) -> HeldOut:
    """Scores (n,) by the chosen columns beside scores by all of them."""
    parts = [placements(scores[labelled], scores[~labelled]) for scores in (chosen, every)]
    aucs = [float(above.mean()) for above, _ in parts]
    spread, every_spread = (np.sqrt(placement_variance(*part)) for part in parts)
    gap = np.sqrt(placement_variance(parts[1][0] - parts[0][0], parts[1][1] - parts[0][1]))
    lost = soft_auc(every, soft) - soft_auc(chosen, soft)
    return HeldOut(aucs[0], aucs[1], float(spread), float(gap), lost, float(every_spread))


def soft_auc(scores: Floats, soft: Floats) -> float:
    """AUC of scores (n,) where row i is positive with probability ``soft[i]``, ties counting half.

    >>> soft_auc(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])), soft_auc(np.ones(2), np.array([0.2, 0.4]))
    (1.0, 0.5)
    """
    _, level = np.unique(scores, return_inverse=True)
    high, low = np.bincount(level, soft), np.bincount(level, 1 - soft)
    below = np.cumsum(low) - low / 2
    pairs = high.sum() * low.sum()
    return float((high * below).sum() / pairs) if pairs else 0.5
