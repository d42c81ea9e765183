"""The package as users ship it to a cluster: as a zip, or installed in a packed environment."""

from __future__ import annotations

import shutil
import sys
import tarfile
import venv
from dataclasses import dataclass
from pathlib import Path

from spark_pufs.version import __version__

__all__ = ["ROOT", "SHIPPED", "Shipment", "pack_environment", "pack_zip"]

ROOT = Path(__file__).parents[2]
SHIPPED = f"{__version__}+shipped"  # tells what was shipped from what is installed here


@dataclass(frozen=True)
class Shipment:
    """What spark-submit is told, and the Pythons that go with it."""

    arguments: tuple[str, ...]
    python: str
    driver: str = sys.executable


def pack_zip(folder: Path) -> Shipment:
    """For workers that have all other packages."""
    copy_package(folder / "zip")
    archive = shutil.make_archive(str(folder / "shipped"), "zip", folder / "zip", "spark_pufs")
    return Shipment(("--py-files", archive), sys.executable)


def pack_environment(folder: Path) -> Shipment:
    """For workers that have nothing but the base Python.

    As venv-pack makes it: a link to the base Python, and site-packages. To be quick, only our package lies in there;
    the others are named in a .pth file.
    """
    home = folder / "environment"
    venv.create(home, symlinks=True)
    [site] = home.glob("lib/python*/site-packages")
    (site / "others.pth").write_text("\n".join(path for path in sys.path if Path(path).name == "site-packages"))
    copy_package(site)
    archive = folder / "environment.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(home, arcname=".")
    return Shipment(("--archives", f"{archive}#environment"), "./environment/bin/python", str(home / "bin" / "python"))


def copy_package(folder: Path) -> None:
    shutil.copytree(ROOT / "spark_pufs", folder / "spark_pufs", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "spark_pufs" / "version.py").write_text(f'__version__ = "{SHIPPED}"\n')
