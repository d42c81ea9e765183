"""Packages that offer methods, put on a path as an installer would do it: modules, and a dist-info folder."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

from spark_pufs.selectors.plugins import GROUP

EXAMPLE = Path(__file__).parents[1] / "example_plugin"


def install(site: Path, package: str, version: str, methods: dict[str, str]) -> None:
    """The metadata of a package whose entry points are ``methods``: name and place."""
    info = site / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    lines = "".join(f"{name} = {place}\n" for name, place in methods.items())
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}")


def install_example(site: Path) -> None:
    """The package in tests/example_plugin."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    install(site, project["name"], project["version"], project["entry-points"][GROUP])
    shutil.copytree(EXAMPLE / "pufs_mean_gap", site / "pufs_mean_gap")
