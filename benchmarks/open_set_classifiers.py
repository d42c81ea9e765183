"""How the AUC of Table 3 of the FSCPU paper hangs on LightGBM's settings, of which the paper tells the number of trees.

    python benchmarks/open_set_classifiers.py ../shared/data --set spam --splits 6

Each selection is made once a split and judged by every setting: mean and standard deviation over the splits.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.metrics import roc_auc_score

from spark_pufs.studies.study import seed_of
from spark_pufs.studies.study_methods import select_rows
from spark_pufs.studies.uchikoshi_akimoto.open_sets import SETS, LabelledSplit, load_set, split_of

METHODS = (
    "all",
    "k-best",
    "lasso",
    "mrmr criterion=miq",
    "semi-jmi",
    "semi-jmi binning=equal-frequency",
    "fscpu",
    "fscpu-mi",
    "fscpu-mi binning=equal-width",
)
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "depth 3": {"max_depth": 3},
    "7 leaves": {"num_leaves": 7},
    "lambda 10": {"reg_lambda": 10},
    "rate .01": {"learning_rate": 0.01},
    "dart": {"boosting_type": "dart"},
    "forest": {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.632},
}


def splits(name: str, data: Path, count: int) -> Iterator[LabelledSplit]:
    """The splits that ``spark-pufs reproduce`` uses."""
    X, y = load_set(name, str(data))
    for repeat in range(count):
        yield split_of(X, y, SETS[name].label_rate, seed_of(0, "rows", name, repeat))


def chosen(split: LabelledSplit, method: str, k: int, seed: int) -> list[str]:
    if method == "all":
        return [str(name) for name in split.train.columns]
    return select_rows(split.train, split.labelled, split.y_train, method, k, seed).names


def auc(split: LabelledSplit, names: list[str], setting: dict[str, Any]) -> float:
    fixed: dict[str, Any] = {"n_estimators": 100, "n_jobs": 1, "random_state": 0, "verbose": -1, "deterministic": True}
    model = LGBMClassifier(**fixed, **setting).fit(split.train[names].to_numpy(), split.labelled)
    scores = np.asarray(model.predict_proba(split.test[names].to_numpy()))[:, 1]
    return float(roc_auc_score(split.y_test, scores))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder of public data")
    parser.add_argument("--set", choices=list(SETS), default="spam")
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    args = parser.parse_args()
    found = np.zeros((len(args.methods), len(SETTINGS), args.splits))
    for number, split in enumerate(splits(args.set, args.data, args.splits)):
        for row, method in enumerate(args.methods):
            names = chosen(split, method, SETS[args.set].select, number)
            found[row, :, number] = [auc(split, names, setting) for setting in SETTINGS.values()]
    print(f"| {args.set}, {args.splits} splits | {' | '.join(SETTINGS)} |\n|{'---|' * (1 + len(SETTINGS))}")
    for method, values in zip(args.methods, found, strict=True):
        cells = [f"{one.mean():.3f} ± {one.std(ddof=1):.3f}" for one in values]
        print(f"| {method} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
