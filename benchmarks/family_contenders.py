"""One side of one comparison of family_peers.py: `python family_contenders.py NAME FOLDER`, last line of output JSON.

FOLDER holds X.npy (n, D) in [0, 1], codes.npy (n, D) five equal-width bins, s.npy (n,) labelled, y.npy (n,) the class
and, if networks are compared, net.bif and net.npy (n, nodes), a sample of it. Every contender runs on a few rows first,
which loads its modules and is not measured. Those that are not ours run in the environment of requirements.txt, without
spark_pufs.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

K, ALPHA, TREES, SAMPLES = 25, 5e-5, 10, 20_000
ALPHA_G = 0.01  # level of G-tests
FEW = 10  # features that forward searches choose
SMALL = 1000  # rows for what is quadratic in rows, or loops over them in Python
WARM = 300
Data = SimpleNamespace
Answer = dict[str, Any]  # "scores" (D,) larger is better, "order" best first, "sets" one a target, or "value"


def load(folder: Path, rows: int | None = None) -> Data:
    arrays = {name: np.load(folder / f"{name}.npy")[:rows] for name in ("X", "codes", "s", "y")}
    return Data(**arrays, folder=folder)


def scores(values: Any) -> Answer:
    return {"scores": np.asarray(values, float).ravel().tolist()}


def order(places: Any) -> Answer:
    return {"order": [int(i) for i in places][:K]}


def _selected(data: Data, method: str, k: int = K, values: str = "X", **options: Any) -> Answer:
    """Ours as users call it: checks, profile, bins and counts within."""
    import pandas as pd

    import spark_pufs

    table = pd.DataFrame(getattr(data, values).astype(float)).add_prefix("c").assign(s=data.s.astype(int))
    found = spark_pufs.select(table, label="s", method=method, k=k, **options)
    return order(name[1:] for name in found.names)


def ours(method: str, **options: Any) -> Callable[[Data], Answer]:
    return lambda data: _selected(data, method, **options)


def our_laplacian(data: Data) -> Answer:
    from spark_pufs.core.baselines.graph import laplacian_score, neighbour_graph

    # The peer's t = 1 is exp(-d^2 / 2).
    return scores(-laplacian_score(data.X, neighbour_graph(data.X, 5, width=2.0)))


def our_rfs(data: Data) -> Answer:
    from spark_pufs.core.baselines.rfs import rfs
    from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE

    label = np.where(data.y == 1, LABELLED_POSITIVE, LABELLED_NEGATIVE).astype(np.uint8)
    return scores(rfs(data.X, label, np.random.default_rng(0), gamma=0.1).scores)


def our_ndfs(data: Data) -> Answer:
    from spark_pufs.core.baselines.embedding import ndfs

    return scores(ndfs(data.X, data.s, np.random.default_rng(0)).scores)


def our_rho(data: Data) -> Answer:
    from sklearn.linear_model import LogisticRegression

    from spark_pufs.core.evidence.label_rate import estimate_rho

    model = LogisticRegression(max_iter=1000)
    return {"value": float(estimate_rho(data.X, data.s == 1, np.random.default_rng(0), model).rho)}


def our_network(data: Data) -> Answer:
    from spark_pufs.core.synthetic.bayes_net import parse_bif, sample

    network = parse_bif((data.folder / "net.bif").read_text())
    return {"value": float(len(sample(network, SAMPLES, np.random.default_rng(0))))}


def blankets(find: Callable[[Any, int], Any]) -> Callable[[Data], Answer]:
    """The Markov blanket of every node whose first state is neither rare nor common, against all its other states."""

    def run(data: Data) -> Answer:
        states = np.load(data.folder / "net.npy")[: len(data.X)].astype(int)
        shares = (states == 0).mean(axis=0)
        found = []
        for target in np.flatnonzero((shares > 0.02) & (shares < 0.98)):
            table = states.copy()
            table[:, target] = states[:, target] == 0
            found.append(sorted(int(i) for i in find(table, int(target))))
        return {"sets": found}

    return run


def our_blanket(table: Any, target: int) -> Any:
    import pandas as pd

    import spark_pufs

    frame = pd.DataFrame(table).rename(columns=str)
    return spark_pufs.select(frame, label=str(target), method="iamb", alpha=ALPHA_G, categorical=["*"]).names


def causalfs_blanket(table: Any, target: int) -> Any:
    import pandas as pd
    from pyCausalFS.CBD.MBs.IAMB import IAMB

    return IAMB(pd.DataFrame(table), target, ALPHA_G, True)[0]


def _with_bias(X: Any) -> Any:
    """Ours fits a bias as a constant feature: so do the peers here."""
    return np.column_stack([X, np.ones(len(X))])


def sklearn_chi2(data: Data) -> Answer:
    from sklearn.feature_selection import chi2

    return scores(chi2(data.X, data.s)[0])


def sklearn_lasso(data: Data) -> Answer:
    from sklearn.linear_model import Lasso

    return scores(np.abs(Lasso(alpha=ALPHA).fit(data.X, data.s).coef_))


def sklearn_rfe(data: Data) -> Answer:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_selection import RFE

    return scores(
        -RFE(RandomForestClassifier(TREES, random_state=0), n_features_to_select=K).fit(data.X, data.s).ranking_
    )


def sklearn_mi(data: Data) -> Answer:
    from sklearn.feature_selection import mutual_info_classif

    return scores(mutual_info_classif(data.codes, data.s, discrete_features=True))


def skfeature_cmim(data: Data) -> Answer:
    from skfeature.function.information_theoretical_based.CMIM import cmim

    return order(cmim(data.codes.astype(int), data.s.astype(int), mode="index", n_selected_features=FEW))


def skfeature_lcsi(features: int, **weights: float) -> Callable[[Data], Answer]:
    """What its mim, jmi and mrmr call. Called itself: they lose the features' numbers on the way back."""

    def run(data: Data) -> Answer:
        from skfeature.function.information_theoretical_based.LCSI import lcsi

        X, s = data.codes.astype(int), data.s.astype(int)
        return order(lcsi(X, s, mode="index", n_selected_features=features, **weights))

    return run


