"""The seven sets of Sechidis & Brown 2017, Table 3, as two classes, and labels hidden as in their section 6.

Class 1 against the rest, as in the authors' published example. kr-vs-kp and splice are read as integer codes;
five bins of equal width keep codes of up to five values apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spark_pufs.core.synthetic.labelling import MAR_C, draw_labels
from spark_pufs.engines.local import LocalEngine
from spark_pufs.errors import DataError, Fault
from spark_pufs.request import Request
from spark_pufs.run.execution import select_with
from spark_pufs.studies.study_methods import counting
from spark_pufs.types import Json, LabelRule

__all__ = ["SETS", "Labelled", "SetSource", "biased", "chosen", "labelled_as", "read_set"]

LABEL = "label"
RULE = LabelRule(LABEL, (1,), (2,), (0,))


@dataclass(frozen=True)
class SetSource:
    """Where a set lies in the data folder, which value of which column is the positive class, and Table 3's numbers."""

    file: str
    column: str
    positive: int
    rows: int
    features: int
    prior: float
    others: tuple[str, ...] = ()


SETS = {
    "krvskp": SetSource("krvskp/krvskp_coded.csv.gz", "class", 1, 3196, 36, 0.52),
    "landsat": SetSource("landsat/landsat.csv.gz", "class", 1, 6435, 36, 0.24),
    "musk2": SetSource("musk2/musk2.csv.gz", "class", 1, 6598, 166, 0.15),
    "semeion": SetSource("semeion/semeion.csv.gz", "even", 1, 1593, 256, 0.50, ("digit",)),
    "spambase": SetSource("spambase/spambase.csv.gz", "class", 1, 4601, 57, 0.39),
    "splice": SetSource("splice/splice_coded.csv.gz", "class", 1, 3175, 60, 0.24),
    "waveform": SetSource("waveform/waveform.csv.gz", "class", 0, 5000, 40, 0.34),
}


@dataclass(frozen=True)
class Labelled:
    """Rows with their hidden class (n,) and label states (n,)."""

    X: pd.DataFrame
    positive: NDArray[np.bool_]
    label: NDArray[np.uint8]

    @property
    def prior(self) -> float:
        return float(self.positive.mean())


@lru_cache(maxsize=len(SETS))
def read_set(folder: str, name: str) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Features and the positive class (n,)."""
    source = SETS[name]
    path = Path(folder) / source.file
    if not path.is_file():
        raise DataError(Fault(f"Set '{name}'", f"'{source.file}' is not in the data folder", "Leave the set out."))
    table = pd.read_csv(path)
    positive = (table[source.column] == source.positive).to_numpy()
    return table.drop(columns=[source.column, *source.others]), positive


def biased(prior: float, labelled: float, positive: float) -> MAR_C:
    """Labels for a share ``labelled`` of the rows, a share ``positive`` of them positive, by p(s=1|y) as in section 6.

    Where a class has too few rows all of it is labelled, and the other class less, so that the ratio holds.

    >>> biased(0.2, 0.25, 0.2).positive, biased(0.1, 0.25, 0.5).positive
    (0.25, 1.0)
    """
    shares = labelled * positive / prior, labelled * (1 - positive) / (1 - prior)
    most = max(1.0, *shares)
    return MAR_C(shares[0] / most, shares[1] / most)


NO_OPTIONS: Mapping[str, Json] = {}


def labelled_as(X: pd.DataFrame, positive: NDArray[np.bool_], mechanism: MAR_C, seed: int) -> Labelled:
    return Labelled(X, positive, draw_labels(mechanism, np.arange(len(positive)), positive, seed))


def chosen(
    data: Labelled,
    method: str,
    k: int,
    seed: int,
    must: Sequence[int] = (),
    options: Mapping[str, Json] = NO_OPTIONS,
) -> list[int]:
    """Positions of the ``k`` features a method selects, best first; it is told the true p(y=1), as in the paper."""
    names = [f"f{place}" for place in range(data.X.shape[1])]
    table = data.X.set_axis(names, axis=1).assign(**{LABEL: data.label.astype(int)})
    required = [names[i] for i in must]
    request = Request.of(
        RULE, method=method, k=k, prior=data.prior, seed=seed, must=required, **counting(method, options)
    )
    found = select_with(LocalEngine(table, threads=1), request)
    return [int(name[1:]) for name in found.names]
