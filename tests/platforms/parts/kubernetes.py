"""The schemas of Kubernetes, without a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from platforms.tools import packages

VALIDATE = "kubernetes-validate==1.37.0"
BEHIND = ("jsonschema==4.25.1", "jsonschema-specifications==2025.9.1", "referencing==0.36.2", "rpds-py==0.27.1")


def install(folder: Path) -> None:
    packages(folder / "packages", VALIDATE, *BEHIND, "attrs==25.3.0", "importlib-resources==6.5.2")


def environment(folder: Path) -> Mapping[str, str]:
    return {"PYTHONPATH": str(folder / "packages")}
