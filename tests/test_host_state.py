"""A selection leaves the process as it found it, alone and beside others."""

from __future__ import annotations

import gc
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

import spark_pufs
from spark_pufs.core.process_state import undisturbed, without_warnings
from spark_pufs.errors import PufsWarning
from spark_pufs.local import PUSelector
from spark_pufs.selectors.registry import METHODS
from support.host import assert_unchanged
from support.quick_options import quick

pytestmark = pytest.mark.filterwarnings("ignore::spark_pufs.errors.PufsWarning")

ROWS = 160
SIDE_BY_SIDE = ("auto", "distil", "fscpu", "dt-rfe", "lasso", "semi-jmi", "pufs", "consensus")


def table(seed: int = 0) -> pd.DataFrame:
    """Two columns that tell the class, four that do not, and rows labelled negative."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 6))
    X[:, :2] += 3 * (np.arange(ROWS) < 60)[:, None]
    label = np.where(np.arange(ROWS) < 40, 1, np.where(np.arange(ROWS) > 140, -1, 0))
    return pd.DataFrame(X, columns=list("abcdef")).assign(label=label, row=np.arange(ROWS))


def asked(method: str) -> dict[str, Any]:
    negative = {"unlabelled": [0, -1]} if method.startswith(("fscpu",)) else {"negative": -1}
    prior = {"prior": 0.4} if method == "pucfs" else {}
    return {"label": "label", "method": method, "k": 2, "keep": ["row"], **negative, **prior, **quick(method)}


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's is also used by others."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture(scope="module")
def loaded() -> None:
    """Libraries that change a process when they are loaded are loaded."""
    spark_pufs.compare(table(), label="label", negative=-1, methods=["k-best"], k=1, folds=2, repeats=1)


@pytest.fixture(autouse=True)
def two_threads(loaded: None) -> Iterator[None]:
    """Of BLAS, so that a limit shows on any machine."""
    with threadpool_limits(2):
        gc.collect()
        yield


@pytest.mark.parametrize("method", list(METHODS))
def test_a_selection_leaves_the_process_as_it_was(method: str) -> None:
    with assert_unchanged():
        spark_pufs.select(table(), **asked(method))


def other_doors() -> dict[str, Callable[[], Any]]:
    frame = table()
    X, s = frame[list("abcdef")], frame["label"]
    clusters = spark_pufs.select(frame, **asked("fscpu"))
    return {
        "compare": lambda: spark_pufs.compare(frame, label="label", negative=-1, methods=["lasso"], k=1, repeats=1),
        "check": lambda: spark_pufs.check_clusters(frame, label="label", unlabelled=[0, -1], keep=["row"], clusters=3),
        "likely": lambda: spark_pufs.likely_positives(clusters, frame),
        "scikit-learn": lambda: PUSelector(method="auto", k=1, negative=-1, options=quick("auto")).fit(X, s),
        "diff": lambda: spark_pufs.diff(clusters, clusters),
        "an error": refused,
    }


def refused() -> None:
    with pytest.raises(spark_pufs.PufsError):
        spark_pufs.select(table(), label="absent")


@pytest.mark.parametrize("door", ["compare", "check", "likely", "scikit-learn", "diff", "an error"])
def test_other_doors_leave_the_process_as_it_was(door: str) -> None:
    call = other_doors()[door]
    with assert_unchanged():
        call()


def test_files_are_all_that_writing_leaves(tmp_path: Path) -> None:
    selection = spark_pufs.select(table(), **asked("fscpu"), checkpoint=tmp_path / "search")
    own = tmp_path / "search"
    with assert_unchanged():
        selection.write(own / "run")
        selection.write_report(own / "report.html")


def test_eight_at_once_answer_as_alone_and_leave_the_process_as_it_was() -> None:
    frames = [table(seed) for seed in range(len(SIDE_BY_SIDE))]
    calls = [(frame, asked(method)) for frame, method in zip(frames, SIDE_BY_SIDE, strict=True)]
    alone = [spark_pufs.select(frame, **options) for frame, options in calls]
    with assert_unchanged(), ThreadPoolExecutor(len(calls)) as pool:
        found = list(pool.map(lambda call: spark_pufs.select(call[0], **call[1]), calls))
    assert [one.features for one in found] == [one.features for one in alone]
    assert [one.warnings for one in found] == [one.warnings for one in alone]


def test_the_last_one_out_puts_back_what_the_first_one_found() -> None:
    """Threads that go in the order they came; what was set meanwhile by somebody else stays."""
    first, second = undisturbed(), undisturbed()
    with assert_unchanged(), ThreadPoolExecutor(1) as other:
        first.__enter__()
        other.submit(second.__enter__).result()
        first.__exit__(None, None, None)
        other.submit(second.__exit__, None, None, None).result()
    with undisturbed():
        threadpool_limits(3, "blas")
    info = spark_pufs.core.process_state._libraries("blas")
    assert {one.num_threads for one in info} == {3}


def test_filters_that_threads_leave_behind_are_taken_away() -> None:
    """Two blocks of catch_warnings that end in the order they began, as in two threads."""
    first, second = warnings.catch_warnings(), warnings.catch_warnings()
    with assert_unchanged(), undisturbed():
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        warnings.simplefilter("error", PufsWarning)  # goes into the list of the user
        second.__exit__(None, None, None)


def test_what_scikit_learn_warns_of_is_not_heard() -> None:
    with assert_unchanged(), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with without_warnings(), without_warnings():
            warnings.warn_explicit("slow", UserWarning, "file", 1, module="sklearn.mixture")
        warnings.warn_explicit("after", UserWarning, "file", 1, module="sklearn.mixture")
    assert [str(one.message) for one in heard] == ["after"]
