"""RT-IoT2022 (123,117 rows, 81 numeric features, 5 equal-width bins): CPU and wall seconds beside peers, in one run.

    OMP_NUM_THREADS=1 python benchmarks/rt_iot_counts.py --peers peers/bin/python

All pairs are counted and 41 features ranked by Semi-JMI; labelled positive are NMAP_TCP_scan and DDOS_Slowloris. The
peers' environment is made as requirements.txt says; without --peers only ours and the yardstick run. CPU seconds are
those of the whole process tree (driver, JVM, Python workers). Every contender has a process of its own and a time
limit.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rt_iot_peers import CONTENDERS

from spark_pufs.core.counting.bins import code_numeric, equal_width_edges
from spark_pufs.types import Bins

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data" / "rt_iot2022" / "rt_iot2022.parquet"
POSITIVE = ("NMAP_TCP_scan", "DDOS_Slowloris")
OURS = ("numpy-product", "ours-local", "ours-spark", "sklearn-mi", "spark-univariate")
JMI = ("itmo-jmi", "skfeature-jmi", "compiled-jmi")


def prepare(data: Path, folder: Path) -> None:
    """The same rows for everyone: raw values, and codes of five equal-width bins."""
    frame = pd.read_parquet(data)
    s = frame["Attack_type"].isin(POSITIVE).to_numpy().astype(np.uint8)
    X = frame.drop(columns="Attack_type").select_dtypes("number").astype(np.float64)
    X.columns = [f"c{i}" for i in range(X.shape[1])]
    codes = np.zeros(X.shape, np.uint8)
    for i, name in enumerate(X):
        low, high = X[name].min(), X[name].max()
        codes[:, i] = code_numeric(
            X[name].to_numpy(), Bins(str(name), "numeric", edges=equal_width_edges(low, high, 5))
        )
    np.save(folder / "codes.npy", codes)
    np.save(folder / "s.npy", s)
    X.assign(s=s.astype(np.int32)).to_parquet(folder / "raw.parquet", index=False)
    pd.DataFrame(codes.astype(np.float64), columns=X.columns).assign(s=s.astype(np.float64)).to_parquet(
        folder / "codes.parquet", index=False
    )


def run(name: str, python: str, folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    command = [python, str(HERE / "rt_iot_peers.py"), name, str(folder), str(args.k), str(args.rows)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent) if python == sys.executable else ""}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.limit, env=environment, check=True)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {args.limit} s"}
    except subprocess.CalledProcessError as error:
        return {"failed": error.stderr.strip().splitlines()[-1][:150] if error.stderr.strip() else "no message"}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def report(name: str, result: dict[str, Any]) -> None:
    if "failed" in result:
        print(f"{name:18s} {result['failed']}", flush=True)
        return
    for phase, spent in result["phases"].items():
        scaled = result["factor"] if phase == "work" else 1.0
        note = f"  measured {spent['cpu']:.1f} CPU s, scaled by {scaled:.1f}" if scaled != 1 else ""
        print(f"{name:18s} {phase:22s} {spent['cpu'] * scaled:9.2f} {spent['wall'] * scaled:9.2f}{note}", flush=True)


def work(result: dict[str, Any]) -> float:
    """CPU seconds of counting and ranking, or of a peer's whole work."""
    phases = result["phases"]
    spent = sum(float(phases[p]["cpu"]) for p in ("count", "rank", "work") if p in phases)
    return spent * float(result["factor"])


def compare(results: dict[str, dict[str, Any]]) -> None:
    done = {name: result for name, result in results.items() if "failed" not in result}
    yard = work(done["numpy-product"])
    print(f"\nCPU of counting and ranking, in terms of the numpy product ({yard:.2f} CPU s):")
    for name in ("ours-local", "ours-spark"):
        if name in done:
            same = done[name]["chosen"] == done["numpy-product"]["chosen"]
            print(
                f"  {name:16s} {work(done[name]) / yard:5.2f}x, the same {len(done[name]['chosen'])} features: {same}"
            )
            for peer in JMI:
                if peer in done:
                    print(f"  {'':16s} {work(done[peer]) / work(done[name]):8.1f} times the speed of {peer}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--peers", help="python of the peers' environment")
    parser.add_argument("--only", nargs="+", choices=list(CONTENDERS), default=list(CONTENDERS))
    parser.add_argument("--k", type=int, default=41)
    parser.add_argument("--rows", type=int, default=1000, help="rows given to ITMO_FS, ten times as many to skfeature")
    parser.add_argument("--limit", type=int, default=600, help="seconds for each contender")
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        prepare(args.data, Path(scratch))
        print(f"{'contender':18s} {'phase':22s} {'CPU s':>9s} {'wall s':>9s}")
        for name in args.only:
            if name in OURS or args.peers:
                python = sys.executable if name in OURS else args.peers
                results[name] = run(name, python, Path(scratch), args)
                report(name, results[name])
    if "failed" not in results.get("numpy-product", {"failed": ""}):
        compare(results)


if __name__ == "__main__":
    main()
