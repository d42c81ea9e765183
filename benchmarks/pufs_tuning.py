"""Is PUFS first once every method is tuned? The protocol of Han & Shen 2016 over a grid of settings.

    OMP_NUM_THREADS=1 python benchmarks/pufs_tuning.py ../shared/data --sets COIL --splits 4

The paper tuned the regularisation of each method by cross-validation and reports the best. Here the best setting of
each method is the one with the highest AUC over the splits and numbers of features it is judged by: better than any
honest tuning could make it, and the same for all.
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np
import pandas as pd

from spark_pufs.studies.han_shen.pufs_protocol import ALL, SETS, PufsProtocol


def grid(method: str, **options: tuple[object, ...]) -> list[str]:
    """Every combination, as the study writes a method with its options."""
    names = list(options)
    return [
        " ".join([method, *(f"{name}={value}" for name, value in zip(names, values, strict=True))])
        for values in product(*options.values())
    ]


STRENGTHS = (0.01, 1, 100)
GRIDS = {
    "pufs": grid("pufs", alpha=(1, 100, "balance"), beta=(0.1, 1, 10), scale=("deviation", "range")),
    "prfs": ["prfs"],
    "apucfs": ["apucfs"],
    "rfs": grid("rfs", gamma=(0.001, 0.01, 0.1, 1, 10), second_class=("unlabelled", "plausible")),
    "jelsr": grid("jelsr", alpha=STRENGTHS, beta=STRENGTHS),
    "ndfs": grid("ndfs", alpha=STRENGTHS, beta=STRENGTHS),
}


def judged(args: argparse.Namespace, name: str, method: str) -> pd.DataFrame:
    """AUC of one setting: a row per split, a column per number of features."""
    study = PufsProtocol(data=args.data, sizes=tuple(args.sizes), sets=(name,), repeats=args.splits)
    units = [{"dataset": name, "method": method, "repeat": repeat} for repeat in range(args.splits)]
    rows = pd.DataFrame([row for unit in units for row in study.run(unit) if row["measure"] == "auc"])
    return rows.pivot_table(index="repeat", columns="at", values="value")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 70, 110, 150, 190])
    args = parser.parse_args()
    for name in args.sets:
        whole = judged(args, name, ALL).mean().mean()
        print(f"\n{name}, {args.splits} splits; all features {whole:.3f}")
        print("| method | settings | as it comes | best | its settings | rank of the best | CPU s |")
        print("|---|---|---|---|---|---|---|")
        first, best, cpu = {}, {}, {}
        for family, methods in GRIDS.items():
            began = time.process_time()
            first[family] = judged(args, name, family).mean()
            found = {method: judged(args, name, method).mean() for method in methods}
            best[family] = max(found.items(), key=lambda item: item[1].mean())
            cpu[family] = time.process_time() - began
        ranks = pd.DataFrame({family: mean for family, (_, mean) in best.items()}).rank(axis=1, ascending=False).mean()
        for family, (method, mean) in best.items():
            settings = method.removeprefix(family).strip() or "-"
            print(
                f"| {family} | {len(GRIDS[family])} | {first[family].mean():.3f} | {mean.mean():.3f} | {settings} "
                f"| {ranks[family]:.1f} | {cpu[family]:.0f} |",
                flush=True,
            )
        print(
            "by number of features: "
            + "; ".join(f"{f} {np.round(m.to_numpy(), 3).tolist()}" for f, (_, m) in best.items())
        )


if __name__ == "__main__":
    main()
