"""What labels that depend on a feature do to a ranking that assumes that they do not.

    OMP_NUM_THREADS=1 python benchmarks/labelling_mechanisms.py

Condition 3 of the FSCPU paper (one negative and one positive cluster), 20,480 rows of 50 features, 25 of them relevant,
a tenth to two fifths of the positives labelled: by chance (SCAR), or with a chance that rises with one noise column
(SAR). semi-mim chooses 25. Means and standard deviations over ten seeds.
"""

from __future__ import annotations

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


def scores(frame: pd.DataFrame, label: np.ndarray) -> tuple[pd.Series, list[str]]:
    found = spark_pufs.select(frame.assign(label=label.astype(int)), label="label", method="semi-mim", k=25)
    return pd.Series({f.name: f.score for f in found.features}).loc[frame.columns], found.names


def trial(seed: int, share: float) -> dict[str, tuple[float, float, float]]:
    """Relevant features among the 25, place of the driver, Spearman's correlation with the ranking by the class."""
    table = ArtificialRows(CONDITIONS[2], seed)
    parts = [table.block(number) for number in range(BLOCKS)]
    frame = pd.DataFrame(np.vstack([X for X, _ in parts]), columns=table.names)
    positive, rows = np.concatenate([y for _, y in parts]), np.arange(len(frame))
    truth, _ = scores(frame, positive)
    answer: dict[str, tuple[float, float, float]] = {}
    for name, mechanism in mechanisms(share).items():
        x = frame[mechanism.feature].to_numpy() if mechanism.feature else None
        own, chosen = scores(frame, draw_labels(mechanism, rows, positive, seed, x))
        hits = sum(feature.startswith("relevant") for feature in chosen)
        answer[name] = (hits, int((own > own[DRIVER]).sum()) + 1, float(spearmanr(own, truth)[0]))
    return answer


def main() -> None:
    print("labels           | share | relevant of 25 | place of the driver | rank correlation with the class's ranking")
    for share in SHARES:
        trials = [trial(seed, share) for seed in range(SEEDS)]
        for name in trials[0]:
            values = np.array([found[name] for found in trials])
            mean, deviation = values.mean(axis=0), values.std(axis=0, ddof=1)
            cells = " | ".join(f"{m:.2f} +- {d:.2f}" for m, d in zip(mean, deviation, strict=True))
            print(f"{name:16s} | {share:.0%} | {cells}", flush=True)


if __name__ == "__main__":
    main()
