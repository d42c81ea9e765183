"""Names in the settings of a study, checked before any work."""

from __future__ import annotations

from collections.abc import Iterable

from spark_pufs.errors import ConfigError, Fault, did_you_mean

__all__ = ["check_known"]


def check_known(setting: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Every name that is not known is a fault."""
    names = list(known)
    faults = [
        Fault(f"Setting '{setting}'", f"'{name}' is not one of {', '.join(names)}", did_you_mean(name, names))
        for name in given
        if name not in names
    ]
    if faults:
        raise ConfigError(faults)
