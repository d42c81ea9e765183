"""Figure 5 of Sechidis & Brown 2017: rankings by mutual information with a surrogate against the population's.

100 features whose I(X;Y) is 0.0351, 0.0352, ..., 0.0450 nats, of 2, 5, 10 or 20 levels each (Table 1). Only counts are
drawn: features are independent given the class, so a feature's values among labelled rows are a hypergeometric draw
from its values among all rows. The levels of a repetition are the same for every N, as are its p(x|y). ``limit`` is
what a surrogate's ranking tends to as N grows: 1 only where I(X;surrogate) orders features as I(X;Y) does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from spark_pufs.studies.drawing import png, subplots
from spark_pufs.studies.published import Figure, figures, markdown_table
from spark_pufs.studies.sechidis_brown.planted_effects import (
    TESTS,
    Counts,
    draw_given,
    estimated,
    labelled_share,
    with_surrogates,
)
from spark_pufs.studies.study import Row, Unit, chooses, seed_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["EFFECTS", "SCENARIOS", "SurrogateRanking", "label_some", "spearman"]

PRIOR, LABELLED = 0.20, 0.25
EFFECTS = np.linspace(0.0351, 0.0450, 100)
LEVELS = (2, 5, 10, 20)
SCENARIOS = {"MCAR": PRIOR, "MAR-C": 0.50}  # p(y=1|s=1)
ROWS = (2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SurrogateRanking:
    """The paper: 10 repetitions, 30 draws of the labels in each; it names only the ends of the range of N."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    name: ClassVar[str] = "surrogate_ranking"

    seed: int = 0
    draws: int = 30
    repeats: int = chooses(10)
    rows: tuple[int, ...] = chooses(ROWS)

    def units(self) -> list[Unit]:
        return [{"rows": rows, "repeat": repeat} for repeat in range(self.repeats) for rows in self.rows]

    def run(self, unit: Unit) -> list[Row]:
        repeat, rows = unit["repeat"], unit["rows"]
        shape = np.random.default_rng(seed_of(self.seed, "features", repeat))
        given = draw_given(EFFECTS, shape.choice(LEVELS, len(EFFECTS)), PRIOR, shape)
        rng = np.random.default_rng(seed_of(self.seed, "rows", repeat, rows))
        positives = int(rng.binomial(rows, PRIOR))
        counts = np.stack([rng.multinomial(n, given[:, y]) for y, n in enumerate((rows - positives, positives))])
        common = {"repeat": repeat, "at": rows}
        weights = np.array([1 - PRIOR, PRIOR])[:, None, None] * np.moveaxis(given, 1, 0)
        return [
            common | {"condition": scenario, "method": test, "measure": measure, "value": value}
            for scenario, positive in SCENARIOS.items()
            for measure, found in self._agreements(counts, weights, labelled_share(PRIOR, LABELLED, positive), rng)
            for test, value in found.items()
        ]

    def _agreements(
        self, counts: Counts, weights: Floats, share: Floats, rng: np.random.Generator
    ) -> Iterator[tuple[str, dict[str, float]]]:
        """The mean over draws of the labels, and what it tends to, by test."""
        draws = [with_surrogates(counts, label_some(counts, share, rng)) for _ in range(self.draws)]
        found = {test: [spearman(estimated(tables[test]), EFFECTS) for tables in draws] for test in TESTS}
        yield "spearman", {test: float(np.mean(values)) for test, values in found.items()}
        limits = with_surrogates(weights, weights * share[:, None, None])
        yield "limit", {test: spearman(estimated(table), EFFECTS) for test, table in limits.items()}

    def tables(self, results: pd.DataFrame) -> dict[str, str]:
        if not (results["measure"] == "spearman").any():
            return {}
        ours = figures(
            results.assign(at=results["at"].map("{:,.0f}".format)), ["condition", "at", "method"], "spearman"
        )
        sizes = [f"{rows:,.0f}" for rows in sorted(results["at"].dropna().unique())]
        ours |= {(case, "limit", test): limit for (case, test), limit in _limits(results).items()}
        parts = [
            f"Fig. 5, {scenario}: Spearman's rho with the population ranking, mean ± sd over "
            f"{results['repeat'].nunique()} repetitions of {self.draws} draws of the labels.\n\n"
            + markdown_table(["N", *TESTS], [_line(ours, scenario, size) for size in (*sizes, "limit")])
            for scenario in SCENARIOS
        ]
        return {"sechidis_fig_5.md": "\n".join(parts)}

    def pictures(self, results: pd.DataFrame) -> dict[str, bytes]:
        if not (results["measure"] == "spearman").any():
            return {}
        figure, axes = subplots(len(SCENARIOS), 2)
        for axis, scenario in zip(axes, SCENARIOS, strict=True):
            _draw(axis, results[results["condition"] == scenario], scenario)
        axes[0].legend()
        return {"sechidis_fig_5.png": png(figure)}


def label_some(counts: Counts, share: Floats, rng: np.random.Generator) -> Counts:
    """Values (2, n, levels) among labelled rows: one number of them per class, drawn with p(s=1|y) = ``share`` (2,)."""
    seen = np.zeros_like(counts)
    for y, table in enumerate(counts):
        left = np.full(len(table), rng.binomial(int(table[0].sum()), share[y]))
        others = table.sum(axis=1)
        for level in range(table.shape[1]):
            others = others - table[:, level]
            seen[y, :, level] = rng.hypergeometric(table[:, level], others, left)
            left = left - seen[y, :, level]
    return seen


def spearman(first: Floats, second: Floats) -> float:
    """Spearman's correlation of ranks.

    >>> spearman(np.array([1.0, 2.0, 9.0]), np.array([3.0, 5.0, 7.0]))
    1.0
    """
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


def _limits(results: pd.DataFrame) -> dict[tuple[str, ...], Figure]:
    """One value per repetition, whatever N it was found with."""
    return figures(
        results.drop_duplicates(["condition", "method", "repeat", "measure"]), ["condition", "method"], "limit"
    )


def _line(ours: Mapping[tuple[str, ...], Figure], scenario: str, size: str) -> list[str]:
    found = [ours.get((scenario, size, test)) for test in TESTS]
    return [size, *("–" if figure is None else figure.text(3) for figure in found)]


def _draw(axis: Axes, rows: pd.DataFrame, scenario: str) -> None:
    for test in TESTS:
        line = rows[(rows["method"] == test) & (rows["measure"] == "spearman")].groupby("at")["value"].mean()
        axis.plot(line.index, line, label=test, marker="o", markersize=3)
    axis.set(title=f"Fig. 5, {scenario}", xlabel="N", ylabel="Spearman's rho", xscale="log", ylim=(0, 1))
