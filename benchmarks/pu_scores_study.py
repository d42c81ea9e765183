"""Table 2 and Figs 3 to 5 of Tabatabaei, Klein & Hoogendoorn 2020, and the cluster check on the artificial conditions.

    python benchmarks/pu_scores_study.py --out results/pu_scores
    python benchmarks/pu_scores_study.py --clusters --out results/pu_scores          # true features, 10 repeats
    python benchmarks/pu_scores_study.py --clusters --found --out results/pu_scores  # features found by FSCPU, slow

Writes CSV files, and pu_scores.png when matplotlib is installed. The paper does not say how its random classifiers are
drawn; as in the authors' notebooks, a generated set has 200 points, a line goes through a uniform point at a uniform
angle (here the better side of it is called positive), and a hyperplane on min-max scaled iris has weights and offset
uniform(-3, 3). Classifiers that call all or no rows positive are drawn again.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon
from sklearn.datasets import load_iris

from spark_pufs.core.clusters.cluster_check import cluster_check
from spark_pufs.core.clusters.mixture import (
    MixtureSample,
    MixtureSettings,
    assign,
    chunks,
    fit_mask,
    make_sample,
    score_chunk,
)
from spark_pufs.core.clusters.objective import recall_precision
from spark_pufs.core.evidence.pu_scores import FACTORS, Counts, score_counts
from spark_pufs.core.search.budget import Budget
from spark_pufs.core.search.searches import SEARCHES
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial

PAPER = {"generated": (0.064, 0.772), "iris": (0.060, 0.420)}
RHO, POINTS, CLASSIFIERS = 0.30, 200, 100
PAIRS = np.triu_indices(CLASSIFIERS, 1)
GRID = tuple(np.arange(0.02, 1.0, 0.02).round(2).tolist())
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Row = tuple[object, ...]


@dataclass(frozen=True)
class Trial:
    """Classifiers on one table: truth (M,), predictions (C, M)."""

    y: Flags
    predicted: Flags

    @property
    def f1(self) -> Floats:
        """The F1 score (C,) that a user cannot see."""
        found: Floats = 2 * (self.predicted & self.y).sum(axis=1) / (self.predicted.sum(axis=1) + self.y.sum())
        return found

    def seen(self, rho: float, rng: np.random.Generator) -> tuple[float, Floats, Floats]:
        """Label a share of the positives at random: the exact rho, and M1 and S1 (C,)."""
        positives = np.flatnonzero(self.y)
        count = max(1, round(rho * len(positives)))
        chosen = rng.choice(positives, count, replace=False)
        both = self.predicted[:, chosen].sum(axis=1)
        return count / len(positives), self.predicted.sum(axis=1).astype(float), both.astype(float)


def generated(rng: np.random.Generator, classifiers: int) -> Trial:
    """Uniform points, positive above x2 = x1 + 0.2, and random lines."""
    X = rng.random((POINTS, 2))
    y = X[:, 0] + 0.2 < X[:, 1]
    through, slope = rng.random((2 * classifiers, 2)), np.tan(rng.uniform(0, 2 * np.pi, 2 * classifiers))
    below = slope[:, None] * (X[:, 0] - through[:, :1]) + through[:, 1:] > X[:, 1]
    better = Trial(y, below).f1 > Trial(y, ~below).f1
    return Trial(y, _mixed(np.where(better[:, None], below, ~below), classifiers))


def iris(rng: np.random.Generator, classifiers: int) -> Trial:
    """Virginica against the others, and random hyperplanes."""
    X, kind = _iris_table()
    plane = rng.uniform(-3, 3, (4 * classifiers, 5))
    return Trial(kind == 2, _mixed((X @ plane[:, :4].T + plane[:, 4]).T > 0, classifiers))


@cache
def _iris_table() -> tuple[Floats, NDArray[np.int64]]:
    X, kind = load_iris(return_X_y=True)
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), kind


DATA = {"generated": generated, "iris": iris}


def _mixed(predicted: Flags, wanted: int) -> Flags:
    """Only classifiers that give both answers."""
    return predicted[predicted.any(axis=1) & ~predicted.all(axis=1)][:wanted]


def f1_hat(rho: float, m1: Floats, s1: Floats, labelled: float) -> Floats:
    """The paper's estimate, not cut where rho is impossible."""
    return 2 * s1 / (rho * m1 + labelled)


