"""What the open benchmark found: a table of methods, one of hardenings, and the critical-difference diagram.

``results`` are rows of ``study.COLUMNS`` with the measure ``auc`` (mean of the three classifiers), or ``error`` where a
method gave no answer: that counts as 0.5, what nothing selected tells. Figures are over the pairs of table and split
that every method has. Splits of a table are averaged first: errors and ranks are over tables.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from spark_pufs.studies.published import markdown_table, sentences
from spark_pufs.studies.real_tables.critical_difference import MeanRanks, diagram, mean_ranks
from spark_pufs.studies.real_tables.hardening import HARDENINGS, PLAIN
from spark_pufs.studies.real_tables.peers import ONE_LINERS, YARDSTICKS
from spark_pufs.studies.real_tables.tables import GROUPS
from spark_pufs.studies.study import ERROR

__all__ = ["AUC", "PAGE", "PICTURE", "Scores", "best_one_liner", "pages", "scores_of"]

AUC = "auc"
NO_ANSWER = 0.5
FAR_BELOW = 0.03  # below all features: worth a word of warning
PAGE, PICTURE = "real_tables.md", "real_tables.svg"


@dataclass(frozen=True)
class Scores:
    """AUC and CPU seconds with a row per (table, split) and a column per method, no cell empty; ``waiting`` pairs lack
    some method. ``failed``: how often each method gave no answer."""

    auc: pd.DataFrame
    seconds: pd.DataFrame
    failed: Mapping[str, int]
    waiting: int

    @property
    def methods(self) -> list[str]:
        return [str(name) for name in self.auc]

    @property
    def by_table(self) -> pd.DataFrame:
        return self.auc.groupby(level="dataset").mean()

    @property
    def selectors(self) -> list[str]:
        """The methods that are ranked: those that select by the labels."""
        return [name for name in self.methods if name not in YARDSTICKS]


def scores_of(results: pd.DataFrame, condition: str = PLAIN) -> Scores:
    """The scores of one condition, methods by mean AUC, best first."""
    rows = results[(results["condition"] == condition) & results["measure"].isin([AUC, ERROR])]
    answered = rows["measure"] == AUC
    readable = answered.groupby([rows["dataset"], rows["repeat"]]).transform("any")  # else the table is not there
    rows, failed = rows[readable], Counter(rows.loc[readable & ~answered, "method"])
    rows = rows.assign(value=rows["value"].where(answered, NO_ANSWER))
    values, seconds = (
        rows.pivot(index=["dataset", "repeat"], columns="method", values=name) for name in ("value", "seconds")
    )
    whole = values.notna().all(axis=1)
    auc = values[whole]
    order = auc.groupby(level="dataset").mean().mean().sort_values(ascending=False, kind="stable").index
    return Scores(auc[order], seconds.loc[whole, order], failed, int((~whole).sum()))


def best_one_liner(scores: Scores) -> str | None:
    """The one line of scikit-learn with the best mean; one for all tables, as a user would settle on one."""
    return next((name for name in scores.methods if name in ONE_LINERS), None)


def pages(results: pd.DataFrame, groups: Mapping[str, str], notes: Sequence[str] = ()) -> dict[str, str]:
    """Markdown and the diagram by file name."""
    scores = scores_of(results)
    if scores.auc.empty:
        return {PAGE: "\n\n".join(["No table and split has an answer of every method yet.", *notes]) + "\n"}
    ranks = mean_ranks(scores.by_table[scores.selectors].to_numpy(), scores.selectors)
    parts = [
        _head(scores, ranks),
        _methods_table(scores, ranks, groups),
        _legend(scores),
        *_hardening_table(results),
        *(f"{note[0].upper()}{note[1:]}." for note in notes),
        sentences(results, {}, {}).strip(),
    ]
    text = "\n\n".join(part.strip() for part in parts if part) + "\n"
    picture = len(ranks.ranks) > 2 and ranks.tables > 1
    return {PAGE: text, PICTURE: diagram(ranks)} if picture else {PAGE: text}


def _head(scores: Scores, ranks: MeanRanks) -> str:
    tables, pairs = len(scores.by_table), len(scores.auc)
    waiting = f" {scores.waiting:,} pairs lack some method and are left out." if scores.waiting else ""
    test = "" if math.isnan(ranks.p) else f" Friedman's test over tables: p = {ranks.p:.2g}."
    return f"{tables} tables, {pairs:,} pairs of table and split, {len(scores.auc.columns)} methods.{waiting}{test}"


def _methods_table(scores: Scores, ranks: MeanRanks, groups: Mapping[str, str]) -> str:
    means, best = scores.by_table, best_one_liner(scores)
    present = [group for group in GROUPS if any(groups.get(table) == group for table in means.index)]
    head = ["method", "AUC", "rank", f"− {best or 'one-liner'}", "− all", "far below all", *present, "failed", "CPU s"]
    rows = [
        [
            f"*{name}*" if name in YARDSTICKS else name,
            f"{means[name].mean():.4f}",
            f"{ranks.ranks[name]:.2f}" if name in ranks.ranks else "",
            _difference(means, name, best),
            _difference(means, name, "all"),
            _far_below(scores, name),
            *(f"{means.loc[_in(means, groups, group), name].mean():.4f}" for group in present),
            str(scores.failed.get(name, "")),
            f"{scores.seconds[name].mean():.2f}",
        ]
        for name in scores.methods
    ]
    return markdown_table(head, rows)


def _in(means: pd.DataFrame, groups: Mapping[str, str], group: str) -> list[str]:
    return [table for table in means.index if groups.get(table) == group]


def _difference(means: pd.DataFrame, name: str, other: str | None) -> str:
    """Mean and standard error over tables."""
    if other not in means or name == other:
        return ""
    apart = means[name] - means[other]
    error = apart.std() / math.sqrt(len(apart)) if len(apart) > 1 else math.nan
    return f"{apart.mean():+.4f}" + ("" if math.isnan(error) else f" ± {error:.4f}")


def _far_below(scores: Scores, name: str) -> str:
    if "all" not in scores.auc or name == "all":
        return ""
    return f"{int((scores.auc[name] < scores.auc['all'] - FAR_BELOW).sum())} of {len(scores.auc)}"


def _legend(scores: Scores) -> str:
    best = best_one_liner(scores)
    compared = f"`{best}` is the best of scikit-learn's one-liners by its mean; " if best else ""
    return (
        f"Rows by mean AUC. {compared}differences are means over tables ± their standard errors. *far below all*: "
        f"pairs in which the AUC is more than {FAR_BELOW} below that of all columns. *choices*, *reported*: means over "
        "the tables that may guide choices in the code (every second name, beginning with the first) and over the "
        "others; *seen before*: sets of other studies. *all*, *random* and *truth* are yardsticks without a rank. CPU "
        "seconds are the selection's alone, means over pairs."
    )


def _hardening_table(results: pd.DataFrame) -> list[str]:
    """AUC of each method on each kind of hard table, and what it lost against the same pairs when plain."""
    plain = scores_of(results)
    hard = {name: scores_of(results, name) for name in HARDENINGS}
    hard = {name: scores for name, scores in hard.items() if len(scores.auc.index.intersection(plain.auc.index))}
    if not hard:
        return []
    head = ["method", *(f"{name} ({len(_shared(scores, plain))})" for name, scores in hard.items())]
    rows = [[method, *(_change(scores, plain, method) for scores in hard.values())] for method in plain.methods]
    title = "Tables made hard: mean AUC and the change against the same pairs when plain; pairs in brackets."
    return [title, markdown_table(head, rows)]


def _shared(one: Scores, other: Scores) -> pd.Index:
    return one.auc.index.intersection(other.auc.index)


def _change(hard: Scores, plain: Scores, method: str) -> str:
    if method not in hard.auc:
        return ""
    pairs = _shared(hard, plain)
    now, before = hard.auc.loc[pairs, method], plain.auc.loc[pairs, method]
    return f"{now.mean():.3f} ({np.mean(now - before):+.3f})"
