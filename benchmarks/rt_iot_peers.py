"""One contender of rt_iot_counts.py, in a process of its own: `python rt_iot_peers.py NAME FOLDER K ROWS`.

FOLDER holds codes.npy (n, D) uint8, s.npy (n,) uint8, raw.parquet (features c0.., label s). The last line of output is
JSON: the phases with CPU and wall seconds, the features chosen, and a factor by which the work was cut down. The
contenders that are not ours run in the environment of requirements.txt, without spark_pufs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from process_tree import Spent, measured

Phases = dict[str, Spent]
Outcome = tuple[Phases, list[int], float]  # phases, features in order, how many times this work the whole job is
MRMR_SPARK_K = 6


def load(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    return np.load(folder / "codes.npy"), np.load(folder / "s.npy")


def raw(folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    frame = pd.read_parquet(folder / "raw.parquet")
    return frame.drop(columns="s"), frame["s"]


def numpy_product(folder: Path, k: int, rows: int) -> Outcome:
    """The yardstick: one one-hot matrix product for all rows, one for the labelled, and JMI from their cells."""
    codes, s = load(folder)
    D, B = codes.shape[1], int(codes.max()) + 1
    phases: Phases = {}
    with measured() as phases["count"]:
        hot = np.zeros((D * B, len(codes)), np.float32)
        for j in range(D):
            for level in range(B):
                hot[j * B + level] = codes[:, j] == level
        labelled = np.ascontiguousarray(hot[:, s == 1])
        ones = labelled @ labelled.T
        both = np.stack([hot @ hot.T - ones, ones]).astype(np.float64)
    with measured() as phases["rank"]:
        chosen = rank_jmi(both, D, B, k)
    return phases, chosen, 1.0


def information(joint: np.ndarray, B: int) -> np.ndarray:
    """I(X_k;Y|Z) (D,) of joint (2, |Z|, D*B)."""

    def log(n: np.ndarray) -> np.ndarray:
        return np.log(np.where(n > 0, n, 1.0))

    group = joint[:, :, :B].sum(axis=2)
    ratio = log(joint) + log(group.sum(axis=0))[None, :, None] - log(joint.sum(axis=0)) - log(group)[:, :, None]
    information: np.ndarray = (joint * ratio).sum(axis=(0, 1)).reshape(-1, B).sum(axis=1) / group.sum()
    return information


def rank_jmi(counts: np.ndarray, D: int, B: int, k: int) -> list[int]:
    """JMI from counts (2, D*B, D*B)."""
    score = information(np.stack([np.diag(table)[None] for table in counts]), B)
    chosen = [int(np.argmax(score))]
    score = np.zeros(D)
    while len(chosen) < k:
        last = chosen[-1]
        score = score + information(counts[:, last * B : (last + 1) * B], B)
        chosen.append(int(np.argmax(np.where(np.isin(np.arange(D), chosen), -np.inf, score))))
    return chosen


def _ours(engine: Any, request: Any, phases: Phases) -> list[int]:
    from spark_pufs.core.information.chance import MEASURES
    from spark_pufs.run.execution import prepare
    from spark_pufs.selectors.information.greedy import forward
    from spark_pufs.selectors.information.ranking import JMI
    from spark_pufs.table.counter import Counter
    from spark_pufs.table.pu_table import pack

    with measured() as phases["profile"]:
        plan = prepare(engine, request)
    with measured() as phases["pack and first count"]:
        table = pack(plan, request)
        Counter(table, request.pair_memory_mb).expect_pairs()
    with measured() as phases["count"]:
        counter = Counter(table, request.pair_memory_mb)
        counter.expect_pairs()
    with measured() as phases["rank"]:
        limits = plan.limits_on(plan.features)
        # As the peers count: plug-in information, and y0, which Semi-JMI takes without labelled negatives.
        chosen = forward(JMI(table.layout, "y0", MEASURES["none"]), counter, limits)[0]
    return [int(plan.features[i][1:]) for i in chosen]


def _request(k: int) -> Any:
    from spark_pufs.request import Request
    from spark_pufs.types import LabelRule

    return Request(LabelRule("s"), "semi-jmi", k=k, binning="equal-width")


def ours_local(folder: Path, k: int, rows: int) -> Outcome:
    from spark_pufs.engines.local import LocalEngine

    frame = pd.read_parquet(folder / "raw.parquet")
    phases: Phases = {}
    return phases, _ours(LocalEngine(frame), _request(k), phases), 1.0


def ours_spark(folder: Path, k: int, rows: int) -> Outcome:
    from spark_pufs.spark.engine import SparkEngine
    from spark_pufs.spark.session import open_session

    phases: Phases = {}
    with measured() as phases["session"]:
        spark = open_session("local[2]", {})
        spark.range(10).count()
    engine = SparkEngine(spark.read.parquet(str(folder / "raw.parquet")))
    return phases, _ours(engine, _request(k), phases), 1.0


def mrmr_pandas(folder: Path, k: int, rows: int) -> Outcome:
    from mrmr import mrmr_classif

    X, y = raw(folder)
    phases: Phases = {}
    with measured() as phases["work"]:
        chosen = mrmr_classif(X, y, K=k, show_progress=False)
    return phases, [int(name[1:]) for name in chosen], 1.0


def mrmr_spark(folder: Path, k: int, rows: int) -> Outcome:
    """A Spark job for every correlation: MRMR_SPARK_K features are chosen and the rest is scaled by jobs."""
    from mrmr.spark import mrmr_classif
    from pyspark.sql import SparkSession

    phases: Phases = {}
    with measured() as phases["session"]:
        spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        frame = spark.read.parquet(str(folder / "raw.parquet")).cache()
        frame.count()
    features = [name for name in frame.columns if name != "s"]
    few = min(MRMR_SPARK_K, k)
    with measured() as phases["work"]:
        chosen = mrmr_classif(frame, K=few, target_column="s", features=features, show_progress=False)
    jobs = [sum(len(features) - i for i in range(1, count)) + 3 for count in (few, k)]
    return phases, [int(name[1:]) for name in chosen], jobs[1] / jobs[0]


def _sampled(folder: Path, rows: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Loops over rows in Python: rows are cut down and the time scaled, every labelled share kept."""
    codes, s = load(folder)
    take = np.random.default_rng(0).permutation(len(s))[:rows]
    return codes[take], s[take], len(s) / len(take)


