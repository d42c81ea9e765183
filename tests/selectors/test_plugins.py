"""Methods of other packages: found, held to the same rules, and refused by name of the package."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs.errors import ConfigError, EnvironmentFault, PufsWarning
from spark_pufs.report.render import to_html
from spark_pufs.selectors import plugins
from spark_pufs.selectors.base import Outcome, Task
from spark_pufs.selectors.registry import METHODS, every_method, known_method, method_named
from spark_pufs.testing import CHECKS, check_method
from support.plugin import install, install_example


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path, as empty as a new environment."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    plugins._loaded.cache_clear()
    for name in [name for name in sys.modules if name.startswith("pufs_")]:
        del sys.modules[name]


def table() -> pd.DataFrame:
    X = np.random.default_rng(0).normal(size=(300, 3))
    return pd.DataFrame(X, columns=list("abc")).assign(label=(X[:, 1] > 1).astype(int))


def test_a_method_of_another_package_passes_the_conformance_suite(site: Path) -> None:
    install_example(site)
    check_method(method_named("mean-gap"))


def test_it_is_there_wherever_methods_are_named(site: Path) -> None:
    install_example(site)
    found = spark_pufs.select(table(), label="label", method="mean-gap", k=1, rows=200)
    assert found.names == ["b"]
    assert found.versions["pufs-mean-gap"] == "1.2"
    assert "How far the mean of labelled rows lies" in to_html(found)
    assert "mean-gap" in list(spark_pufs.methods()["name"])
    compared = spark_pufs.compare(table(), label="label", methods=["mean-gap", "mim"], k=1, folds=2, repeats=1)
    assert {one.method for one in compared.standings} == {"mean-gap", "mim", "all"}
    chosen = spark_pufs.select(table(), label="label", method="auto", methods=["mean-gap"], folds=2, k=1)
    assert chosen.details["choice"]["methods"] == ["mean-gap"]
    with pytest.raises(ConfigError, match=r"Option 'rows': must be a whole number of at least 100, got 5"):
        spark_pufs.select(table(), label="label", method="mean-gap", rows=5)
    with pytest.raises(ConfigError, match=r"'mean-gab' is not a method. Did you mean 'mean-gap'\?"):
        method_named("mean-gab")


def test_another_version_of_the_package_is_another_answer(site: Path) -> None:
    install_example(site)
    first = spark_pufs.select(table(), label="label", method="mean-gap", k=1)
    info = site / "pufs_mean_gap-1.2.dist-info" / "METADATA"
    info.write_text(info.read_text().replace("Version: 1.2", "Version: 1.3"))
    assert spark_pufs.select(table(), label="label", method="mean-gap", k=1).fingerprint != first.fingerprint


def test_a_package_that_comes_later_is_found(site: Path) -> None:
    assert known_method("mean-gap") is None
    install_example(site)
    assert known_method("mean-gap") is not None


def test_a_report_outlives_the_package(site: Path) -> None:
    install_example(site)
    found = spark_pufs.select(table(), label="label", method="mean-gap", k=1)
    plugins._loaded.cache_clear()
    (site / "pufs_mean_gap-1.2.dist-info" / "entry_points.txt").unlink()
    assert "mean-gap" in to_html(found)


BROKEN = {
    "missing": (
        "pufs_nowhere:METHOD",
        "Method 'missing': package 'pufs-broken' cannot be loaded: ModuleNotFoundError: No module named 'pufs_nowhere'."
        " Update or uninstall that package.",
    ),
    "raises": (
        "pufs_broken:METHOD",
        "Method 'raises': package 'pufs-broken' cannot be loaded: RuntimeError: half written. "
        "Update or uninstall that package.",
    ),
    "a-list": (
        "sys:path",
        "Method 'a-list': package 'pufs-broken' offers sys:path, a list and not a Method. "
        "Update or uninstall that package.",
    ),
    "other-name": (
        "pufs_mean_gap:MEAN_GAP",
        "Method 'other-name': package 'pufs-broken' offers a method that is named 'mean-gap'. "
        "Update or uninstall that package.",
    ),
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_a_broken_package_is_named_and_stops_nothing_else(site: Path, name: str) -> None:
    install_example(site)
    (site / "pufs_broken.py").write_text("raise RuntimeError('half written')\n")
    place, message = BROKEN[name]
    install(site, "pufs-broken", "0.1", {name: place})
    with pytest.raises(EnvironmentFault) as error:
        method_named(name)
    assert str(error.value) == message
    assert known_method(name) is None
    with pytest.warns(PufsWarning) as told:
        names = [method.name for method in every_method()]
    assert [str(one.message) for one in told] == [message]
    assert names == [*METHODS, "mean-gap"]


def test_two_packages_with_one_name(site: Path) -> None:
    install_example(site)
    install(site, "pufs-other", "0.1", {"mean-gap": "pufs_other:METHOD"})
    message = "Method 'mean-gap': is offered by packages 'pufs-mean-gap' and 'pufs-other'. Uninstall one of them."
    with pytest.raises(EnvironmentFault) as error:
        method_named("mean-gap")
    assert str(error.value) == message


def test_a_name_of_this_package_cannot_be_taken(site: Path) -> None:
    install(site, "pufs-other", "0.1", {"mim": "pufs_other:METHOD"})
    assert method_named("mim") is METHODS["mim"]
    with pytest.warns(PufsWarning) as told:
        every_method()
    assert [str(one.message) for one in told] == [
        "Method 'mim' of package 'pufs-other' is not used: spark_pufs has one of that name."
    ]


def test_nothing_is_said_where_nothing_is_installed(site: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [method.name for method in every_method()] == list(METHODS)


def _last(task: Task) -> Outcome:
    """The last columns, whatever is asked for."""
    count = len(task.table.names)
    return Outcome([count - 1], np.full(count, np.nan), np.zeros(count))


def test_the_suite_tells_all_that_a_method_lacks() -> None:
    wrong = replace(METHODS["mim"], name="last", summary="Last.", run=_last)
    with pytest.raises(AssertionError) as error:
        check_method(wrong)
    first, *lines = str(error.value).splitlines()
    failed = [line.split(":")[0] for line in lines]
    assert first == f"Method 'last' fails {len(failed)} checks:"
    assert {"says_what_it_is", "ranks_all_features", "keeps_must_and_never"} <= set(failed)
    assert set(failed) < {check.__name__ for check in CHECKS}
    with pytest.raises(AssertionError, match="a name that no method of spark_pufs has; found 'mim'"):
        CHECKS[0](spark_pufs.testing.Subject(replace(METHODS["jmi"], name="mim")))