def skfeature_laplacian(data: Data) -> Answer:
    from skfeature.function.similarity_based.lap_score import lap_score
    from skfeature.utility.construct_W import construct_W

    options = {"metric": "euclidean", "neighbor_mode": "knn", "weight_mode": "heat_kernel", "k": 5, "t": 1}
    return order(lap_score(data.X, mode="index", W=construct_W(data.X, **options)))


def skfeature_rfs(data: Data) -> Answer:
    from skfeature.function.sparse_learning_based.RFS import rfs

    weights = np.asarray(rfs(_with_bias(data.X), data.y.astype(int), mode="raw", gamma=0.1))
    return scores(np.linalg.norm(weights[:-1], axis=1))


def itmo_rfs(data: Data) -> Answer:
    from ITMO_FS.filters.sparse import RFS

    weights = RFS(K, gamma=0.1).run(_with_bias(data.X), data.y.astype(int))
    return scores(np.linalg.norm(weights[:-1], axis=1))


def itmo_ndfs(data: Data) -> Answer:
    from ITMO_FS.filters.sparse import NDFS

    return scores(np.linalg.norm(NDFS(K, c=5, k=10, alpha=1, beta=0.1).run(data.X), axis=1))


def itmo_jmi(data: Data) -> Answer:
    from ITMO_FS.filters.multivariate import MultivariateFilter

    model = MultivariateFilter("JMI", FEW)
    model.fit(data.codes.astype(int), data.s.astype(int))
    return order(model.selected_features)


def mrmr_selection(data: Data) -> Answer:
    import pandas as pd
    from mrmr import mrmr_classif

    chosen = mrmr_classif(pd.DataFrame(data.X), pd.Series(data.s), K=FEW, n_jobs=1, show_progress=False)
    return order(chosen)


