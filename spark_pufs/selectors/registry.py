"""The methods, by name."""

from __future__ import annotations

from spark_pufs.errors import ConfigError, Fault, did_you_mean
from spark_pufs.selectors.base import Method
from spark_pufs.selectors.clusters import fscpu
from spark_pufs.selectors.evidence import auto
from spark_pufs.selectors.information import markov, pucfs, ranking
from spark_pufs.selectors.rows import baselines, lgbm_opt, library, prfs, pufs
from spark_pufs.selectors.soft import consensus, distil, soft_counts

__all__ = ["METHODS", "method_named", "no_clusters"]

METHODS: dict[str, Method] = {
    method.name: method
    for module in (
        distil,
        consensus,
        soft_counts,
        ranking,
        markov,
        fscpu,
        pucfs,
        prfs,
        pufs,
        library,
        baselines,
        lgbm_opt,
        auto,
    )
    for method in module.METHODS
}


def method_named(name: str) -> Method:
    """The method of that name, or an error that suggests one."""
    if name not in METHODS:
        raise ConfigError(Fault("Option 'method'", f"'{name}' is not a method", did_you_mean(name, METHODS)))
    return METHODS[name]


def no_clusters(where: str, method: str) -> Fault:
    """What is wrong where likely positives are asked of a method that makes no clusters.

    >>> print(no_clusters("Likely positives", "mim"))
    Likely positives: method 'mim' makes no clusters. Use fscpu or fscpu-mi.
    """
    able = [name for name, one in METHODS.items() if one.makes_clusters]
    return Fault(where, f"method '{method}' makes no clusters", f"Use {' or '.join(able)}.")
