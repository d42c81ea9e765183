"""Whether errors, intervals, p-values and powers of single figures hold: simulation from counts and scores.

Parts of benchmarks/calibration.py, which writes them on the page: errors of scores, PU-AUC, PU-F1, the stability
interval, the cluster check, and power. Each draws its tables anew and knows what the figure estimates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from spark_pufs.core.clusters.cluster_check import cluster_check
from spark_pufs.core.evidence.pu_scores import Counts, pu_auc, score_counts
from spark_pufs.core.evidence.stability import stability
from spark_pufs.core.information.chance import class_beyond_chance
from spark_pufs.core.information.independence import log_p_values
from spark_pufs.core.information.power import g_power
from spark_pufs.types import Layout

Floats = NDArray[np.float64]
Row = tuple[str, ...]

ROWS, LEVELS = 4_500, 5
HEAD = ("figure", "drawn", "tables", "is to be", "is")


def figures(tables: int) -> list[Row]:
    """Every statistic over so many tables and more, where that is cheap."""
    return [row for part in PARTS for row in part(tables)]


def level_chances(tilt: float, labels: int) -> tuple[Floats, float]:
    """The chance (2, LEVELS) of each label and level where labelled rows lean to high levels; what that tells, nats."""
    own = np.exp(tilt * np.linspace(-1, 1, LEVELS))
    share = labels / ROWS
    joint = np.stack([(1 - share) * np.full(LEVELS, 1 / LEVELS), share * own / own.sum()])
    told = joint * np.log(joint / (joint.sum(axis=0) * joint.sum(axis=1, keepdims=True)))
    return joint, float(told.sum())


def scores(tables: int) -> list[Row]:
    """Whether two standard errors about a score hold the mean score over tables drawn like it."""
    rows = []
    for name, tilt in (("tells nothing", 0.0), ("tells little", 0.3), ("tells much", 1.2)):
        for labels in (20, 200):
            joint, _ = level_chances(tilt, labels)
            drawn = np.random.default_rng([labels, 31]).multinomial(ROWS, joint.ravel(), 5 * tables)
            counts = drawn.reshape(-1, 2, LEVELS).transpose(1, 0, 2).reshape(2, 1, -1)
            value, error = class_beyond_chance(counts, Layout((LEVELS,) * (5 * tables)))
            held = float((np.abs(value - value.mean()) <= 2 * error).mean())
            rows.append(_row("score ± 2 s.e.", f"{name}, {labels} labels", 5 * tables, "0.954", held))
    return rows


def auc(tables: int) -> list[Row]:
    """Whether the 95 % interval of PU-AUC holds the one at infinitely many rows."""
    rows = []
    for gap in (0.0, 1.0, 3.0):
        for labels in (10, 50, 300):
            truth = 0.9 * norm.cdf(gap / np.sqrt(2)) + 0.05  # a tenth of the unlabelled rows is positive
            held = np.mean([_auc_holds(gap, labels, truth, seed) for seed in range(tables)])
            rows.append(_row("PU-AUC", f"gap {gap:g}, {labels} labels", tables, "0.95", float(held)))
    return rows


def _auc_holds(gap: float, labels: int, truth: float, seed: int) -> bool:
    rng = np.random.default_rng([seed, labels, 32])
    unlabelled = rng.normal(np.where(rng.random(2_000) < 0.1, gap, 0.0))
    found = pu_auc(np.r_[rng.normal(gap, 1, labels), unlabelled], np.arange(labels + 2_000) < labels).auc
    return bool(found.low <= truth <= found.high)


def f_score(tables: int) -> list[Row]:
    """Whether the 95 % interval of PU-F1 holds the F1 that the hidden classes of the table give, rho being known."""
    rows = []
    for rho in (0.05, 0.2, 0.5):
        for recall, precision in ((0.9, 0.8), (0.5, 0.5)):
            hits, positives = round(500 * recall), 500
            predicted, truth = round(hits / precision), 2 * hits / (hits / precision + positives)
            rng = np.random.default_rng([round(100 * rho), round(100 * recall), 33])
            both = rng.hypergeometric(hits, positives - hits, round(rho * positives), 5 * tables)
            founds = [score_counts(Counts(4_500, predicted, round(rho * 500), int(own)), rho).f for own in both]
            held = float(np.mean([one.low <= truth <= one.high for one in founds]))
            told = f"recall {recall:g}, precision {precision:g}, {round(rho * 500)} labels"
            rows.append(_row("PU-F1", told, 5 * tables, "0.95", held))
    return rows


def stability_interval(tables: int) -> list[Row]:
    """Whether the 95 % interval of Nogueira's index holds that of infinitely many independent runs."""
    rows = []
    for name, p in (("clear", [0.95] * 8 + [0.05] * 32), ("partly", [0.7] * 10 + [0.2] * 30), ("none", [0.25] * 40)):
        chance = np.array(p)
        share = chance.mean()
        truth = 1 - (chance * (1 - chance)).mean() / (share * (1 - share))
        for runs in (10, 50):
            rng = np.random.default_rng([runs, 34])
            founds = [stability(rng.random((runs, 40)) < chance) for _ in range(2 * tables)]
            held = float(np.mean([one.low <= truth <= one.high for one in founds]))
            rows.append(_row("stability", f"{name}, {runs} runs", 2 * tables, "0.95", held))
    return rows


def clusters(tables: int) -> list[Row]:
    """How often the cluster check has a p-value up to 0.05 where labels are dealt at random over clusters."""
    rows, sizes = [], np.array([1_500, 900, 700, 500, 300, 250, 150, 100, 60, 40])
    for labels in (10, 50, 200):
        rng = np.random.default_rng([labels, 35])
        dealt = rng.multivariate_hypergeometric(sizes, labels, 2 * tables)
        passed = float(np.mean([cluster_check(own, sizes, rng, draws=500).p_value <= 0.05 for own in dealt]))
        rows.append(_row("cluster check, p up to 0.05", f"no clusters, {labels} labels", 2 * tables, "0.05", passed))
    return rows


def powers(tables: int) -> list[Row]:
    """How often a column of some effect passes at 0.05, beside the power that is told for it."""
    rows = []
    for labels in (20, 50, 200):
        for tilt in (0.4, 0.8):
            joint, told = level_chances(tilt, labels)
            drawn = np.random.default_rng([labels, 36]).multinomial(ROWS, joint.ravel(), 2 * tables)
            counts = drawn.reshape(-1, 2, LEVELS).transpose(1, 0, 2).reshape(2, 1, -1)
            passed = float((log_p_values(counts, Layout((LEVELS,) * (2 * tables))) <= np.log(0.05)).mean())
            expected = float(g_power(told, ROWS, df=LEVELS - 1))
            rows.append(
                _row("power at 0.05", f"{told:.5f} nats, {labels} labels", 2 * tables, f"{expected:.3f}", passed)
            )
    return rows


def _row(figure: str, drawn: str, tables: int, wanted: str, found: float) -> Row:
    return figure, drawn, f"{tables:,}", wanted, f"{found:.3f} ± {2 * np.sqrt(found * (1 - found) / tables):.3f}"


PARTS: tuple[Callable[[int], list[Row]], ...] = (scores, auc, f_score, stability_interval, clusters, powers)
