"""Whether lists with a promised recall keep it on real tables, and how long they are.

    OMP_NUM_THREADS=1 python benchmarks/promised_lists.py rt-iot ../shared/data [--splits 200] [--recall 0.9]

Each split labels some of the positives at random: 60 of the TCP scans and Slowloris flows of RT-IoT2022, beside which a
fifth of the other rows is taken, without the flood, or 60 spam mails of Spambase. Columns are chosen by semi-mim, rows
listed with the recall. Told: the share of hidden positives that is listed, over splits, and of each kind; the length of
the list; how often a kind of which less than half is listed goes without a warning. With ``--clusters`` the clusters of
fscpu list rows first, and the promise is the share of hidden positives that they list.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import spark_pufs

LABELS, CHOSEN = 60, 15
KIND_MISSED = 0.5
OTHERS = 5  # every so many-th flow that is no positive is taken: 200 splits in minutes


def rt_iot(data: Path) -> tuple[pd.DataFrame, pd.Series]:
    """Columns, and the kind of each row: empty for negatives."""
    flows = pd.read_parquet(data / "rt_iot2022" / "rt_iot2022.parquet")
    flows = flows[flows["Attack_type"] != "DOS_SYN_Hping"].reset_index(drop=True)
    kind = flows.pop("Attack_type").astype(str)
    kind = kind.where(kind.isin(["NMAP_TCP_scan", "DDOS_Slowloris"]), "")
    taken = (kind != "") | (np.arange(len(flows)) % OTHERS == 0)
    return flows[taken].reset_index(drop=True), kind[taken].reset_index(drop=True)


def spambase(data: Path) -> tuple[pd.DataFrame, pd.Series]:
    mails = pd.read_csv(data / "spambase" / "spambase.csv.gz")
    spam = mails.pop(mails.columns[-1])
    return mails, pd.Series(np.where(spam == 1, "spam", ""))


TABLES = {"rt-iot": rt_iot, "spambase": spambase}


def labelled(rows: pd.DataFrame, kind: pd.Series, split: int) -> pd.DataFrame:
    rng = np.random.default_rng([split, 23])
    own = rng.choice(np.flatnonzero(kind != ""), LABELS, replace=False)
    label = np.zeros(len(rows), int)
    label[own] = 1
    return rows.assign(row=np.arange(len(rows)), label=label)


def trial(rows: pd.DataFrame, kind: pd.Series, split: int, recall: float) -> dict[str, float]:
    """Shares of hidden positives that are listed, of all and by kind, and what the list says of itself."""
    table = labelled(rows, kind, split)
    chosen = spark_pufs.select(table, label="label", method="semi-mim", k=CHOSEN, keep=["row"])
    return listed(table, kind, chosen, recall)


def listed(
    table: pd.DataFrame, kind: pd.Series, chosen: spark_pufs.Selection, recall: float | None
) -> dict[str, float]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = chosen.likely_positives(table, recall=recall)["row"].to_numpy()
    inside = np.isin(table["row"], found)
    hidden = (kind != "") & (table["label"] == 0)
    shares = {name: float(inside[hidden & (kind == name)].mean()) for name in sorted(set(kind) - {""})}
    missed = any(share < KIND_MISSED for share in shares.values())
    silent = missed and not any("The list misses" in str(one.message) for one in told)
    own = {"recall": float(inside[hidden].mean()), "rows": float(len(found)), "missed": missed, "silent": silent}
    return {**own, "precision": float((kind[found] != "").mean()) if len(found) else 1.0, **shares}


def beside_clusters(rows: pd.DataFrame, kind: pd.Series, split: int) -> dict[str, float]:
    """The list of fscpu's clusters, and the one that promises what that holds."""
    table = labelled(rows, kind, split)
    chosen = spark_pufs.select(table, label="label", method="fscpu", k=CHOSEN, keep=["row"])
    clusters = listed(table, kind, chosen, None)
    promised = min(max(clusters["recall"], 0.05), 0.98)
    own = listed(table, kind, chosen, promised)
    return {"clusters": clusters["recall"], "rows of clusters": clusters["rows"], **own}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("data", type=Path)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--recall", type=float, default=0.9)
    parser.add_argument("--clusters", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, kind = TABLES[given.table](given.data)
    began = time.process_time()
    found: list[dict[str, float]] = []
    for split in range(given.splits):
        found.append(beside_clusters(rows, kind, split) if given.clusters else trial(rows, kind, split, given.recall))
        if len(found) % 10 == 0 or len(found) == given.splits:
            tell(pd.DataFrame(found).astype(float), f"{given.table}, recall {given.recall:g}", began)


def tell(found: pd.DataFrame, title: str, began: float) -> None:
    print(f"{title}: {len(found)} splits, {time.process_time() - began:.0f} s of CPU")
    for name, values in found.items():
        error = 2 * values.std(ddof=1) / math.sqrt(len(values))
        print(f"  {name}: mean {values.mean():.3f} ± {error:.3f}, median {values.median():.3f}", flush=True)


if __name__ == "__main__":
    main()
