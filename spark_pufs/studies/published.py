"""Published numbers beside ours: the mean and spread of each, and how many standard errors lie between them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from spark_pufs.studies.study import ERROR

__all__ = ["Figure", "beside", "figures", "markdown_table", "read_published", "row_order", "sentences"]


@dataclass(frozen=True)
class Figure:
    """A mean with the standard deviation over ``repeats``; NaN where it is not told."""

    mean: float
    sd: float = math.nan
    repeats: int = 1

    @property
    def variance(self) -> float:
        """Of the mean; a spread that is not told counts as none."""
        return 0.0 if math.isnan(self.sd) else self.sd**2 / self.repeats

    def text(self, digits: int) -> str:
        """As papers print it.

        >>> Figure(0.8449, 0.0191, 3).text(3), Figure(0.5).text(2)
        ('0.845 ± 0.019', '0.50')
        """
        spread = "" if math.isnan(self.sd) else f" ± {self.sd:.{digits}f}"
        return f"{self.mean:.{digits}f}{spread}"


def read_published(text: str, columns: Sequence[str], repeats: int) -> dict[tuple[str, ...], Figure]:
    """Lines of ``method, method | mean sd mean sd ...`` by (column, method); several methods share a published row.

    >>> read_published("mim, jmi | .5 .1", ["a"], 3)["a", "jmi"]
    Figure(mean=0.5, sd=0.1, repeats=3)
    """
    found: dict[tuple[str, ...], Figure] = {}
    for line in text.strip().splitlines():
        methods, numbers = line.split("|")
        pairs = np.array(numbers.split(), float).reshape(-1, 2).tolist()
        for column, (mean, sd) in zip(columns, pairs, strict=True):
            found |= {(column, method.strip()): Figure(mean, sd, repeats) for method in methods.split(",")}
    return found


def row_order(
    ours: Mapping[tuple[str, ...], Figure], paper: Mapping[tuple[str, ...], Figure], last: Sequence[str] = ()
) -> list[str]:
    """Methods of keys (column, method): the paper's in its order, then the others by mean, then ``last``."""
    methods = {method for _, method in ours}
    published = dict.fromkeys(method for _, method in paper)
    mean = {method: np.mean([one.mean for key, one in ours.items() if key[1] == method]) for method in methods}
    others = sorted(methods - set(published) - set(last), key=lambda method: (-mean[method], method))
    return [*(m for m in published if m in methods), *others, *(m for m in last if m in methods)]


def figures(results: pd.DataFrame, by: Sequence[str], measure: str) -> dict[tuple[str, ...], Figure]:
    """Mean and standard deviation of a measure over repeats, for each value of the columns ``by``."""
    groups = results[results["measure"] == measure].groupby(list(by), sort=False)["value"]
    table = groups.agg(["mean", "std", "size"])
    keys = [key if isinstance(key, tuple) else (key,) for key in table.index]
    return {key: Figure(*row) for key, row in zip(keys, table.itertuples(index=False, name=None), strict=True)}


def beside(ours: Figure | None, paper: Figure | None, digits: int = 2) -> str:
    """One cell: ours, the paper's, and the difference in standard errors, for which ours needs two repeats.

    >>> beside(Figure(0.90, 0.06, 4), Figure(0.85, 0.08, 4))
    '0.90 ± 0.06 (paper 0.85 ± 0.08, +1.0 SE)'
    >>> beside(Figure(0.90), None), beside(None, Figure(0.8))
    ('0.90', '– (paper 0.80)')
    """
    own = "–" if ours is None else ours.text(digits)
    if paper is None:
        return own
    far = math.nan if ours is None else _standard_errors(ours, paper)
    return f"{own} (paper {paper.text(digits)}{'' if math.isnan(far) else f', {far:+.1f} SE'})"


def _standard_errors(ours: Figure, paper: Figure) -> float:
    """From the paper's mean to ours; NaN where our own spread is not known or there is none at all."""
    error = math.sqrt(paper.variance + ours.variance)
    return math.nan if math.isnan(ours.sd) or not error else (ours.mean - paper.mean) / error


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as Markdown.

    >>> print(markdown_table(["a", "b"], [["1", "2"]]), end="")
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]]) + "\n"


def sentences(
    results: pd.DataFrame, ours: Mapping[tuple[str, ...], Figure], paper: Mapping[tuple[str, ...], Figure]
) -> str:
    """What stands under a table: how far the two agree, and which units failed."""
    far = np.array([_standard_errors(ours[key], paper[key]) for key in paper if key in ours])
    total, within = int(np.isfinite(far).sum()), int((np.abs(far) <= 2).sum())
    said = [f"{within} of {total} cells lie within two standard errors of the paper's."] if total else []
    failed = results[results["measure"] == ERROR]
    for method, message in dict.fromkeys(zip(failed["method"], failed["message"], strict=True)):
        count = int(((failed["method"] == method) & (failed["message"] == message)).sum())
        said.append(f"{method} failed in {count} units: {message}")
    return "\n\n".join(said) + "\n" if said else ""
