"""What a Python worker does once; its daemon finds what is installed before Spark's archives of the same modules."""

from __future__ import annotations

import gc
from pathlib import Path

from spark_pufs.spark.worker import freeze_loaded, installed_first


def test_what_is_loaded_is_frozen_once() -> None:
    freeze_loaded.cache_clear()
    gc.unfreeze()
    try:
        freeze_loaded()
        frozen = gc.get_freeze_count()
        assert frozen > 10_000  # pytest and numpy alone
        later = [[] for _ in range(1000)]
        freeze_loaded()
        assert gc.get_freeze_count() <= frozen
        assert len(later) == 1000
    finally:
        gc.unfreeze()


def _installed(site: Path) -> list[str]:
    """A pyspark as pip installs it, and what Spark gives its workers to look through."""
    archives = site / "pyspark" / "python" / "lib"
    archives.mkdir(parents=True)
    (site / "pyspark" / "__init__.py").touch()
    return [str(archives / name) for name in ("pyspark.zip", "py4j-0.10.9.9-src.zip")]


def test_archives_beside_an_installed_package_come_last(tmp_path: Path) -> None:
    archives = _installed(tmp_path)
    path = ["", archives[0], "/jobs", archives[1], str(tmp_path), "/users.zip"]
    assert installed_first(path) == ["", "/jobs", str(tmp_path), "/users.zip", *archives]


def test_of_a_spark_that_is_no_package_the_archives_stay_first(tmp_path: Path) -> None:
    archives = _installed(tmp_path / "spark")
    path = [*archives, str(tmp_path)]  # the folder of this pyspark is not among them
    assert installed_first(path) == path


def test_a_folder_of_the_same_name_is_no_package(tmp_path: Path) -> None:
    archives = _installed(tmp_path)
    (tmp_path / "pyspark" / "__init__.py").unlink()
    assert installed_first([*archives, str(tmp_path)]) == [*archives, str(tmp_path)]