def itmo_jmi(folder: Path, k: int, rows: int) -> Outcome:
    from ITMO_FS.filters.multivariate import MultivariateFilter

    X, y, factor = _sampled(folder, rows)
    phases: Phases = {}
    model = MultivariateFilter("JMI", k)
    with measured() as phases["work"]:
        model.fit(X.astype(int), y.astype(int))
    return phases, [int(i) for i in model.selected_features], factor


def skfeature_jmi(folder: Path, k: int, rows: int) -> Outcome:
    from skfeature.function.information_theoretical_based.JMI import jmi

    X, y, factor = _sampled(folder, 10 * rows)  # an order faster than the other
    phases: Phases = {}
    with measured() as phases["work"]:
        chosen = jmi(X.astype(int), y.astype(int), mode="index", n_selected_features=k)
    return phases, [int(i) for i in chosen], factor


def compiled_jmi(folder: Path, k: int, rows: int) -> Outcome:
    """No package: the loop over rows, step by step, that JMI programs in C run (FEAST, R's praznik), in numba."""
    import numba

    @numba.njit
    def cross(a, b, s, table):  # type: ignore[no-untyped-def]
        table[:] = 0
        for i in range(len(s)):
            table[s[i], a[i], b[i]] += 1

    codes, s = load(folder)
    columns, B = np.ascontiguousarray(codes.T), int(codes.max()) + 1
    D, table = len(columns), np.zeros((2, B, B), np.int64)
    cross(columns[0][:10], columns[0][:10], s[:10], table)
    phases: Phases = {}
    with measured() as phases["work"]:
        chosen: list[int] = []
        score, none = np.zeros(D), np.zeros_like(columns[0])
        while len(chosen) < k:
            for j in range(D):
                cross(columns[chosen[-1]] if chosen else none, columns[j], s, table)
                score[j] += information(table.astype(float), B)[0]
            score[chosen] = -np.inf
            chosen.append(int(np.argmax(score)))
            if len(chosen) == 1:
                score[:] = 0  # the first feature by MIM alone
    return phases, chosen, 1.0


def fast_select_mrmr(folder: Path, k: int, rows: int) -> Outcome:
    """Compiled by numba on first use, which is left out of the time."""
    from fast_select.mRMR import mRMR

    codes, s = load(folder)
    X, y = codes.astype(np.int32), s.astype(np.int32)
    mRMR(n_features_to_select=2, backend="cpu").fit(X[:1000], y[:1000])
    phases: Phases = {}
    with measured() as phases["work"]:
        model = mRMR(n_features_to_select=k, backend="cpu").fit(X, y)
    return phases, [int(i) for i in model.top_features_], 1.0


def sklearn_mi(folder: Path, k: int, rows: int) -> Outcome:
    from sklearn.feature_selection import mutual_info_classif

    codes, s = load(folder)
    phases: Phases = {}
    with measured() as phases["work"]:
        score = mutual_info_classif(codes, s, discrete_features=True)
        chosen = np.argsort(-score, kind="stable")[:k]
    return phases, [int(i) for i in chosen], 1.0


def spark_univariate(folder: Path, k: int, rows: int) -> Outcome:
    from pyspark.ml.feature import UnivariateFeatureSelector, VectorAssembler
    from pyspark.sql import SparkSession

    phases: Phases = {}
    with measured() as phases["session"]:
        spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        spark.range(10).count()
    frame = spark.read.parquet(str(folder / "codes.parquet"))
    names = [name for name in frame.columns if name != "s"]
    with measured() as phases["work"]:
        vectors = VectorAssembler(inputCols=names, outputCol="x").transform(frame)
        selector = UnivariateFeatureSelector(
            featuresCol="x", labelCol="s", outputCol="o", selectionMode="numTopFeatures"
        )
        selector.setFeatureType("categorical").setLabelType("categorical").setSelectionThreshold(k)
        model = selector.fit(vectors)
    return phases, [int(names[i][1:]) for i in model.selectedFeatures], 1.0


CONTENDERS: dict[str, Callable[[Path, int, int], Outcome]] = {
    "numpy-product": numpy_product,
    "ours-local": ours_local,
    "ours-spark": ours_spark,
    "itmo-jmi": itmo_jmi,
    "skfeature-jmi": skfeature_jmi,
    "compiled-jmi": compiled_jmi,
    "mrmr-pandas": mrmr_pandas,
    "mrmr-spark": mrmr_spark,
    "fast-select-mrmr": fast_select_mrmr,
    "sklearn-mi": sklearn_mi,
    "spark-univariate": spark_univariate,
}

if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    name, folder, k, rows = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    phases, chosen, factor = CONTENDERS[name](folder, k, rows)
    spent = {phase: {"cpu": p.cpu, "wall": p.wall} for phase, p in phases.items()}
    print(json.dumps({"phases": spent, "chosen": chosen, "factor": factor}))
