"""What labels that depend on a feature do to a ranking that assumes that they do not.

    OMP_NUM_THREADS=1 python benchmarks/labelling_mechanisms.py [--condition 3]

Condition 3 of the FSCPU paper (one negative and one positive cluster) or another one, 20,480 rows of 50 features, 25 of
them relevant, a tenth to two fifths of the positives labelled: by chance (SCAR), or with a chance that rises with one
noise column (SAR). semi-mim chooses 25, also given that column. Means and standard deviations over ten seeds.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import spark_pufs
from spark_pufs.core.synthetic.artificial import CONDITIONS
from spark_pufs.core.synthetic.artificial_rows import ArtificialRows
from spark_pufs.core.synthetic.labelling import SAR, SCAR, Mechanism, draw_labels

BLOCKS, SEEDS, SHARES = 20, 10, (0.4, 0.1)
DRIVER = "noise_01"  # uniform(-10, 10): a deviation of 5.8


def mechanisms(share: float) -> dict[str, Mechanism]:
    slopes = (1.0, 3.0)
    return {"SCAR": SCAR(share)} | {f"SAR, slope {s:g}": SAR(share, DRIVER, s, scale=5.8) for s in slopes}


def scores(frame: pd.DataFrame, label: np.ndarray, given: tuple[str, ...] = ()) -> tuple[pd.Series, list[str]]:
    table = frame.assign(label=label.astype(int))
    found = spark_pufs.select(table, label="label", method="semi-mim", k=25, labelled_by=given)
    return pd.Series({f.name: f.score for f in found.features}).loc[frame.columns], found.names


def trial(seed: int, share: float, condition: int) -> dict[str, tuple[float, float, float]]:
    """Relevant features among the 25, place of the driver, Spearman's correlation with the ranking by the class."""
    table = ArtificialRows(CONDITIONS[condition - 1], seed)
    parts = [table.block(number) for number in range(BLOCKS)]
    frame = pd.DataFrame(np.vstack([X for X, _ in parts]), columns=table.names)
    positive, rows = np.concatenate([y for _, y in parts]), np.arange(len(frame))
    truth, _ = scores(frame, positive)
    answer: dict[str, tuple[float, float, float]] = {}
    for name, mechanism in mechanisms(share).items():
        x = frame[mechanism.feature].to_numpy() if mechanism.feature else None
        label = draw_labels(mechanism, rows, positive, seed, x)
        for given in ((), (DRIVER,)) if mechanism.feature else ((),):
            own, chosen = scores(frame, label, given)
            hits = sum(feature.startswith("relevant") for feature in chosen)
            told = f"{name}, given it" if given else name
            answer[told] = (hits, int((own > own[DRIVER]).sum()) + 1, float(spearmanr(own, truth)[0]))
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--condition", type=int, default=3, choices=range(1, 11))
    condition = parser.parse_args().condition
    print("labels | share | relevant of 25 | place of the driver | rank correlation with the ranking by the class")
    for share in SHARES:
        trials = [trial(seed, share, condition) for seed in range(SEEDS)]
        for name in trials[0]:
            values = np.array([found[name] for found in trials])
            mean, deviation = values.mean(axis=0), values.std(axis=0, ddof=1)
            cells = " | ".join(f"{m:.2f} +- {d:.2f}" for m, d in zip(mean, deviation, strict=True))
            print(f"{name:24s} | {share:.0%} | {cells}", flush=True)


if __name__ == "__main__":
    main()
