"""FSCPU over thousands of features: relevant ones found when it searches all of them, or those that tell most alone.

    OMP_NUM_THREADS=1 python benchmarks/screening.py --screens 256 512 1024 3000 --seeds 0 1 2

Condition 5 of the FSCPU paper with 25 relevant features, in-process; semi-mim stands beside. CPU seconds are of a
whole selection.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

import spark_pufs
from spark_pufs.core.synthetic.artificial import CONDITIONS
from spark_pufs.core.synthetic.artificial_rows import ArtificialRows
from spark_pufs.core.synthetic.labelling import SCAR, draw_labels
from spark_pufs.core.synthetic.row_blocks import BLOCK

RELEVANT, CONDITION = 25, CONDITIONS[4]


def table(rows: int, features: int, seed: int) -> pd.DataFrame:
    """The first rows of the table that the project's maker gives for this seed; labels of seed 0."""
    maker = ArtificialRows(CONDITION, seed, RELEVANT, features - RELEVANT)
    X, positive = (np.concatenate(p)[:rows] for p in zip(*map(maker.block, range(-(-rows // BLOCK))), strict=True))
    label = draw_labels(SCAR(CONDITION.label_rate), np.arange(rows), positive, seed=0)
    return pd.DataFrame(X, columns=maker.names).assign(label=label.astype(int))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--features", type=int, default=3000)
    parser.add_argument("--screens", type=int, nargs="+", default=[512, 3000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--generations", type=int, default=12)
    args = parser.parse_args()
    for seed in args.seeds:
        frame = table(args.rows, args.features, seed)
        runs = [("semi-mim", {}), *(("fscpu", {"screen": s, "generations": args.generations}) for s in args.screens)]
        for method, options in runs:
            cpu = time.process_time()
            found = spark_pufs.select(frame, label="label", method=method, k=RELEVANT, **options)
            share = sum(name.startswith("relevant") for name in found.names)
            told = f"{found.details['sample_rows']} sample rows, {found.details['stopped']}" if options else ""
            print(
                f"seed {seed}, {frame['label'].sum()} labelled, {method} {options}: {share} of {RELEVANT},"
                f" {time.process_time() - cpu:.0f} CPU s; {told}",
                flush=True,
            )


if __name__ == "__main__":
    main()
