"""A taught teacher that grades any row of a table: soft labels as whole numbers, so that their sums are integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.soft.distillation import SLOPE, Teaching, known_or_soft, soft_offset
from spark_pufs.core.soft.encoding import Codes, Floats
from spark_pufs.core.soft.folds import HashedFolds
from spark_pufs.core.soft.teacher import Bools, FoldModels, placed, weighed
from spark_pufs.types import FULL_GRADE, LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Layout

__all__ = ["TaughtTeacher"]


@dataclass(frozen=True)
class TaughtTeacher:
    """The models of every fold, and how their scores become a posterior.

    ``ladders`` (M, n): the sorted out-of-fold scores of each member on the training sample, ``ladder`` (n,) those of
    their weighted sum; a row's place on them is what it is compared by. ``offset``: brings the mean of soft labels to
    the share of hidden positives.
    """

    layout: Layout
    folds: HashedFolds
    models: tuple[FoldModels | None, ...]
    ladders: Floats
    weights: Floats
    ladder: Floats
    offset: float

    @classmethod
    def of(
        cls, teaching: Teaching, label: NDArray[np.uint8], layout: Layout, folds: HashedFolds,
        models: tuple[FoldModels | None, ...], hidden: float,
    ) -> TaughtTeacher:  # fmt: skip
        """From the teaching on a training sample with ``label`` (n,) states."""
        ladders = np.sort(teaching.scores, axis=1)
        ranks = np.vstack([placed(own, ladder) for own, ladder in zip(teaching.scores, ladders, strict=True)])
        offset = soft_offset(teaching.target[label == UNLABELLED], hidden)
        return cls(layout, folds, models, ladders, teaching.weights, np.sort(weighed(teaching.weights, ranks)), offset)

    def target(self, codes: Codes, labelled: Bools) -> Floats:
        """The teacher's normal score (n,) of rows with codes (D, n), each by the models that have not seen it."""
        scores = np.zeros((len(self.ladders), len(labelled)))
        fold = self.folds.fold(codes, labelled)
        for number, models in enumerate(self.models):
            rows = np.flatnonzero(fold == number)
            if models is not None and len(rows):
                scores[:, rows] = models.scores(codes[:, rows], self.layout)
        ranks = np.vstack([placed(own, ladder) for own, ladder in zip(scores, self.ladders, strict=True)])
        return placed(weighed(self.weights, ranks), self.ladder)

    def grades(self, codes: Codes, label: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Soft labels (n,) in units of 1 / ``FULL_GRADE``; 0 and ``FULL_GRADE`` where the class is known."""
        positive, negative = label == LABELLED_POSITIVE, label == LABELLED_NEGATIVE
        soft = known_or_soft(SLOPE * self.target(codes, positive) - self.offset, positive, negative)
        return np.rint(FULL_GRADE * soft).astype(np.uint8)
