"""Selections to draw: a plain one, and one with everything a report can tell."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

import spark_pufs
from spark_pufs import Selection
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.findings import Findings
from spark_pufs.history.timeline import Change, RunPoint, Timeline, Unread
from spark_pufs.selection import Feature

SCRIPT = "<script>alert(1)</script>"
NASTY = "<script>alert('x')</script>|`b`"

STABILITY = {
    "runs": 20,
    "nogueira": 0.71,
    "low": 0.62,
    "high": 0.8,
    "kuncheva": 0.7,
    "frequency": {SCRIPT: 0.95, "relevant_02": 0.5},
    "verdict": "most features come out again, some depend on the draw",
}
SIZES = {
    "points": [{"k": k, "auc": auc, "error": 0.01} for k, auc in ((1, 0.6), (2, 0.7), (5, 0.8), (9, 0.81))],
    "chosen": 5,
    "best": 9,
    "why": "5 is the smallest number within one standard error of the best.",
}
COMPARISON = {
    "rows": [
        {"method": "fscpu", "auc": 0.94, "auc_error": 0.01, "f1": 0.8, "f1_error": 0.02, "features": 5.0, "cost": 5.0,
         "seconds": 40.0, "stability": 0.7, "note": ""},
        {"method": "lasso", "auc": 0.87, "auc_error": 0.01, "f1": None, "f1_error": None, "features": 5.0, "cost": 9.5,
         "seconds": 1.0, "stability": None, "note": "supervised on the label column <i>"},
    ],
    "protocol": "Five folds, twice.",
}  # fmt: skip
CHECK = {"verdict": "weak", "reason": "The LL score of the clusters is 1.41.", "p_value": 0.002, "effect": 1.41}


@lru_cache
def plain() -> Selection:
    """Names and a category that would be markup, few labels, a column left out."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(400, 3)), columns=[NASTY, "plain", "unused"])
    table["constant<b>"] = 1.0
    table["word"] = np.where(table["plain"] > 0, SCRIPT, "b & c")
    table["label"] = np.where(table[NASTY] > 1, 1, 0)
    return spark_pufs.select(table, label="label", k=2, must=["word"])


@lru_cache
def searched(generations: int = 3) -> Selection:
    """A short search on the artificial data; one column is called like a script."""
    data = make_artificial(CONDITIONS[0], 7)
    table = pd.DataFrame(data.X, columns=data.names).rename(columns={"relevant_01": SCRIPT}).assign(label=data.s)
    options: dict[str, Any] = {"generation_size": 48, "generations": generations, "sample_mb": 1}
    return spark_pufs.select(table, label="label", method="fscpu", k=25, **options)


def full() -> Selection:
    """The search with every other part of a report beside it."""
    found = searched()
    more = {
        "stability": STABILITY,
        "sizes": SIZES,
        "comparison": COMPARISON,
        "choice": {"method": "fscpu", "why": "It has the best held-out PU-AUC."},
        "check_before": CHECK,
        "sample": "All 200 labelled rows and 2,400 of 4,300 unlabelled rows.",
    }
    features = tuple(replace(feature, cost=1 + feature.rank % 3) for feature in found.features)
    warnings = (f"Column '{SCRIPT}': an identifier?",)
    return replace(found, features=features, warnings=warnings, dropped={"gone<b>": "constant"},
                   findings=Findings.from_dict({**found.details, **more}))  # fmt: skip


def huge(features: int = 5000, length: int = 400) -> Selection:
    """Thousands of features with long names, all chosen, all of them in every list."""
    names = [f"{i:05d}_<&\"'>é" + "x" * length for i in range(features)]
    rng = np.random.default_rng(0)
    ranking = tuple(
        Feature(name, rank, 1 / rank, 0.01, rank <= features // 2, 1.5, "n" * length)
        for rank, name in enumerate(names, 1)
    )
    found = searched()
    level = {"level": "L" * 60, "labelled": 1, "unlabelled": 2, "negative": 3}
    details = {
        **found.details,
        "theta": dict.fromkeys(names, 0.5),
        "history": rng.random((300, features)).round(4).tolist(),
        "distributions": [{"name": name, "levels": [level] * 13} for name in names[:12]],
        "redundancy": {"names": names[:25], "values": rng.random((25, 25)).tolist()},
        "stability": {**STABILITY, "frequency": dict.fromkeys(names, 0.5)},
        "comparison": {"rows": [{**COMPARISON["rows"][1], "note": "n" * 5000}] * 300, "protocol": "p"},  # type: ignore
    }
    request = replace(found.request, include=tuple(names), must=tuple(names[:3000]))
    return replace(
        found,
        features=ranking,
        findings=Findings.from_dict(details),
        request=request,
        warnings=tuple(names),
        dropped=dict.fromkeys(names, "w" * length),
    )


def history(runs: int = 1000) -> Timeline:
    """A thousand runs of thirty features, one in a hundred with an alarm."""
    names = [SCRIPT, *(f"feature_{i:02d}" for i in range(1, 30))]
    return Timeline("runs", tuple(_run(i, names) for i in range(runs)), (Unread("lost", f"{NASTY} is damaged"),))


def _run(place: int, names: list[str]) -> RunPoint:
    alarm = place % 100 == 50
    verdict, reasons = ("changed", (f"drift of {SCRIPT}",)) if alarm else ("unchanged", ())
    relevance = {name: (max(0.0, 1 - i / 20 + 0.02 * (place % 7)), 0.05) for i, name in enumerate(names)}
    change = Change(verdict, reasons, (), (), 0.3 if alarm else 0.02, (SCRIPT,) if alarm else ())
    chosen = tuple(names[place % 3 : 10 + place % 3])
    day = f"{2020 + place // 336:04d}-{place // 28 % 12 + 1:02d}-{place % 28 + 1:02d}"
    return RunPoint(f"{day}", day, "semi-jmi", 10_000 + place, 100, chosen, relevance, "", change if place else None)
