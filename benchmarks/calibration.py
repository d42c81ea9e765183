"""Whether p-values, error rates, intervals and promises hold: simulation where the truth is known.

    OMP_NUM_THREADS=1 python benchmarks/calibration.py [--tables 200] [--part figures] [--out PAGE]

Parts: p-values of the tests of columns under the null; the false share and the power at fdr 0.1 over tables of the ten
artificial conditions, beside analysis of variance with the same procedure, which is Spark ML's fdr mode for numbers;
the check of labels on tables with and without a column that labels follow; the interval of the share of positives;
lists with a promised recall; errors and intervals of single figures (calibration_figures.py). A part that is asked for
alone takes its place on the page, and the others stay as they are.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import calibration_figures
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2
from sklearn.feature_selection import f_classif

import spark_pufs
from spark_pufs.core.evidence.false_discoveries import q_values
from spark_pufs.core.evidence.prior import Scores, estimate_prior
from spark_pufs.core.information.independence import log_p_values
from spark_pufs.core.information.mutual_information import class_given_feature
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.types import Layout

Floats = NDArray[np.float64]
ROWS = 4_500
LEVELS = {
    "5 levels": [900] * 5,
    "32 levels": [140] * 32,
    "32 levels, falling": [round(1_100 / i) for i in range(1, 33)],
    "2 levels, 2 % in one": [4_410, 90],
    "3 levels, 4 rows in two": [4_496, 2, 2],
}
Q = 0.1
HEAD = """# Calibration

