"""How many of the relevant features a search finds on the ten artificial conditions (FSCPU paper, Table 1).

    python benchmarks/search_quality.py --search contrast --repeats 5
    python benchmarks/search_quality.py --search paper --covariance full --scale range --conditions 1 3 --repeats 1
    python benchmarks/search_quality.py --methods auto distil soft-jmi --repeats 3
    python benchmarks/search_quality.py --speed

Run with OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1: the CPU seconds are meant for one thread.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import spearmanr

import spark_pufs
from spark_pufs.core.clusters.mixture import (
    COVARIANCES,
    SCALES,
    MixtureSample,
    MixtureSettings,
    chunks,
    make_sample,
    score_chunk,
)
from spark_pufs.core.clusters.objective import recall_precision
from spark_pufs.core.search.budget import Budget
from spark_pufs.core.search.searches import SEARCHES
from spark_pufs.core.synthetic.artificial import CONDITIONS, Artificial, make_artificial

PAPER = (0.91, 0.90, 0.75, 0.82, 0.92, 0.89, 0.78, 0.78, 0.56, 0.51)
BEST_PUBLISHED = (0.97, 0.98, 0.89, 0.94, 0.92, 0.89, 0.79, 0.81, 1.00, 0.89)
SELECTED = 25


@dataclass(frozen=True)
class Outcome:
    """One search on one data set."""

    recall: float
    unsettled: float
    evaluations: int
    cpu: float
    wall: float
    stopped: str


def scores(
    sample: MixtureSample, masks: NDArray[np.bool_], settings: MixtureSettings, seed: object
) -> NDArray[np.float64]:
    """f (M,) of masks (M, D)."""
    parts = [score_chunk(sample, part, settings, seed) for part in chunks(masks)]  # type: ignore[arg-type]
    labelled, rows = (np.concatenate(side) for side in zip(*parts, strict=True))
    return recall_precision(labelled, rows, sample.total_labelled)


def run(data: Artificial, search_name: str, settings: MixtureSettings, seed: int) -> Outcome:
    """Search until it stops."""
    cpu, wall, evaluations = time.process_time(), time.perf_counter(), 0
    sample = make_sample(data.X, data.s, scale=settings.scale)
    search = SEARCHES[search_name](Budget.of(np.ones(data.X.shape[1]), SELECTED), seed)
    while not search.stopped:
        masks = search.ask()
        search.tell(scores(sample, masks, settings, search.evaluation_seed))
        evaluations += len(masks)
    recall = float(data.relevant[search.selection()].sum() / data.relevant.sum())
    return Outcome(
        recall,
        search.unsettled / len(search.theta),
        evaluations,
        time.process_time() - cpu,
        time.perf_counter() - wall,
        search.stopped,
    )


def quality(args: argparse.Namespace) -> None:
    """One line per condition, then the row of means."""
    settings = MixtureSettings(args.components, args.covariance, scale=args.scale)
    kind = f"{args.search} search, {args.covariance} covariance, scaled by {args.scale}"
    print(f"{kind}, {args.repeats} repeats, data seeds from {args.seed}")
    print("cond  labels neg pos |  FSR   +- paper best |  open  evaluations  cpu s  wall s | own stops")
    row = []
    for number in args.conditions:
        condition = CONDITIONS[number - 1]
        seeds = range(args.seed, args.seed + args.repeats)
        outcomes = [run(make_artificial(condition, seed), args.search, settings, seed) for seed in seeds]
        recall = np.array([outcome.recall for outcome in outcomes])
        means = [np.mean([getattr(o, key) for o in outcomes]) for key in ("unsettled", "evaluations", "cpu", "wall")]
        own = sum(outcome.stopped.startswith("settled") for outcome in outcomes)
        kind = f"{condition.label_rate:5.0%} {condition.negative_clusters:4d} {condition.positive_clusters:3d}"
        print(
            f"{number:4d}  {kind}"
            f" | {recall.mean():5.3f} {recall.std():4.2f} {PAPER[number - 1]:5.2f} {BEST_PUBLISHED[number - 1]:4.2f}"
            f" | {means[0]:5.3f} {means[1]:12.0f} {means[2]:6.1f} {means[3]:7.1f} | {own}/{len(outcomes)}",
            flush=True,
        )
        row.append(recall.mean())
    print("FSR row:", " ".join(f"{value:.2f}" for value in row))


def methods(args: argparse.Namespace) -> None:
    """One line per condition and method: the share of relevant features found, its standard error, CPU seconds."""
    for number in args.conditions:
        tables = [make_artificial(CONDITIONS[number - 1], seed) for seed in range(args.seed, args.seed + args.repeats)]
        for method in args.methods:
            found = [found_by(method, data, args.seed + i) for i, data in enumerate(tables)]
            recall, cpu = np.array([one[0] for one in found]), np.mean([one[1] for one in found])
            error = recall.std(ddof=1) / np.sqrt(len(recall)) if len(recall) > 1 else 0.0
            took = ", ".join(one[2] for one in found)
            print(f"{number:4d}  {method:10} {recall.mean():5.3f} +- {error:.3f}  {cpu:5.1f} CPU s  {took}", flush=True)


def found_by(method: str, data: Artificial, seed: int) -> tuple[float, float, str]:
    """The share of relevant features that ``select`` finds, its CPU seconds, and what ``auto`` took."""
    names = [f"c{i}" for i in range(data.X.shape[1])]
    table = pd.DataFrame(data.X, columns=names).assign(label=data.s)
    begun = time.process_time()
    found = spark_pufs.select(table, label="label", method=method, k=SELECTED, seed=seed)
    spent = time.process_time() - begun
    chosen = [names.index(name) for name in found.names]
    took = found.findings.choice.method if found.findings.choice else ""
    return float(data.relevant[chosen].sum() / data.relevant.sum()), spent, took


def speed(args: argparse.Namespace) -> None:
    """CPU per mask against scikit-learn, and how well f orders masks by their number of relevant features."""
    fast, full, diag = [], [], []
    for number in args.conditions:
        data = make_artificial(CONDITIONS[number - 1], args.seed)
        masks = next(_random_masks(data.X.shape[1], args.seed, args.masks))
        sample, relevant = make_sample(data.X, data.s), masks @ data.relevant.astype(int)
        fast.append(_timed(lambda m, s=sample: scores(s, m, MixtureSettings(), 1), masks, relevant))
        full.append(_timed(lambda m, d=data: _sklearn(d, m, "full"), masks[: args.slow], relevant[: args.slow]))
        diag.append(_timed(lambda m, d=data: _sklearn(d, m, "diag"), masks[: args.slow], relevant[: args.slow]))
    ours, theirs, theirs_diag = (np.mean(part, axis=0) for part in (fast, full, diag))
    print("                     CPU ms per mask   Spearman(f, relevant features)")
    print(f"ours, diagonal       {ours[0]:12.2f}   {ours[1]:8.2f}  ({args.masks} masks)")
    print(f"scikit-learn, full   {theirs[0]:12.2f}   {theirs[1]:8.2f}  ({args.slow} masks)  {theirs[0] / ours[0]:.0f}x")
    print(
        f"scikit-learn, diag   {theirs_diag[0]:12.2f}   {theirs_diag[1]:8.2f}  ({args.slow} masks)"
        f"  {theirs_diag[0] / ours[0]:.0f}x"
    )


def _random_masks(features: int, seed: int, count: int) -> Iterator[NDArray[np.bool_]]:
    rng = np.random.default_rng([seed, 99])
    while True:
        yield np.array([rng.permutation(features) < SELECTED for _ in range(count)])


def _timed(score, masks, relevant) -> tuple[float, float]:  # type: ignore[no-untyped-def]
    begun = time.process_time()
    f = score(masks)
    spent = (time.process_time() - begun) / len(masks)
    return 1000 * spent, float(spearmanr(f, relevant).statistic)


def _sklearn(data: Artificial, masks: NDArray[np.bool_], covariance: str) -> NDArray[np.float64]:
    import warnings

    from sklearn.mixture import GaussianMixture

    warnings.simplefilter("ignore")
    out = []
    for number, mask in enumerate(masks):
        model = GaussianMixture(10, covariance_type=covariance, random_state=number)
        cluster = model.fit_predict(data.X[:, mask])
        rows = np.bincount(cluster, minlength=10)
        labelled = np.bincount(cluster[data.s == 1], minlength=10)
        out.append(recall_precision([labelled], [rows], data.s.sum())[0])
    return np.array(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conditions", type=int, nargs="+", default=list(range(1, 11)), help="1 to 10")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--search", choices=list(SEARCHES), default="contrast")
    parser.add_argument("--covariance", choices=COVARIANCES, default="diag")
    parser.add_argument("--scale", choices=SCALES, default="deviation", help="the paper's is range")
    parser.add_argument("--components", type=int, default=10)
    parser.add_argument("--seed", type=int, default=100, help="first seed of the data and of the search")
    parser.add_argument("--methods", nargs="+", help="methods of select in place of a bare search")
    parser.add_argument("--speed", action="store_true", help="CPU per mask and order of masks against scikit-learn")
    parser.add_argument("--masks", type=int, default=320, help="with --speed: masks of ours")
    parser.add_argument("--slow", type=int, default=60, help="with --speed: masks of scikit-learn's")
    args = parser.parse_args()
    task = speed if args.speed else methods if args.methods else quality
    task(args)


if __name__ == "__main__":
    main()
