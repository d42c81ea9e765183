"""Table 1 and Fig. 1 of Uchikoshi & Akimoto (FSCPU): which of 50 features, 25 of them relevant, each method finds.

The labelled share changes nothing but the labels: conditions that differ in it alone share their rows, as the
unsupervised rows of the published table show that the paper's did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from spark_pufs.core.synthetic.artificial import CONDITIONS, Artificial, Condition, make_artificial
from spark_pufs.errors import ConfigError, Fault
from spark_pufs.selection import Selection
from spark_pufs.studies.published import Figure, beside, figures, markdown_table, read_published, row_order, sentences
from spark_pufs.studies.study import Row, Unit, chooses, seed_of
from spark_pufs.studies.study_methods import all_methods, longest_first, select_rows
from spark_pufs.studies.uchikoshi_akimoto.convergence import convergence_picture, convergence_rows, convergence_table

__all__ = ["PAPER", "ArtificialConditions"]

SELECT = 25
REPEATS = 5  # of the paper
# Fig. 1 names its panels in the picture alone; the text tells these: many labels, few labels, no clusters, one negative
# cluster.
FIGURE_1 = (1, 5, 10, 7)

# Table 1, mean and standard deviation of FSR over five repeats, conditions 1 to 10.
_TABLE_1 = """
k-best | .82 .10 .78 .05 .87 .04 .86 .08 .67 .08 .66 .06 .79 .07 .76 .06 .42 .05 .35 .03
lasso | .86 .05 .86 .05 .83 .03 .84 .05 .78 .07 .78 .02 .75 .05 .76 .06 .66 .07 .62 .05
mrmr criterion=miq | .10 .02 .12 .03 .17 .04 .19 .08 .10 .02 .10 .02 .10 .04 .10 .05 .26 .09 .11 .04
dt-rfe | .74 .07 .83 .06 .78 .07 .80 .04 .54 .05 .59 .07 .62 .07 .63 .03 1.0 .00 .89 .03
es-mcrfs | .43 .16 .49 .08 .56 .09 .44 .06 .50 .05 .50 .10 .48 .03 .54 .05 .41 .17 .52 .10
mrmr-ufs | .59 .02 .59 .03 .61 .02 .60 .00 .59 .02 .59 .03 .61 .02 .60 .00 .60 .00 .60 .00
sselect | .34 .06 .36 .04 .42 .07 .45 .07 .34 .06 .35 .05 .42 .07 .45 .07 .35 .10 .35 .10
jsfs | .43 .07 .51 .03 .42 .05 .49 .05 .46 .10 .44 .05 .42 .05 .49 .03 .42 .07 .46 .07
semi-jmi | .97 .03 .98 .02 .89 .05 .94 .05 .70 .12 .69 .08 .71 .10 .79 .03 .93 .02 .57 .08
fscpu, fscpu search=paper | .91 .07 .90 .08 .75 .09 .82 .06 .92 .06 .89 .07 .78 .09 .78 .07 .56 .09 .51 .10
fscpu-mi, fscpu-mi search=paper | .90 .06 .79 .09 .74 .06 .82 .06 .87 .06 .86 .06 .76 .14 .81 .03 .59 .10 .54 .08
"""


PAPER: Mapping[tuple[str, ...], Figure] = read_published(
    _TABLE_1, [str(number) for number in range(1, len(CONDITIONS) + 1)], REPEATS
)


@dataclass(frozen=True)
class ArtificialConditions:
    """Feature selection recall: relevant features among the 25 selected, divided by 25."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    name: ClassVar[str] = "artificial_conditions"

    conditions: tuple[int, ...] = chooses(tuple(range(1, len(CONDITIONS) + 1)))
    methods: tuple[str, ...] = chooses(())  # all of them
    repeats: int = chooses(REPEATS)
    seed: int = 0

    def units(self) -> list[Unit]:
        absent = [number for number in self.conditions if not 1 <= number <= len(CONDITIONS)]
        if absent:
            found = f"{absent} are not among the ten conditions"
            raise ConfigError(Fault("Setting 'artificial_conditions.conditions'", found, "Give numbers from 1 to 10."))
        return [
            {"condition": condition, "method": method, "repeat": repeat}
            for repeat in range(self.repeats)
            for method in longest_first(self.methods or all_methods())
            for condition in self.conditions
        ]

    def run(self, unit: Unit) -> list[Row]:
        number, method, repeat = int(unit["condition"]), str(unit["method"]), int(unit["repeat"])
        data = self.data_of(CONDITIONS[number - 1], repeat)
        seed = seed_of(self.seed, self.name, method, number, repeat)
        X = pd.DataFrame(data.X, columns=data.names)
        found = select_rows(X, data.s == 1, data.y == 1, method, SELECT, seed)
        named = {"dataset": "artificial", "condition": str(number), "method": method, "repeat": repeat}
        rows = [named | row for row in _measures(found, data)]
        if repeat == 0 and number in FIGURE_1:
            rows += [named | row for row in convergence_rows(found)]
        return rows

    def data_of(self, condition: Condition, repeat: int) -> Artificial:
        """Rows by the clusters alone; ``make_artificial`` draws the labels last."""
        clusters = (condition.negative_clusters, condition.positive_clusters)
        return make_artificial(condition, seed_of(self.seed, "rows", *clusters, repeat))

    def tables(self, results: pd.DataFrame) -> dict[str, str]:
        ours = figures(results, ["condition", "method"], "fsr")
        numbers = sorted({key[0] for key in ours}, key=int)
        rows = [
            [method, *(beside(ours.get((number, method)), PAPER.get((number, method))) for number in numbers)]
            for method in row_order(ours, PAPER)
        ]
        rows.insert(0, ["*labelled, negative / positive clusters*", *map(_described, numbers)])
        note = f"{_NOTE}\n\n{sentences(results, ours, PAPER)}"
        table = f"{_TITLE}\n\n{markdown_table(['method', *numbers], rows)}\n{note}"
        return {"table_1_fsr.md": table} | convergence_table(results)

    def pictures(self, results: pd.DataFrame) -> dict[str, bytes]:
        return convergence_picture(results, {str(number): _described(str(number)) for number in FIGURE_1})


_TITLE = "Table 1 of Uchikoshi & Akimoto: feature selection recall on artificial data, mean ± standard deviation"
_NOTE = (
    "SE: difference from the published mean in standard errors of that difference. `fscpu` searches by contrasts, "
    "`search=paper` as the paper does, both with diagonal covariances. Chance gives 0.50."
)


def _measures(found: Selection, data: Artificial) -> list[Row]:
    relevant = {name for name, good in zip(data.names, data.relevant, strict=True) if good}
    search, choice = found.findings.search, found.findings.choice
    rows: list[Row] = [
        {
            "measure": "fsr",
            "value": len(relevant & set(found.names)) / SELECT,
            "message": choice.method if choice else "",
        },
        {"measure": "features", "value": len(found.names)},
    ]
    open_ = search.unconverged if search else None
    return rows if open_ is None else [*rows, {"measure": "unconverged", "value": open_}]


def _described(number: str) -> str:
    condition = CONDITIONS[int(number) - 1]
    clusters = f"{condition.negative_clusters} / {condition.positive_clusters}"
    return f"{condition.label_rate:.0%}, {clusters if condition.negative_clusters else 'no clusters'}"
