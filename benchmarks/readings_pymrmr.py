"""The mRMR row of the FSCPU paper's Table 1 by pymrmr itself, which the paper used.

    PYTHONPATH=. peers/bin/python benchmarks/readings_pymrmr.py --repeats 3    # peers: benchmarks/requirements.txt

Share of relevant features among 25 chosen by MIQ, from columns in [0, 1] as the paper scales them and in five bins.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
import pymrmr
from family_contenders import quiet

from spark_pufs.core.synthetic.artificial import CONDITIONS, Artificial, make_artificial

SELECT, BINS = 25, 5
READINGS = ("[0, 1], relevant columns first", "[0, 1], relevant columns last", "in five bins")


def found(data: Artificial, reading: str) -> float:
    """The label is the first column, as pymrmr wants it."""
    order = np.argsort(data.relevant if reading.endswith("last") else ~data.relevant, kind="stable")
    X = data.X if reading.startswith("[0, 1]") else np.minimum((data.X * BINS).astype(int), BINS - 1)
    table = pd.DataFrame(X[:, order], columns=np.array(data.names)[order])
    table.insert(0, "label", data.s.astype(int))
    with quiet():
        chosen = pymrmr.mRMR(table, "MIQ", SELECT)
    return float(data.relevant[np.isin(data.names, chosen)].sum() / SELECT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    for reading in READINGS:
        shares = [
            np.mean([found(make_artificial(condition, seed=repeat + 1), reading) for repeat in range(asked.repeats)])
            for condition in CONDITIONS
        ]
        print(f"| {reading} | {' | '.join(f'{share:.2f}' for share in shares)} |", flush=True)


if __name__ == "__main__":
    main()
