"""Who gets a label: whether being labelled depends on a column among the positives.

Labelled rows are compared with unlabelled rows that are positive beyond doubt. Those are found by the score of all
other columns, each row judged by models that have not seen it, so that neither the column nor its part in the score
decides who is compared. Above a cut of that score both kinds of row are positives: where labels depend on the class
alone, the column is distributed alike in both. Where negatives reach the scores of positives it is not, whatever labels
depend on; so a column is judged only where three estimators of the share of positives, which part where classes
overlap, agree. A few negatives may still be among the rows compared: the p-value is the largest over shares of them up
to a bound, each taken out as rows of low score are distributed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.counting.counts import level_sums
from spark_pufs.core.evidence.prior import ESTIMATORS, Scores, agree, best_cut
from spark_pufs.core.information.independence import log_p_values
from spark_pufs.core.information.score_tests import combined_p, score_p_values
from spark_pufs.types import Layout

__all__ = ["ColumnScores", "LabelledColumn", "LabellingCheck", "check_columns", "labelling_check"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.uint8]

ALARM = 0.05  # chance that a column is named although labels depend on none
SHOWN = 5  # columns that are printed
LEAST = 20  # labelled and unlabelled rows above the cut
SEPARATING = ("elkan-noto", "best-bin", "dedpul")  # agree where classes are apart
LEAST_LEVELS = 8  # fine levels of a number that scores are tested on
IMPURE = (0.0, 0.025, 0.05, 0.1, 0.15)  # shares of negatives among the unlabelled rows compared
LOW = 0.05  # quantile of labelled rows' scores below which rows are taken for negatives
TREND = 0.1  # p-value of a trend with the score above the cut, below which the rows there are no pure positives


@dataclass(frozen=True)
class LabelledColumn:
    """One column: ``p_value``, None where it cannot be told, which ``why`` explains; rows that were compared."""

    name: str
    p_value: float | None
    labelled: int = 0
    unlabelled: int = 0
    why: str = ""


@dataclass(frozen=True)
class ColumnScores:
    """Codes (D, n) of fine levels along ``layout``, and additive models of them.

    ``group``, ``score``, ``named`` (L,): as in ``Encoding``. ``tables`` (F, L): what each level adds to a row's score
    by the models of each fold; those of ``fold`` (n,) were not fitted to the row.
    """

    codes: Codes
    layout: Layout
    group: NDArray[np.int64]
    score: Floats
    named: Bools
    tables: Floats
    fold: NDArray[np.integer]

    def added(self, column: int) -> Floats:
        """What a column adds to the score (n,) of every row."""
        level = self.codes[column].astype(np.int64) + int(self.layout.offsets[column])
        return np.asarray(self.tables[self.fold, level], np.float64)

    def total(self) -> Floats:
        """The score (n,) of every row."""
        found = np.zeros(self.codes.shape[1])
        for column in range(len(self.codes)):
            found += self.added(column)
        return found


def check_columns(rows: ColumnScores, labelled: Bools, unlabelled: Bools, names: Sequence[str]) -> list[LabelledColumn]:
    """Every column, in their order; ``labelled`` and ``unlabelled`` (n,)."""
    total = rows.total()
    return [_one(rows, i, total - rows.added(i), labelled, unlabelled, name) for i, name in enumerate(names)]


def _one(
    rows: ColumnScores, column: int, score: Floats, labelled: Bools, unlabelled: Bools, name: str
) -> LabelledColumn:
    scores = Scores.of(score[labelled], score[unlabelled])
    shares = [ESTIMATORS[one](scores, 1.0) for one in SEPARATING]
    if not agree(shares):
        return LabelledColumn(name, None, why="positives cannot be told apart by the other columns")
    above = score >= best_cut(scores)
    own, others = above & labelled, above & unlabelled
    m, n = int(own.sum()), int(others.sum())
    if min(m, n) < LEAST:
        return LabelledColumn(name, None, m, n, f"fewer than {LEAST} rows are surely positive")
    if _trend(score, own, others) < TREND:
        return LabelledColumn(name, None, m, n, "rows of high score are not all positive")
    low = unlabelled & (score < np.quantile(score[labelled], LOW))
    return LabelledColumn(name, _p_value(rows, column, own, others, low if low.sum() >= LEAST else unlabelled), m, n)


def _trend(score: Floats, own: Bools, others: Bools) -> float:
    """p-value for labelled rows that score higher than unlabelled ones, by ranks (Mann and Whitney)."""
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(score[own], score[others], alternative="greater", method="asymptotic").pvalue)


def _p_value(rows: ColumnScores, column: int, own: Bools, others: Bools, negative: Bools) -> float:
    """The largest p-value over shares of negatives among ``others``."""
    codes, fine = rows.codes[column : column + 1], Layout((rows.layout.levels[column],))
    counts = level_sums(np.vstack([others, own, negative]).astype(np.float32), codes, fine)  # (3, levels)
    of_negatives = counts[2] / counts[2].sum()
    found = []
    for share in IMPURE:
        left = np.rint(np.maximum(counts[0] - share * counts[0].sum() * of_negatives, 0.0)).astype(np.int64)
        found.append(_alike(rows, column, np.stack([left, counts[1]])))
    return max(found)


def _alike(rows: ColumnScores, column: int, counts: NDArray[np.int64]) -> float:
    """p-value for two kinds of row (2, levels) that are distributed alike."""
    span = rows.layout.span(column)
    group = rows.group[span] - rows.group[span].min()
    grouped = np.stack([np.bincount(group, part, int(group.max()) + 1) for part in counts]).astype(np.int64)
    p = float(np.exp(log_p_values(grouped[:, None], Layout((grouped.shape[1],)))[0]))
    known = counts * ~rows.named[span]
    if np.count_nonzero(known.sum(axis=0)) < LEAST_LEVELS:
        return p
    score = rows.score[span]
    parts = [score_p_values(known.sum(axis=0)[None], known[1][None], one[None])[0] for one in (score, score**2)]
    return float(combined_p(np.array([[p], *([part] for part in parts)]))[0])


@dataclass(frozen=True)
class LabellingCheck:
    """Whether labels depend on columns among the positives: ``verdict`` is "depends", "no sign" or "cannot tell".

    ``columns``: every column, the lowest p-value first, those that cannot be judged last. ``found``: columns that
    labels depend on, at a chance of 5 % that one of them is there by mistake (Holm 1979).
    """

    verdict: str
    reason: str
    columns: tuple[LabelledColumn, ...]
    found: tuple[str, ...] = ()

    def __str__(self) -> str:
        judged = [one for one in self.columns if one.p_value is not None][:SHOWN]
        lines = [f"  {one.name}: p {one.p_value:.2g}, {one.labelled:,} labelled rows" for one in judged]
        return "\n".join([f"Labels: {self.verdict}. {self.reason}", *lines])


def labelling_check(columns: Sequence[LabelledColumn]) -> LabellingCheck:
    """The verdict over all columns.

    >>> labelling_check([LabelledColumn("a", 0.2), LabelledColumn("b", 0.001), LabelledColumn("c", None)]).found
    ('b',)
    """
    ordered = sorted(columns, key=lambda one: (one.p_value is None, one.p_value or 0.0))
    judged = [one for one in ordered if one.p_value is not None]
    if not judged:
        why = max({one.why for one in columns}, key=[one.why for one in columns].count) if columns else "no columns"
        return LabellingCheck("cannot tell", f"No column can be judged: {why}.", tuple(ordered))
    found = []
    for left, one in zip(range(len(judged), 0, -1), judged, strict=True):
        if one.p_value is None or one.p_value * left > ALARM:
            break
        found.append(one.name)
    of = f"{len(judged):,} of {len(ordered):,} columns can be judged"
    if found:
        named = ", ".join(f"'{name}'" for name in found[:SHOWN])
        reason = f"Positives are labelled by {named}; {of}. Rank given them: labelled_by."
        return LabellingCheck("depends", reason, tuple(ordered), tuple(found))
    return LabellingCheck("no sign", f"Labelled and unlabelled positives are alike; {of}.", tuple(ordered))
