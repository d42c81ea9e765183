"""Methods of other packages, found through the entry-point group ``spark_pufs.methods``.

An entry point has the method's name and points to a ``Method``. Names come from the metadata of what is installed; a
package is imported when its method is asked for, in every process anew: Spark's workers find what is installed there.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from spark_pufs.errors import EnvironmentFault, Fault
from spark_pufs.masking.texts import gist
from spark_pufs.selectors.base import Method

__all__ = ["GROUP", "package_of", "plugin", "plugin_names", "plugins"]

GROUP = "spark_pufs.methods"


def plugin_names() -> tuple[str, ...]:
    """The methods that other packages offer, by name."""
    return tuple(sorted({entry.name for entry in entry_points(group=GROUP)}))


def plugin(name: str) -> Method | None:
    """The method that another package offers under that name, None if none does."""
    try:
        return _loaded(name)
    except LookupError:
        return None


def plugins(taken: Collection[str]) -> tuple[list[Method], list[str]]:
    """Every method of other packages that can be used, and what is to be said of the others.

    ``taken``: names that no other package can give a method.
    """
    found, told = [], []
    for name in plugin_names():
        if name in taken:
            told.append(f"Method '{name}' of package {_packages(name)} is not used: spark_pufs has one of that name.")
            continue
        try:
            found.append(_loaded(name))
        except EnvironmentFault as error:
            told.append(str(error))
    return found, told


def package_of(name: str) -> dict[str, str]:
    """The package that a method comes from, with its version; empty where it is not from another package."""
    return {_package(entry): entry.dist.version for entry in entry_points(group=GROUP, name=name) if entry.dist}


@cache  # an error is not kept: a package may be fixed or installed while a notebook runs
def _loaded(name: str) -> Method:
    entries = list(entry_points(group=GROUP, name=name))
    if not entries:
        raise LookupError(name)
    if len(entries) > 1:
        found = f"is offered by packages {_packages(name)}"
        raise EnvironmentFault(Fault(f"Method '{name}'", found, "Uninstall one of them."))
    return _checked(entries[0])


def _checked(entry: EntryPoint) -> Method:
    """What an entry point leads to, if it is the method that it says."""
    where, package = f"Method '{entry.name}'", f"package '{_package(entry)}'"
    fix = "Update or uninstall that package."
    try:
        found = entry.load()
    except Exception as error:  # whatever goes wrong in a package of others
        told = f"{package} cannot be loaded: {type(error).__name__}: {gist(error)}"
        raise EnvironmentFault(Fault(where, told, fix)) from error
    if not isinstance(found, Method):
        told = f"{package} offers {entry.value}, a {type(found).__name__} and not a Method"
        raise EnvironmentFault(Fault(where, told, fix))
    if found.name != entry.name:
        told = f"{package} offers a method that is named '{found.name}'"
        raise EnvironmentFault(Fault(where, told, fix))
    return found


def _packages(name: str) -> str:
    return " and ".join(sorted(f"'{_package(entry)}'" for entry in entry_points(group=GROUP, name=name)))


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.module