@contextmanager
def quiet() -> Iterator[None]:
    """Without what compiled code prints."""
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def pymrmr_by(criterion: str) -> Callable[[Data], Answer]:
    def run(data: Data) -> Answer:
        import pandas as pd
        import pymrmr

        table = pd.DataFrame(data.codes.astype(int)).rename(columns=str)
        table.insert(0, "s", data.s.astype(int))
        with quiet():
            return order(pymrmr.mRMR(table, criterion, K))

    return run


def pulearn_rho(data: Data) -> Answer:
    from pulearn import ElkanotoPuClassifier
    from sklearn.linear_model import LogisticRegression

    model = ElkanotoPuClassifier(LogisticRegression(max_iter=1000), hold_out_ratio=0.2)
    model.fit(data.X, data.s.astype(int))
    return {"value": float(getattr(model, "c_", getattr(model, "c", np.nan)))}


def pgmpy_network(data: Data) -> Answer:
    from pgmpy.readwrite import BIFReader
    from pgmpy.sampling import BayesianModelSampling

    model = BIFReader(str(data.folder / "net.bif")).get_model()
    return {"value": float(len(BayesianModelSampling(model).forward_sample(size=SAMPLES, show_progress=False)))}


CONTENDERS: dict[str, tuple[Callable[[Data], Answer], int | None]] = {
    "ours k-best": (ours("k-best"), None),
    "scikit-learn chi2": (sklearn_chi2, None),
    "ours lasso": (ours("lasso"), None),
    "scikit-learn Lasso": (sklearn_lasso, None),
    "ours dt-rfe": (ours("dt-rfe", trees=TREES), SMALL),
    "scikit-learn RFE": (sklearn_rfe, SMALL),
    "ours mim": (ours("mim", values="codes"), None),
    "scikit-learn mutual_info_classif": (sklearn_mi, None),
    "scikit-feature MIM": (skfeature_lcsi(K, beta=0.0, gamma=0.0), None),
    "ours jmi": (ours("jmi", k=FEW, values="codes"), SMALL),
    "scikit-feature JMI": (skfeature_lcsi(FEW), SMALL),
    "ITMO_FS JMI": (itmo_jmi, SMALL),
    "ours mrmr": (ours("mrmr", k=FEW, values="codes"), SMALL),
    "scikit-feature MRMR": (skfeature_lcsi(FEW, gamma=0.0), SMALL),
    "mrmr_selection": (mrmr_selection, SMALL),
    "ours mrmr, criterion=miq": (ours("mrmr", criterion="miq", values="codes"), None),
    "pymrmr MIQ": (pymrmr_by("MIQ"), None),
    "ours mrmr, criterion=mid": (ours("mrmr", criterion="mid", values="codes"), None),
    "pymrmr MID": (pymrmr_by("MID"), None),
    "ours cmim": (ours("cmim", k=FEW, values="codes"), SMALL),
    "scikit-feature CMIM": (skfeature_cmim, SMALL),
    "ours Laplacian score": (our_laplacian, None),
    "scikit-feature lap_score": (skfeature_laplacian, None),
    "ours rfs": (our_rfs, SMALL),
    "scikit-feature RFS": (skfeature_rfs, SMALL),
    "ITMO_FS RFS": (itmo_rfs, SMALL),
    "ours ndfs": (our_ndfs, SMALL),
    "ITMO_FS NDFS": (itmo_ndfs, SMALL),
    "ours label rate": (our_rho, None),
    "pulearn ElkanotoPuClassifier": (pulearn_rho, None),
    "ours network sampling": (our_network, None),
    "pgmpy forward_sample": (pgmpy_network, None),
    "ours iamb": (blankets(our_blanket), 2 * SMALL),
    "pyCausalFS IAMB": (blankets(causalfs_blanket), 2 * SMALL),
}

if __name__ == "__main__":
    run, most = CONTENDERS[sys.argv[1]]
    run(load(Path(sys.argv[2]), WARM))
    data = load(Path(sys.argv[2]), most)
    cpu, wall = time.process_time(), time.perf_counter()
    answer = run(data)
    answer |= {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "rows": len(data.s)}
    print(json.dumps(answer))
