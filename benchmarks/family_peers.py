"""Methods of the family beside public implementations, one run: CPU, wall, ratio, agreement.

    OMP_NUM_THREADS=1 python benchmarks/family_peers.py --peers peers/bin/python [--data FOLDER]

One artificial table (4,500 x 50, the FSCPU paper's fourth condition) and, with --data, the quick ones on Spambase. Each
contender is a process of its own (family_contenders.py); peers run in the environment of requirements.txt.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import spearmanr

from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.core.synthetic.bayes_net import read_bif, sample
from spark_pufs.studies.published import markdown_table

PAIRS = {
    "ours k-best": ("scikit-learn chi2",),
    "ours lasso": ("scikit-learn Lasso",),
    "ours dt-rfe": ("scikit-learn RFE",),
    "ours mim": ("scikit-learn mutual_info_classif", "scikit-feature MIM"),
    "ours jmi": ("scikit-feature JMI", "ITMO_FS JMI"),
    "ours mrmr": ("scikit-feature MRMR", "mrmr_selection"),
    "ours mrmr, criterion=miq": ("pymrmr MIQ",),
    "ours mrmr, criterion=mid": ("pymrmr MID",),
    "ours cmim": ("scikit-feature CMIM",),
    "ours Laplacian score": ("scikit-feature lap_score",),
    "ours rfs": ("scikit-feature RFS", "ITMO_FS RFS"),
    "ours ndfs": ("ITMO_FS NDFS",),
    "ours label rate": ("pulearn ElkanotoPuClassifier",),
    "ours network sampling": ("pgmpy forward_sample",),
    "ours iamb": ("pyCausalFS IAMB",),
}
NETWORK = ("ours network sampling", "ours iamb")  # need --data
QUICK = ("ours k-best", "ours lasso", "ours mim", "ours Laplacian score", "ours label rate")
LIMIT = 900  # seconds a contender may take
BINS, K = 5, 25
LABELLED = 200


def write(folder: Path, X: NDArray[np.float64], s: NDArray[np.uint8], y: NDArray[np.uint8], data: str | None) -> None:
    codes = np.minimum((X * BINS).astype(np.uint8), BINS - 1)
    for name, array in (("X", X), ("codes", codes), ("s", s), ("y", y)):
        np.save(folder / f"{name}.npy", array)
    if data:
        network = gzip.decompress((Path(data) / "bayes_nets/alarm.bif.gz").read_bytes())
        (folder / "net.bif").write_bytes(network)
        np.save(folder / "net.npy", sample(read_bif(network), len(X), np.random.default_rng(0)))


def spambase(data: str) -> tuple[NDArray[np.float64], NDArray[np.uint8], NDArray[np.uint8]]:
    table = pd.read_csv(Path(data) / "spambase/spambase.csv.gz").sample(frac=1, random_state=0)
    X, y = table.iloc[:, :-1].to_numpy(float), table.iloc[:, -1].to_numpy(np.uint8)
    s = np.zeros_like(y)
    s[np.random.default_rng(0).choice(np.flatnonzero(y), LABELLED, replace=False)] = 1
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), s, y


def contend(python: str, name: str, folder: Path) -> dict[str, Any]:
    """What family_contenders.py printed, or {"failed": why}."""
    script = Path(__file__).with_name("family_contenders.py")
    root = str(Path(__file__).parents[1])
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    environment |= {"PYTHONPATH": root} if name.startswith("ours") else {"PYTHONPATH": ""}
    command = [python, str(script), name, str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=environment)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {LIMIT} s"}
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:90]}
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def best(answer: dict[str, Any]) -> list[int]:
    if "order" in answer:
        return list(answer["order"])
    places: list[int] = np.argsort(-np.array(answer["scores"]), kind="stable")[:K].tolist()
    return places


def agreement(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Features in common among K; Spearman where both score every feature; values where there is only one."""
    if "value" in one:
        return f"{one['value']:.4g} / {other['value']:.4g}"
    if "sets" in one:
        equal = sum(mine == theirs for mine, theirs in zip(one["sets"], other["sets"], strict=True))
        return f"{equal} of {len(one['sets'])} sets"
    text = f"{len(set(best(one)) & set(best(other)))} of {len(best(one))}"
    if "scores" in one and "scores" in other:
        text += f", rho {spearmanr(one['scores'], other['scores']).statistic:.3f}"
    elif "order" in one and "order" in other and one["order"] == other["order"]:
        text += ", same order"
    return text


def compare(folder: Path, peers: str, pairs: dict[str, tuple[str, ...]]) -> str:
    lines = []
    for ours, theirs in pairs.items():
        mine = contend(sys.executable, ours, folder)
        for peer in theirs:
            other = contend(peers, peer, folder)
            lines.append(line(ours, mine, peer, other))
            print(lines[-1], file=sys.stderr, flush=True)
    return markdown_table(
        ["ours", "peer", "rows", "CPU s, ours", "CPU s, peer", "peer / ours", "wall s", "agree"], lines
    )


def line(ours: str, mine: dict[str, Any], peer: str, other: dict[str, Any]) -> list[str]:
    name = ours.removeprefix("ours ")
    failed = mine.get("failed") or other.get("failed")
    if failed:
        return [name, peer, "", "", "", "", "", failed]
    cpu = [f"{side['cpu']:.2f}" for side in (mine, other)]
    wall = f"{mine['wall']:.2f} / {other['wall']:.2f}"
    ratio = float(f"{other['cpu'] / max(mine['cpu'], 1e-3):.2g}")
    return [name, peer, f"{mine['rows']:,}", *cpu, f"{ratio:,g}", wall, agreement(mine, other)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", required=True, help="python of the environment of requirements.txt")
    parser.add_argument("--data", help="folder of the open sets and networks")
    parser.add_argument("--only", nargs="+", default=["ours"], help="pairs whose name begins so, as 'ours mrmr'")
    asked = parser.parse_args()
    made = make_artificial(CONDITIONS[3], seed=1)
    tables = {"artificial": (made.X, made.s, made.y)}
    if asked.data:
        tables["spambase"] = spambase(asked.data)
    for name, (X, s, y) in tables.items():
        pairs = {ours: PAIRS[ours] for ours in (PAIRS if name == "artificial" else QUICK)}
        pairs = {ours: theirs for ours, theirs in pairs.items() if ours.startswith(tuple(asked.only))}
        if not asked.data:
            pairs = {ours: theirs for ours, theirs in pairs.items() if ours not in NETWORK}
        with tempfile.TemporaryDirectory() as scratch:
            write(Path(scratch), X, s, y, asked.data)
            print(f"## {name}: {X.shape[0]:,} x {X.shape[1]}\n\n{compare(Path(scratch), asked.peers, pairs)}")


if __name__ == "__main__":
    main()