def table2(rng: np.random.Generator, repeats: int) -> Iterator[Row]:
    """Root mean square distance to the true F1 at rho = .30, per table of classifiers."""
    for name, make in DATA.items():
        errors = []
        for _ in range(repeats):
            trial = make(rng, CLASSIFIERS)
            rho, m1, s1 = trial.seen(RHO, rng)
            labelled = rho * trial.y.sum()
            ll = (s1 / labelled) ** 2 * len(trial.y) / m1
            kinds = (f1_hat(rho, m1, s1, labelled), ll, ll / len(trial.y))
            errors.append([np.sqrt(np.mean((trial.f1 - kind) ** 2)) for kind in kinds])
        values = np.array(errors)
        for column, score in enumerate(("F1", "LL", "LL without the factor M")):
            paper = PAPER[name][0 if score == "F1" else 1]
            low, high = np.quantile(values[:, column], (0.05, 0.95))
            yield name, score, paper, values[:, column].mean(), low, high


def inversions(truth: Floats, shown: Floats) -> Floats:
    """Share of the pairs of classifiers that each of the scores (Q, C) puts in the wrong order, in percent (Q,)."""
    real = truth[PAIRS[0]] - truth[PAIRS[1]]
    wrong = (shown[:, PAIRS[0]] - shown[:, PAIRS[1]]) * real < 0
    percent: Floats = 100 * wrong.mean(axis=1)
    return percent


def curves(rng: np.random.Generator, repeats: int, factors: Sequence[float]) -> Iterator[Row]:
    """Figs 4 and 5: inversions of LL, and of F1 at rho times each factor; p is Wilcoxon's against LL."""
    for name, make in DATA.items():
        for rho in GRID:
            found = []
            for _ in range(repeats):
                trial = make(rng, CLASSIFIERS)
                exact, m1, s1 = trial.seen(rho, rng)
                shown = [f1_hat(c * exact, m1, s1, exact * trial.y.sum()) for c in factors]
                found.append(inversions(trial.f1, np.array([s1**2 / m1, *shown])))
            values = np.array(found)
            for column, c in enumerate(factors, 1):
                apart = values[:, column] - values[:, 0]
                p = float(wilcoxon(apart).pvalue) if apart.any() else 1.0
                ends = np.quantile(values[:, column], (0.1, 0.9))
                yield name, rho, c, values[:, column].mean(), *ends, values[:, 0].mean(), p


def error_bars(rng: np.random.Generator, draws: int) -> Iterator[Row]:
    """Fig. 3: one classifier with a true F1 near .44, the labels drawn again and again."""
    for name, make in DATA.items():
        trial = make(rng, 400)
        chosen = int(np.argmin(np.abs(trial.f1 - 0.44)))
        one = Trial(trial.y, trial.predicted[chosen : chosen + 1])
        for rho in (0.1, 0.3, 0.5, 0.7, 0.9):
            estimates = []
            for _ in range(draws):
                exact, m1, s1 = one.seen(rho, rng)
                n = Counts(len(one.y), int(m1[0]), round(exact * one.y.sum()), int(s1[0]))
                estimates.append(score_counts(n, exact).f)
            values = np.array([(e.value, e.error, e.low <= one.f1[0] <= e.high) for e in estimates])
            yield (
                name,
                rho,
                one.f1[0],
                values[:, 0].mean(),
                values[:, 0].std(),
                values[:, 1].mean(),
                values[:, 2].mean(),
            )


def clusters(repeats: int, found: bool) -> Iterator[Row]:
    """Verdicts on the ten conditions, and false alarms after shuffling the labels."""
    for shuffled in (False, True):
        for number, condition in enumerate(CONDITIONS, 1):
            verdicts, effects, ps = [], [], []
            for repeat in range(repeats):
                rng = np.random.default_rng([number, repeat, 5])
                data = make_artificial(condition, 1000 + repeat)
                s = rng.permutation(data.s) if shuffled else data.s
                sample = make_sample(data.X, s)
                mask = search(sample, repeat) if found else data.relevant
                cluster = assign(fit_mask(sample, mask, MixtureSettings(), [repeat, number]), data.X)
                a, c = np.bincount(cluster[s == 1], minlength=10), np.bincount(cluster, minlength=10)
                checked = cluster_check(a, c, rng, selected=found)
                verdicts.append(checked.verdict)
                effects.append(checked.effect)
                ps.append(cluster_check(a, c, rng).p_value if found else checked.p_value)
            tally = ", ".join(f"{verdicts.count(v)} {v}" for v in sorted(set(verdicts)))
            alarms = sum(p < 0.05 for p in ps)
            yield (
                "shuffled" if shuffled else "real",
                number,
                min(effects),
                np.median(effects),
                max(effects),
                alarms,
                tally,
            )


