"""A checkpoint that was cut or changed in any place is refused: no wrong answer comes of it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spark_pufs
from spark_pufs.core.search.saved_state import State
from spark_pufs.errors import ConfigError, DataError, PufsError
from spark_pufs.rundir.checkpoint import CHECKPOINT, FolderKeeper
from spark_pufs.rundir.folder import MARK, RunFolder

IDENTITY = {"seed": 7, "table": "abc"}
STATE: State = {"theta": np.linspace(0, 1, 7), "generation": 3, "masks": np.eye(4, dtype=np.bool_)}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    folder = tmp_path_factory.mktemp("run")
    FolderKeeper(RunFolder(folder), IDENTITY).save(STATE)
    return folder, (folder / CHECKPOINT).read_bytes()


def load(folder: Path, data: bytes) -> State | None:
    (folder / CHECKPOINT).write_bytes(data)
    return FolderKeeper(RunFolder(folder), IDENTITY).load()


def complaint(folder: Path, data: bytes) -> str:
    """What is said of such a checkpoint."""
    with pytest.raises(PufsError) as caught:
        load(folder, data)
    assert not isinstance(caught.value, ConfigError)
    assert caught.value.exit_code == 3
    return str(caught.value)


def expected(folder: Path) -> str:
    return f"Checkpoint in '{folder}': is damaged (its checksum is wrong). Delete {CHECKPOINT} to start again."


def test_the_whole_one_comes_back(saved: tuple[Path, bytes]) -> None:
    state = load(*saved)
    assert state is not None
    np.testing.assert_array_equal(state["theta"], STATE["theta"])
    assert (state["generation"], state["masks"].tolist()) == (3, STATE["masks"].tolist())


def test_cut_at_any_length(saved: tuple[Path, bytes]) -> None:
    folder, whole = saved
    assert {complaint(folder, whole[:length]) for length in range(len(whole))} == {expected(folder)}


def test_any_bit_flipped(saved: tuple[Path, bytes]) -> None:
    folder, whole = saved
    for place in range(len(whole)):
        data = bytearray(whole)
        data[place] ^= 1 << (place % 8)
        assert complaint(folder, bytes(data)) == expected(folder)


@given(st.binary(max_size=60), st.integers(0, 100))
def test_bytes_put_in_or_anything_else(saved: tuple[Path, bytes], more: bytes, place: int) -> None:
    folder, whole = saved
    put_in = whole[:place] + b"\0" + more + whole[place:]
    assert {complaint(folder, data) for data in (more, put_in, whole + b"\0" + more)} == {expected(folder)}


def search(table: pd.DataFrame, checkpoint: Path | None) -> spark_pufs.Selection:
    options = {"generations": 4, "generation_size": 16, "sample_mb": 1}
    return spark_pufs.select(table, label="label", method="fscpu-mi", k=3, seed=1, checkpoint=checkpoint, **options)


def test_a_disk_that_fills_up_during_a_search_costs_no_generation(
    volume: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.random.default_rng(0).normal(size=(300, 6))
    table = pd.DataFrame(X, columns=list("abcdef")).assign(label=np.where(X[:, 0] + X[:, 1] > 1.5, 1, 0))
    save, saved = FolderKeeper.save, []

    def filled(self: FolderKeeper, state: State) -> None:
        if len(saved) == 2:
            with suppress(OSError), (volume / "filler").open("wb", buffering=0) as filler:
                while filler.write(b"x" * 1024):
                    pass
        save(self, state)
        saved.append((volume / "run" / CHECKPOINT).read_bytes())

    monkeypatch.setattr(FolderKeeper, "save", filled)
    with pytest.raises(PufsError, match=r"Output '.*run': cannot be written: .*No space left on device"):
        search(table, volume / "run")
    monkeypatch.undo()
    left = {path.name: path.read_bytes() for path in (volume / "run").iterdir() if path.name != MARK}
    assert left == {CHECKPOINT: saved[-1]}
    (volume / "filler").unlink()
    again, whole = search(table, volume / "run"), search(table, None)
    assert (again.features, again.details) == (whole.features, whole.details)


def test_a_method_without_a_search_does_not_take_a_searchs_work_away(tmp_path: Path) -> None:
    FolderKeeper(RunFolder(tmp_path), IDENTITY).save(STATE)
    before = (tmp_path / CHECKPOINT).read_bytes()
    table = pd.DataFrame({"a": [1, 2] * 50, "b": [3, 3, 4, 4] * 25, "label": [1, None] * 50})
    with pytest.raises(ConfigError, match="belongs to another run"):
        spark_pufs.select(table, label="label", method="semi-mim", k=1, checkpoint=tmp_path)
    assert (tmp_path / CHECKPOINT).read_bytes() == before


CHANGES: dict[str, object] = {
    "values of a generation more": lambda v: np.concatenate([v, v[:1]]),
    "values of a mask less": lambda v: v[:, 1:],
    "values as text": lambda v: v.astype(str),
    "values as small floats": lambda v: v.astype(np.float32),
    "values not finite": lambda v: v * np.nan,
    "no values": lambda v: v[:0],
}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[pd.DataFrame, Path, State, dict[str, object]]:
    """A table, the folder of a search on it that was stopped, its state and its identity."""
    X = np.random.default_rng(0).normal(size=(120, 5))
    table = pd.DataFrame(X, columns=list("abcde")).assign(label=np.where(X[:, 0] + X[:, 1] > 1.5, 1, 0))
    folder, kept = tmp_path_factory.mktemp("stopped"), []
    with pytest.MonkeyPatch.context() as patch:
        save = FolderKeeper.save

        def remember(self: FolderKeeper, state: State) -> None:
            kept.append((state, self._identity))
            save(self, state)
            if len(kept) == 2:
                raise KeyboardInterrupt

        patch.setattr(FolderKeeper, "save", remember)
        with pytest.raises(spark_pufs.errors.Stopped):
            search(table, folder)
    return table, folder, *kept[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("search.values", change) for change in CHANGES.values()],
        ("search.values", [1.0]),
        ("search.generation", 3),
        ("search.generation", "2"),
        ("search.name", "paper"),
        ("log_count", 0),
        ("log_count", 2.5),
        ("log_mean", np.zeros(3)),
        ("log_scatter", np.array([-1.0, 1.0])),
        ("first", None),
        ("first", [{"labelled": 3, "rows": 1}] * 10),
        ("first", [{"rows": 1}] * 10),
        ("first", [None] * 10),
    ],
)
def test_sealed_anew_with_wrong_types_or_sizes(stopped: tuple[Any, ...], name: str, value: Any) -> None:
    table, folder, state, identity = stopped
    changed = {**state, name: value(state[name]) if callable(value) else value}
    FolderKeeper(RunFolder(folder), identity).save(changed)
    with pytest.raises(DataError, match=r"Checkpoint in '.*': is not one of this search \(.*\)\. Delete it"):
        search(table, folder)
