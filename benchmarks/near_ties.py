"""Where near ties decide figures of Sechidis & Brown 2017: `python near_ties.py DATA`, one CPU minute.

Fig. 11, landsat: how far JMI agrees with itself hangs on its first column. Table 4, krvskp and semeion: test rows
have more than three nearest rows, and which three of them vote hangs on the order of the rows.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier

from spark_pufs.core.evidence.stability import kuncheva
from spark_pufs.studies.sechidis_brown.data_sets import biased, chosen, labelled_as, read_set
from spark_pufs.studies.sechidis_brown.label_consistency import LABELLED, LabelConsistency, _mask, _with_all_labels
from spark_pufs.studies.sechidis_brown.selection_error import SelectionError
from spark_pufs.studies.study import seed_of

Floats = NDArray[np.float64]
DRAWS, SPLITS, VOTERS = 30, 10, 3


def first_column(folder: str, name: str = "landsat") -> None:
    """Kuncheva's index with the ten columns of all labels, by whether both begin with the same one."""
    study = LabelConsistency(data=folder)
    X, positive = read_set(folder, name)
    prior = float(positive.mean())
    everything = list(_with_all_labels(folder, name, "jmi", study.k))
    index: dict[str, list[float]] = {"the same first": [], "another first": [], "the same first, by must": []}
    for repeat in range(DRAWS):
        seed = seed_of(study.seed, name, "MCAR", repeat)
        data = labelled_as(X, positive, biased(prior, LABELLED, prior), seed)
        found = chosen(data, "jmi", study.k, seed, options={"surrogate": "labelled"})
        given = chosen(data, "jmi", study.k, seed, must=everything[:1], options={"surrogate": "labelled"})
        case = "the same first" if found[0] == everything[0] else "another first"
        index[case].append(kuncheva(np.stack([_mask(X, found), _mask(X, everything)])))
        index["the same first, by must"].append(kuncheva(np.stack([_mask(X, given), _mask(X, everything)])))
    for case, values in index.items():
        print(f"{name}, {case}: {np.mean(values):.2f} over {len(values)} draws")


def votes(folder: str, name: str) -> None:
    """Misclassified on the columns of Semi-JMI: three rows vote, or all that are as near as the third."""
    X, positive = read_set(folder, name)
    errors = np.empty((SPLITS, 3))
    for repeat in range(SPLITS):
        split = SelectionError(data=folder).split(name, "0", repeat)
        train, test = split.train, split.test
        features = chosen(split.data, "semi-jmi", 5, split.seed)
        known, asked = (X.iloc[rows, features].to_numpy(np.float64) for rows in (train, test))
        three = KNeighborsClassifier(VOTERS).fit(known, positive[train]).predict(asked)
        near = _as_near_as_the_third(asked, known)
        every = near @ positive[train] > near.sum(axis=1) / 2
        errors[repeat] = [(three != positive[test]).mean(), (every != positive[test]).mean(), near.sum(axis=1).mean()]
    mean, deviation = errors.mean(axis=0), errors.std(axis=0, ddof=1)
    print(
        f"{name}: three vote {mean[0]:.3f} ± {deviation[0]:.3f}, all as near {mean[1]:.3f} ± {deviation[1]:.3f}, "
        f"{mean[2]:.0f} of them on average"
    )


def _as_near_as_the_third(asked: Floats, known: Floats) -> Floats:
    distance = cdist(asked, known, "sqeuclidean")
    third = np.partition(distance, VOTERS - 1, axis=1)[:, [VOTERS - 1]]
    near: Floats = (distance <= third * (1 + 1e-9)).astype(np.float64)
    return near


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="folder of the open sets")
    given = parser.parse_args()
    first_column(given.data)
    for each in ("krvskp", "semeion", "landsat"):
        votes(given.data, each)
