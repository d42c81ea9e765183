"""Views of the label alone, without a teacher: what each column tells of who is labelled."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from spark_pufs.core.counting.counts import level_sums
from spark_pufs.core.soft.encoding import Codes, Encoding, Floats
from spark_pufs.core.soft.teacher import Bools
from spark_pufs.core.soft.trees import grown, importance

__all__ = ["LABEL_KINDS", "LABEL_VIEWS", "label_views"]

LABEL_VIEWS = ("information", "AUC", "label trees")
LABEL_KINDS = ("naive Bayes", "linear", "trees")


def label_views(codes: Codes, labelled: Bools, encoding: Encoding, trees: int, seed: int) -> Floats:
    """Scores (3, D) of codes (D, n), larger is better, in the order of ``LABEL_VIEWS``."""
    return np.vstack(
        [
            _information(codes, labelled, encoding),
            _distance_from_half(codes, labelled),
            importance(grown(codes, labelled, trees, seed)),
        ]
    )


def _information(codes: Codes, labelled: Bools, encoding: Encoding) -> Floats:
    """Information with the label in units of its deviation under chance: levels less one, by the chi-square."""
    layout = encoding.coarse
    counts = level_sums(np.vstack([labelled, ~labelled]).astype(np.float32), encoding.coarse_codes(codes), layout)
    rows = counts.sum(axis=0)
    expected = rows * np.array([labelled.mean(), 1 - labelled.mean()])[:, None]
    cells = counts * np.log(np.where(counts > 0, counts, 1.0) / np.where(expected > 0, expected, 1.0))
    g = 2 * np.add.reduceat(cells.sum(axis=0), layout.offsets[:-1])
    free = np.maximum(np.add.reduceat((rows > 0).astype(np.float64), layout.offsets[:-1]) - 1, 1)
    found: Floats = (g - free) / np.sqrt(2 * free)
    return found


def _distance_from_half(codes: Codes, labelled: Bools) -> Floats:
    """How far the AUC of each column lies from one half; the levels of a text stand in the order of their rows."""
    few, many = int(labelled.sum()), int((~labelled).sum())
    ranks = rankdata(codes, axis=1)[:, labelled].sum(axis=1)
    auc = (ranks - few * (few + 1) / 2) / (few * many)
    found: Floats = np.abs(auc - 0.5)
    return found
