"""The methods of a study, each written as a name and settings: ``mrmr criterion=miq``.

Settings are the method's own options or those common to all methods, as in ``semi-jmi binning=equal-frequency``;
``prior=known`` is the true share of positives, for methods that have to be told. Unless told otherwise, methods count
as the papers do: plug-in information in bins of equal width. ``auto`` is no paper's and runs as users have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray

from spark_pufs.engines.local import LocalEngine
from spark_pufs.errors import ConfigError, Fault
from spark_pufs.request import Request
from spark_pufs.run.execution import select_with
from spark_pufs.selection import Selection
from spark_pufs.selectors.base import read_options
from spark_pufs.selectors.registry import METHODS, method_named
from spark_pufs.types import Json, LabelRule

__all__ = ["Entry", "all_methods", "counting", "entry", "longest_first", "select_rows"]

LABEL = "label__"
KNOWN = "known"
_COMMON = {field.name for field in fields(Request)} - {"label", "method", "options"}
# As the FSCPU paper ran them (section 5.2), and readings of our own beside them.
VARIANTS = (
    "mrmr criterion=miq",
    "fscpu search=paper",
    "fscpu-mi search=paper",
    "semi-jmi binning=equal-frequency",
    "fscpu-mi binning=equal-width",
    "pucfs prior=known",
)
# Where the paper does not say how it cut numbers, and equal width would tell less.
BINNING = {"fscpu-mi": "equal-frequency"}
# Seconds on one core for 4,500 rows of 50 features, for the order of work alone; what is not named takes a fraction.
SECONDS = {
    "lgbm-opt": 73.0,
    "fscpu search=paper": 69.0,
    "fscpu-mi search=paper": 63.0,
    "auto": 45.0,
    "dt-rfe": 37.0,
    "es-mcrfs": 12.0,
    "fw-semifs": 6.0,
    "fscpu-mi": 7.0,
    "fscpu": 2.0,
    "ndfs": 1.4,
    "lasso": 1.4,
    "pufs": 1.2,
    "jelsr": 1.0,
    "jsfs": 0.7,
}


@dataclass(frozen=True)
class Entry:
    """A method, its own options, and settings common to all methods."""

    method: str
    options: dict[str, Json]
    common: dict[str, Json]


def entry(text: str) -> Entry:
    """Read ``name setting=value ...``; the values are YAML.

    >>> entry("fscpu-mi search=paper bins=8")
    Entry(method='fscpu-mi', options={'search': 'paper'}, common={'bins': 8})
    """
    name, *settings = text.split() or [""]
    method = method_named(name)
    if not all("=" in setting for setting in settings):
        found = f"'{text}' is not a name and settings"
        raise ConfigError(Fault("Setting 'methods'", found, "Write for example: mrmr criterion=miq."))
    given = {key: yaml.safe_load(value) for key, _, value in (setting.partition("=") for setting in settings)}
    options = {key: value for key, value in given.items() if key not in _COMMON}
    read_options(method, options)
    return Entry(name, options, {key: value for key, value in given.items() if key in _COMMON})


def all_methods() -> tuple[str, ...]:
    """Every method that can do with positives alone and without a prior, at its defaults, and the variants."""
    able = (name for name, method in METHODS.items() if not (method.needs_negatives or method.needs_prior))
    return (*able, *VARIANTS)


def longest_first(methods: Iterable[str]) -> list[str]:
    """Methods in the order of work, checked."""
    names = list(methods)
    for name in names:
        entry(name)
    return sorted(names, key=lambda name: -SECONDS.get(name, SECONDS.get(name.split()[0], 0.3)))


def counting(method: str, options: Mapping[str, Json]) -> dict[str, Json]:
    """How papers count, as settings of a request: plug-in information in bins of equal width, near copies apart.

    >>> counting("semi-jmi", {"surrogate": "y0"})
    {'options': {'correction': 'none', 'surrogate': 'y0'}, 'copies': 'exact', 'binning': 'equal-width'}
    """
    plain = {"correction": "none"} if "correction" in method_named(method).options else {}
    bins = {} if method == "auto" else {"binning": BINNING.get(method, "equal-width")}
    return {"options": {**plain, **options}, "copies": "exact", **bins}


def select_rows(
    X: pd.DataFrame,
    labelled: NDArray[np.bool_],
    positive: NDArray[np.bool_],
    text: str,
    k: int,
    seed: int,
    as_published: bool = True,
) -> Selection:
    """A selection in this very thread: workers are as many as there are cores already.

    ``positive`` is the true class; nothing but its mean is used, and that where the method asks for the known prior.
    ``as_published``: count as papers do, else as users have it.
    """
    wanted = entry(text)
    common = dict(wanted.common)
    if common.get("prior") == KNOWN:
        common["prior"] = float(positive.mean())
    counted = counting(wanted.method, wanted.options) if as_published else {"options": wanted.options}
    settings = counted | common
    request = Request.of(LabelRule(LABEL), method=wanted.method, k=k, seed=seed, **settings)
    return select_with(LocalEngine(X.assign(**{LABEL: labelled.astype(int)}), threads=1), request)
