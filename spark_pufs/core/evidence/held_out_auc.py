"""How well boosted trees on some of the columns tell labelled rows from the others that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.row_sample import LabelledRows
from spark_pufs.core.evidence.classifier import TREES, held_out_scores
from spark_pufs.core.evidence.pu_scores import pu_auc
from spark_pufs.types import LABELLED_POSITIVE

__all__ = ["JudgedMasks", "MaskAucs", "auc_of_masks", "held_out"]

SHARE = 0.25  # FSCPU paper, section 6.2.2: learn on 75 % of the training data, judge on the rest


def held_out(labelled: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Rows (n,) to judge by: a quarter of the labelled rows and of the others, at least one of each.

    >>> rows = held_out(np.arange(10) < 2, np.random.default_rng(0))
    >>> int(rows[:2].sum()), int(rows[2:].sum())
    (1, 2)
    """
    test = np.zeros(len(labelled), np.bool_)
    for rows in (np.flatnonzero(labelled), np.flatnonzero(~labelled)):
        count = max(1, round(SHARE * len(rows)))
        test[rng.choice(rows, count, replace=False)] = True
    return test


@dataclass(frozen=True)
class JudgedMasks:
    """Masks (m, D) to judge; those with one ``seed`` share the rows they are judged by."""

    masks: NDArray[np.bool_]
    seed: tuple[int, ...]
    classifier: str
    trees: int = TREES


@dataclass(frozen=True)
class MaskAucs:
    """AUC (m,) of masks."""

    auc: NDArray[np.float64]


def auc_of_masks(shared: LabelledRows, unit: JudgedMasks) -> MaskAucs:
    """AUC of each of the unit's masks."""
    labelled = shared.label == LABELLED_POSITIVE
    test = held_out(labelled, np.random.default_rng(unit.seed))
    return MaskAucs(np.array([_auc(shared, unit, mask, labelled, test) for mask in unit.masks]))


def _auc(
    shared: LabelledRows,
    unit: JudgedMasks,
    mask: NDArray[np.bool_],
    labelled: NDArray[np.bool_],
    test: NDArray[np.bool_],
) -> float:
    if not mask.any():
        return 0.5
    X, seed = shared.X[:, mask], unit.seed[0] % 2**31
    score = held_out_scores(unit.classifier, X[~test], labelled[~test], X[test], [], seed, unit.trees)
    return pu_auc(score, labelled[test]).auc.value
