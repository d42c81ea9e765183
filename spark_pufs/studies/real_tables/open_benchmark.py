"""The open benchmark: methods, one-liners and yardsticks on real tables, plain and made hard, judged by the truth."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from spark_pufs.api import select
from spark_pufs.core.process_state import undisturbed
from spark_pufs.selectors.registry import METHODS
from spark_pufs.studies.real_tables.hardening import HARDENINGS, PLAIN, Given, given_to_selectors
from spark_pufs.studies.real_tables.peers import PEERS, TRUTH, YARDSTICKS, not_installed, peer_choice
from spark_pufs.studies.real_tables.protocol import CLASSIFIERS, coded, split_of, true_aucs
from spark_pufs.studies.real_tables.summary import AUC, pages
from spark_pufs.studies.real_tables.tables import OTHER_SETS, catalogue, groups, load_table
from spark_pufs.studies.settings import check_known
from spark_pufs.studies.study import Row, Unit, chooses
from spark_pufs.studies.study_methods import longest_first, select_rows

__all__ = ["DEFAULT", "Answer", "RealTables", "default_methods", "judge"]

DEFAULT = "default"  # ``select`` without a method
# What a user would try; names that this version does not have are passed over.
MAIN = (
    DEFAULT, "auto", "distil", "soft-jmi", "soft-mim", "consensus", "semi-jmi", "semi-mim", "mim", "jmi", "cmim",
    "mrmr", "fscpu", "fscpu-mi", "prfs", "apucfs", "pufs", "k-best", "lasso", "dt-rfe",
)  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What a method chose, the AUC of each classifier, CPU seconds of the choice, and what the selection warned of."""

    names: tuple[str, ...]
    aucs: dict[str, float]
    seconds: float
    warnings: tuple[str, ...] = field(default=())

    @property
    def auc(self) -> float:
        """The mean over classifiers, which methods are compared by."""
        return float(np.mean(list(self.aucs.values())))


def default_methods() -> tuple[str, ...]:
    """The main methods of this version, all peers and yardsticks."""
    return (*(name for name in MAIN if name == DEFAULT or name in METHODS), *PEERS, *YARDSTICKS)


def judge(folder: str, data: str, table: str, split: int, hardening: str, method: str) -> Answer:
    """One method on one split of a table: select from the training part, train on its choice, ask the truth."""
    given = _given(folder, data, table, split, hardening)
    began = time.process_time()
    with undisturbed():  # workers are as many as there are cores already
        names, warned = _choice(given, method, load_table(table, folder, data).asked.k, split)
    seconds = time.process_time() - began
    added = hardening if not set(names) <= set(load_table(table, folder, data).X) else PLAIN
    aucs = _aucs(folder, data, table, split, added, tuple(sorted(names)))
    return Answer(tuple(names), dict(aucs), seconds, warned)


@lru_cache(maxsize=2)
def _given(folder: str, data: str, name: str, number: int, hardening: str) -> Given:
    table = load_table(name, folder, data)
    split = split_of(table.positive, table.asked.labelled, number)
    return given_to_selectors(table.X, table.positive, split, hardening, name, number)


@lru_cache(maxsize=4096)
def _aucs(folder: str, data: str, table: str, split: int, hardening: str, names: tuple[str, ...]) -> dict[str, float]:
    """Methods often agree, and a hardening that adds no chosen column leaves the judges' table as it was."""
    given = _given(folder, data, table, split, hardening)
    return true_aucs(coded(given.judged), given.split, given.positive, names)


def _choice(given: Given, method: str, k: int, seed: int) -> tuple[list[str], tuple[str, ...]]:
    if method in (*PEERS, *YARDSTICKS) and method != TRUTH:
        train = given.split.train
        return peer_choice(method, coded(given.X).iloc[train], given.labelled, k, seed), ()
    text = signature(select).parameters["method"].default if method in (DEFAULT, TRUTH) else method
    truth = given.positive[given.split.train]
    labelled = truth if method == TRUTH else given.labelled
    found = select_rows(given.train, labelled, truth, text, k, seed, as_published=False)
    return found.names, found.warnings


@dataclass(frozen=True)
class RealTables:
    """Mean AUC of three classifiers on the columns that each method selects from a few labels of real tables."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    name: ClassVar[str] = "real_tables"

    folder: str = chooses("real_tables")  # in the data folder, or a path of its own
    only: tuple[str, ...] = chooses(())  # tables of the folder; all
    sets: tuple[str, ...] = chooses(tuple(OTHER_SETS))
    methods: tuple[str, ...] = chooses(())  # the main ones, all peers and yardsticks
    hardenings: tuple[str, ...] = chooses(tuple(HARDENINGS))
    splits: int = chooses(3)
    hard_splits: int = chooses(1)  # of the tables made hard
    data: str | None = None

    @property
    def place(self) -> str:
        """The folder of the tables."""
        return str(Path(str(self.data)) / self.folder)

    def absent(self) -> str | None:
        """Why it cannot run, if so."""
        if self.sets or catalogue(self.place):
            return None
        return f"folder '{self.folder}' with its README.md is not in the data folder, and no other sets are named"

    def units(self) -> list[Unit]:
        """Whole tables one after another, so that workers read each once; the plain ones of all splits first."""
        check_known("real_tables.only", self.only, catalogue(self.place))
        check_known("real_tables.sets", self.sets, OTHER_SETS)
        check_known("real_tables.hardenings", self.hardenings, HARDENINGS)
        runs = [(split, PLAIN) for split in range(self.splits)]
        runs += [(split, one) for split in range(self.hard_splits) for one in self.hardenings]
        return [
            {"dataset": table, "condition": hardening, "method": method, "repeat": split}
            for split, hardening in runs
            for table in [*self.sets, *(self.only or catalogue(self.place))]
            for method in self._methods()
        ]

    def run(self, unit: Unit) -> list[Row]:
        named = {name: unit[name] for name in ("dataset", "condition", "method", "repeat")}
        found = judge(
            self.place, str(self.data), named["dataset"], named["repeat"], named["condition"], named["method"]
        )
        named |= {"seconds": found.seconds, "message": "; ".join(found.warnings)}
        values = {AUC: found.auc, **{f"auc_{name}": found.aucs[name] for name in CLASSIFIERS}}
        return [named | {"measure": measure, "value": value} for measure, value in values.items()]

    def tables(self, results: pd.DataFrame) -> dict[str, str]:
        """The page and its diagram."""
        left_out = [f"{name} is left out: it is not installed" for name in not_installed(self.wanted())]
        if not catalogue(self.place):
            left_out.append(
                f"the tables of '{self.folder}' are left out: the data folder has no such folder with a README.md"
            )
        return pages(results, groups(self.place), left_out)

    def pictures(self, results: pd.DataFrame) -> dict[str, bytes]:
        return {}

    def wanted(self) -> list[str]:
        return list(self.methods or default_methods())

    def _methods(self) -> list[str]:
        """In the order of work, checked; peers that are not installed are left out."""
        wanted, missing = self.wanted(), not_installed(self.wanted())
        others = [name for name in wanted if name in (*PEERS, *YARDSTICKS, DEFAULT) and name not in missing]
        return [*longest_first(name for name in wanted if name not in (*PEERS, *YARDSTICKS, DEFAULT)), *others]
