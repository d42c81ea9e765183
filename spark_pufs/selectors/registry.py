"""The methods, by name: those of this package, and those that other packages offer."""

from __future__ import annotations

from contextlib import suppress

from spark_pufs.errors import ConfigError, EnvironmentFault, Fault, did_you_mean, warn
from spark_pufs.selectors.base import Method
from spark_pufs.selectors.clusters import fscpu
from spark_pufs.selectors.evidence import auto
from spark_pufs.selectors.information import markov, pucfs, ranking
from spark_pufs.selectors.plugins import package_of, plugin, plugin_names, plugins
from spark_pufs.selectors.rows import baselines, lgbm_opt, library, prfs, pufs, pulasso
from spark_pufs.selectors.soft import consensus, distil, soft_counts

__all__ = ["METHODS", "every_method", "known_method", "method_named", "no_clusters", "packages_behind"]

# Of this package.
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
        pulasso,
        library,
        baselines,
        lgbm_opt,
        auto,
    )
    for method in module.METHODS
}


def method_named(name: str) -> Method:
    """The method of that name, or an error that suggests one."""
    found = METHODS.get(name) or plugin(name)
    if found is None:
        known = (*METHODS, *plugin_names())
        raise ConfigError(Fault("Option 'method'", f"'{name}' is not a method", did_you_mean(name, known)))
    return found


def known_method(name: str) -> Method | None:
    """The method of that name, if it is still there: a report may be older than what is installed."""
    with suppress(ConfigError, EnvironmentFault):
        return method_named(name)
    return None


def every_method() -> list[Method]:
    """The methods of this package, then those of others; a warning for each of those that cannot be used."""
    found, told = plugins(METHODS)
    warn(told)
    return [*METHODS.values(), *found]


def packages_behind(name: str) -> dict[str, str]:
    """Packages and their versions that an answer of the method depends on besides this one's."""
    return {} if name in METHODS else package_of(name)


def no_clusters(where: str, method: str) -> Fault:
    """What is wrong where likely positives are asked of a method that makes no clusters.

    >>> print(no_clusters("Likely positives", "mim"))
    Likely positives: method 'mim' makes no clusters. Use fscpu or fscpu-mi.
    """
    able = [name for name, one in METHODS.items() if one.makes_clusters]
    return Fault(where, f"method '{method}' makes no clusters", f"Use {' or '.join(able)}.")