What the product says of errors, checked by simulation with known truth; written by `python benchmarks/calibration.py`.
"""


@dataclass(frozen=True)
class Part:
    """One table of the page."""

    title: str
    words: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def __str__(self) -> str:
        lines = [self.head, tuple("---" for _ in self.head), *self.rows]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"\n## {self.title}\n\n{self.words}\n\n{table}\n"


def null_p_values(sizes: list[int], labels: int, draws: int, seed: int = 0) -> tuple[Floats, Floats]:
    """p-values (draws,) of columns of these levels whose labels were dealt at random: ours, and of the G-test."""
    c = np.array(sizes)
    dealt = np.random.default_rng([seed, labels]).multivariate_hypergeometric(c, labels, draws).ravel()
    counts, layout = np.stack([np.tile(c, draws) - dealt, dealt])[:, None], Layout((len(c),) * draws)
    g = 2 * c.sum() * class_given_feature(counts, layout)[0]
    return np.exp(log_p_values(counts, layout)), np.asarray(chi2.sf(g, len(c) - 1))


def p_values(tables: int) -> Part:
    rows = []
    for name, sizes in LEVELS.items():
        for labels in (10, 50, 200):
            own, peer = null_p_values(sizes, labels, 10 * tables)
            shares = [f"{(p <= level).mean():.4f}" for level in (0.05, 0.01) for p in (own, peer)]
            rows.append((name, str(labels), *shares))
    words = f"Share of p-values up to a level; {10 * tables:,} columns each, labels dealt over about {ROWS:,} rows."
    head = ("column", "labels", "at 0.05", "chi-square at 0.05", "at 0.01", "chi-square at 0.01")
    return Part("p-values under the null", words, head, rows)


def false_share(tables: int) -> Part:
    """False share and power of fdr = 0.1, beside analysis of variance."""
    rows, each = [], max(1, 2 * tables // len(CONDITIONS))
    for number, condition in enumerate(CONDITIONS, start=1):
        found = np.array([_found(condition, seed) for seed in range(each)])
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / math.sqrt(each)
        cells = [f"{m:.3f} ± {2 * e:.3f}" for m, e in zip(mean, error, strict=True)]
        rows.append((str(number), *cells))
    words = f"Condition, {each} tables each of 50 columns, 25 relevant, `fdr=0.1`; means ± two standard errors."
    head = ("condition", "false share", "of analysis of variance", "power", "of analysis of variance")
    return Part("False share and power", words, head, rows)


def _found(condition: object, seed: int) -> tuple[float, float, float, float]:
    data = make_artificial(condition, 1_000 + seed)  # type: ignore[arg-type]
    table = pd.DataFrame(data.X, columns=data.names).assign(label=data.s)
    chosen = spark_pufs.select(table, label="label", method="semi-mim", fdr=Q).names
    own = np.isin(data.names, chosen)
    peer = q_values(f_classif(data.X, data.s)[1]) <= Q
    false = [float((hit & ~data.relevant).sum() / max(hit.sum(), 1)) for hit in (own, peer)]
    power = [float(hit[data.relevant].mean()) for hit in (own, peer)]
    return false[0], false[1], power[0], power[1]


def labelled_table(seed: int, slope: float, gap: float) -> pd.DataFrame:
    """A tenth to a third of 5,000 rows positive, higher in four of ten columns; labels follow c6 by ``slope``."""
    rng = np.random.default_rng([seed, 6])
    y = rng.random(5_000) < rng.uniform(0.1, 0.33)
    X = rng.normal(size=(5_000, 10))
    X[y, :4] += gap / 2
    chance = rng.uniform(0.1, 0.5) * 2 / (1 + np.exp(-slope * X[:, 6]))
    names = [f"c{i}" for i in range(10)]
    return pd.DataFrame(X, columns=names).assign(label=(y & (rng.random(5_000) < chance)).astype(int))


def label_check(tables: int) -> Part:
    rows, each = [], max(1, tables // 20)
    for gap in (1.0, 2.0, 3.0, 4.0):
        for slope in (0.0, 2.0):
            found = [spark_pufs.check_labels(labelled_table(seed, slope, gap), label="label") for seed in range(each)]
            answers = sum(one.verdict != "cannot tell" for one in found)
            alarms = sum(one.verdict == "depends" for one in found)
            first = sum(one.found[:1] == ("c6",) for one in found)
            told = f"{first} of {alarms}" if slope else "–"
            rows.append((f"{gap:g}", "c6" if slope else "nothing", str(each), str(answers), str(alarms), told))
    words = "Positives differ by a gap of so many deviations over four columns together, halved for each."
    head = ("gap", "labels follow", "tables", "answers", "alarms", "the right column first")
    return Part("Who gets a label", words, head, rows)


def prior_interval(tables: int) -> Part:
    rows = []
    for gap in (2.0, 3.0, 5.0):
        for labels in (50, 300):
            found = [_covered(gap, labels, seed) for seed in range(max(2, tables // 6))]
            hit, error, wide = (np.mean(column) for column in zip(*found, strict=True))
            rows.append((f"{gap:g}", str(labels), str(len(found)), f"{hit:.3f}", f"{error:.3f}", f"{wide:.3f}"))
    words = "Normal scores of positives and negatives, a gap apart; 2,000 unlabelled rows, 5 to 50 % of them positive."
    head = ("gap", "labels", "tables", "interval holds the share", "mean error", "mean width")
    return Part("Share of positives", words, head, rows)


def _covered(gap: float, labels: int, seed: int) -> tuple[bool, float, float]:
    rng = np.random.default_rng([seed, labels, 9])
    hidden = round(2_000 * rng.uniform(0.05, 0.5))
    scores = Scores.of(rng.normal(gap, 1, labels), np.r_[rng.normal(gap, 1, hidden), rng.normal(size=2_000 - hidden)])
    found, truth = (
        estimate_prior(scores, labels, 2_000, 2_000 + labels, 0.9, seed),
        (labels + hidden) / (2_000 + labels),
    )
    return found.low <= truth <= found.high, abs(found.prior - truth), found.high - found.low


def lists(tables: int) -> Part:
    rows = []
    for gap in (2.0, 4.0):
        for recall in (0.8, 0.9):
            found = [_listed(gap, recall, seed) for seed in range(max(2, tables // 20))]
            share, precise = (np.array(column) for column in zip(*found, strict=True))
            error = 2 * share.std(ddof=1) / math.sqrt(len(share))
            cells = (f"{share.mean():.3f} ± {error:.3f}", f"{precise.mean():.3f}")
            rows.append((f"{gap:g}", f"{recall:g}", str(len(found)), *cells))
    words = "Share of hidden positives that `likely_positives(recall=...)` lists, and of listed rows that are positive."
    head = ("gap", "recall", "tables", "share listed", "precision")
    return Part("Lists with a promise", words, head, rows)


def _listed(gap: float, recall: float, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng([seed, 11])
    X = rng.normal(size=(1_500, 5))
    y = np.arange(1_500) < 300
    X[y, :3] += gap / math.sqrt(3)
    label = (y & (rng.random(1_500) < 0.2)).astype(int)
    table = pd.DataFrame(X, columns=list("abcde")).assign(row=np.arange(1_500), label=label)
    chosen = spark_pufs.select(table, label="label", method="semi-mim", k=3, keep=["row"])
    listed = chosen.likely_positives(table, recall=recall)["row"].to_numpy()
    hidden = np.flatnonzero(y & (label == 0))
    return float(np.isin(hidden, listed).mean()), float(y[listed].mean()) if len(listed) else 1.0


def figures(tables: int) -> Part:
    words = "Intervals are to hold what they estimate, p-values to pass as often as they say; power is to be as told."
    head = calibration_figures.HEAD
    return Part("Figures with an error", words, head, calibration_figures.figures(tables))


PARTS = {part.__name__: part for part in (p_values, false_share, prior_interval, label_check, lists, figures)}


def placed(page: str, part: Part) -> str:
    """The page with a part in its place, or at the end."""
    before, mark, after = page.partition(f"\n## {part.title}\n")
    _, more, rest = after.partition("\n## ")
    return before + str(part) + (more + rest if mark else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--out", type=Path, default=Path("docs/results/calibration.md"))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    page = HEAD if given.part is None else given.out.read_text(encoding="utf-8")
    for part in PARTS.values() if given.part is None else [PARTS[given.part]]:
        found = part(given.tables)
        print(found, flush=True)
        page = placed(page, found)
    given.out.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