def search(sample: MixtureSample, seed: int) -> Flags:
    """The features that FSCPU chooses."""
    searching = SEARCHES["contrast"](Budget.of(np.ones(sample.features), 25), seed)
    while not searching.stopped:
        masks = searching.ask()
        parts = [score_chunk(sample, part, MixtureSettings(), searching.evaluation_seed) for part in chunks(masks)]
        labelled, rows = (np.concatenate(side) for side in zip(*parts, strict=True))
        searching.tell(recall_precision(labelled, rows, sample.total_labelled))
    return searching.selection()


HEADERS = {
    "table2": ("data", "score", "paper", "rmse", "low", "high"),
    "inversions": ("data", "rho", "factor", "f1", "low", "high", "ll", "p"),
    "error_bars": ("data", "rho", "true_f1", "mean", "spread", "predicted_error", "covered"),
    "clusters": ("labels", "condition", "least", "median", "most", "plain_p_below_.05", "verdicts"),
}


def write(out: Path, name: str, rows: Iterable[Row]) -> list[Row]:
    """Keep a table as CSV and print what fits on a screen."""
    kept = list(rows)
    out.mkdir(parents=True, exist_ok=True)
    with (out / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADERS[name], *kept])
    print(f"\n{name}: {' '.join(HEADERS[name])}")
    for row in kept:
        if name != "inversions" or (row[2] == 1.0 and round(100 * float(row[1])) % 10 == 0):  # type: ignore[arg-type]
            print("  " + "  ".join(f"{x:.3f}" if isinstance(x, float) else str(x) for x in row), flush=True)
    return kept


def summary(rows: list[Row]) -> None:
    """What Figs 4 and 5 are read for."""
    for name in DATA:
        own = [row for row in rows if row[0] == name]
        right = [row for row in own if row[2] == 1.0]
        lost = [float(row[1]) for row in right if not (row[3] < row[6] and row[7] < 0.05)]  # type: ignore
        print(f"\n{name}: F1 has significantly fewer inversions than LL at every rho above {max(lost, default=0):.2f}")
        for c in FACTORS:
            part = np.array([(row[3], row[6]) for row in own if row[2] == c], float)
            better = int((part[:, 0] < part[:, 1]).sum())
            means = f"{part[:, 0].mean():5.2f} % against {part[:, 1].mean():5.2f} % for LL"
            print(f"  rho x {c:<5g} {means}, better at {better} of {len(part)} values of rho")


def picture(out: Path, rows: list[Row]) -> None:
    """Figs 4 and 5 side by side."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 7), sharex=True)
    for line, name in enumerate(DATA):
        for axis, shown in zip(axes[line], ((1.0,), FACTORS), strict=True):
            for c in shown:
                part = np.array([row[1:7] for row in rows if row[0] == name and row[2] == c], float)
                axis.plot(part[:, 0], part[:, 2], label="F1" if len(shown) == 1 else f"F1, rho x {c:g}")
                if len(shown) == 1:
                    axis.fill_between(part[:, 0], part[:, 3], part[:, 4], alpha=0.2)
            axis.plot(part[:, 0], part[:, 5], "k--", label="LL")
            axis.set(title=name, xlabel="rho", ylabel="inversions, %")
            axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(out / "pu_scores.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/pu_scores"))
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clusters", action="store_true", help="the cluster check instead, ten repeats")
    parser.add_argument("--found", action="store_true", help="with features found by FSCPU")
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    if args.clusters:
        write(args.out, "clusters", clusters(min(args.repeats, 10), args.found))
        return
    write(args.out, "table2", table2(rng, args.repeats))
    write(args.out, "error_bars", error_bars(rng, 2 * args.repeats))
    rows = write(args.out, "inversions", curves(rng, args.repeats, FACTORS))
    summary(rows)
    picture(args.out, rows)


if __name__ == "__main__":
    main()
