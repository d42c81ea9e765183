"""The answer: which features, in which order, how sure, and everything needed to get it again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from spark_pufs.core.evidence.drift import ColumnCounts
from spark_pufs.errors import ConfigError, DataError, Fault, PufsError, did_you_mean
from spark_pufs.findings import Findings
from spark_pufs.findings.run_facts import RunFacts
from spark_pufs.masking.texts import gist, masked_texts, visible
from spark_pufs.request import Request
from spark_pufs.types import Json
from spark_pufs.values import Strange, path_text, plain, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pyspark.sql import DataFrame

    Table = TypeVar("Table", pd.DataFrame, DataFrame)

__all__ = ["Feature", "Selection", "absent"]

Record = TypeVar("Record")

TOLD = 5  # warnings that a printed selection shows
# The columns of ``Selection.table`` and their types.
_COLUMNS = {
    "name": "object",
    "rank": "Int64",
    "relevance": "Float64",
    "relevance_error": "Float64",
    "score": "Float64",
    "standard_error": "Float64",
    "p_value": "Float64",
    "q_value": "Float64",
    "selected": "bool",
    "cost": "float64",
    "notes": "object",
}


@dataclass(frozen=True)
class Feature:
    """One line of the ranking."""

    name: str
    rank: int
    score: float
    standard_error: float
    selected: bool
    cost: float
    notes: str
    relevance: float | None = None  # None: made before there was one
    relevance_error: float | None = None
    p_value: float | None = None
    q_value: float | None = None


@dataclass(frozen=True)
class Selection:
    """What a method chose, with its evidence.

    - ``method``, ``features``: the method's name; every feature as a line of the ranking, best first.
    - ``surrogate``: the class that the method worked with, and why.
    - ``facts``: rows, labelled and unlabelled rows, features read.
    - ``dropped``: columns left out, each with the reason. ``warnings``: what to look at before relying on the answer.
    - ``findings``: what was found besides: clusters, sizes, stability, distributions; ``details`` as plain values.
    - ``request``, ``fingerprint``, ``versions``: what was asked, of which table, with which packages.
    - ``run``: engine, passes and seconds, which differ from run to run; all else is the same for the same data, request
      and version.
    - ``columns``: rows per bin and label of every feature, with the cut points, by which ``diff`` tells drift.

    >>> from spark_pufs import select
    >>> table = pd.DataFrame({"a": [1, 2] * 50, "b": [3, 3, 4, 4] * 25, "id": range(100), "label": [1, 0, 0, 0] * 25})
    >>> selection = select(table, label="label", keep=["id"], k=1)
    >>> print(selection.summary)
    distil: 1 of 2 features: a
    >>> list(selection.apply(table))
    ['a', 'id', 'label']
    """

    method: str
    features: tuple[Feature, ...]
    surrogate: Mapping[str, Json]
    facts: Mapping[str, int]
    dropped: Mapping[str, str]
    warnings: tuple[str, ...]
    findings: Findings
    request: Request
    fingerprint: str
    versions: Mapping[str, str]
    run: RunFacts
    columns: tuple[ColumnCounts, ...] = ()  # none: made before they were kept

    @property
    def details(self) -> dict[str, Any]:
        """The findings as plain values, as they are in selection.json."""
        return dict(self.findings.as_dict())

    @property
    def names(self) -> list[str]:
        """The chosen features, best first."""
        return [feature.name for feature in self.features if feature.selected]

    @property
    def scores(self) -> list[float]:
        """The method's own final score of each chosen feature."""
        return [feature.score for feature in self.features if feature.selected]

    @property
    def relevance(self) -> list[float | None]:
        """The relevance of each chosen feature: 0 is chance, 1 the best feature, comparable between methods."""
        return [feature.relevance for feature in self.features if feature.selected]

    @property
    def cost(self) -> float:
        """What the chosen features cost together."""
        return sum(feature.cost for feature in self.features if feature.selected)

    def table(self) -> pd.DataFrame:
        """Every feature, best first; columns left out come last.

        - ``name``, ``rank``, ``selected``, ``cost``, ``notes``.
        - ``relevance``, ``relevance_error``: 0 is chance, 1 the best feature, whatever the method; it never rises down
          the ranking, but where the user's limits decide the place. The error is a standard error.
        - ``score``, ``standard_error``: the method's own.
        - ``p_value``, ``q_value``: of the test that the column by itself tells nothing of who is labelled, whatever the
          method; choosing all columns up to a q-value keeps the share of false ones below it on average. A copy has
          those of the column that stands for it.
        """
        rows = [asdict(feature) for feature in self.features]
        rows += [{"name": name, "selected": False, "notes": f"left out: {why}"} for name, why in self.dropped.items()]
        return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)

    def apply(self, table: Table) -> Table:
        """The same table with the chosen features, all of which it must have, and the columns that are not features."""
        if not hasattr(table, "columns") or not (isinstance(table, pd.DataFrame) or hasattr(table, "select")):
            found = f"expected a DataFrame of pandas, Polars or Spark, or a table of Arrow, got {type(table).__name__}"
            raise DataError(Fault("Table", found, "Convert it first."))
        on_spark = hasattr(table, "sparkSession")
        every = list(table.columns if on_spark else getattr(table, "column_names", table.columns))
        faults = absent(self.names, map(str, every))
        if faults:
            raise DataError(faults)
        gone = {f.name for f in self.features if not f.selected} | set(self.dropped)
        kept = [place for place, name in enumerate(every) if str(name) not in gone]
        if isinstance(table, pd.DataFrame):
            return table.iloc[:, kept]  # names of pandas may be such as no name finds
        names = [every[place] for place in kept]
        return table.select(["`" + name.replace("`", "``") + "`" for name in names] if on_spark else names)

    def likely_positives(self, table: Table, keep: Iterable[str] = (), recall: float | None = None) -> Any:
        """Rows of a table that are likely positive, as ``spark_pufs.likely_positives`` lists them."""
        from importlib import import_module

        return import_module("spark_pufs.api").likely_positives(self, table, keep, recall)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, the answer first."""
        columns = [column.as_dict() for column in self.columns]
        own = asdict(replace(self, columns=(), findings=Findings()))
        del own["findings"]
        answer = {"names": self.names, "scores": self.scores, "cost": self.cost}
        return {**answer, **own, "run": self.run.as_dict(), "details": self.details, "columns": columns}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Selection:
        """What ``as_dict`` gave, also after a journey as JSON."""
        try:
            own = {field.name: values[field.name] for field in fields(cls) if field.name in values}
            features = tuple(_typed(Feature(**feature)) for feature in values["features"])
            columns = tuple(ColumnCounts.from_dict(column) for column in values.get("columns", ()))
            own |= {"features": features, "warnings": tuple(values["warnings"]), "columns": columns}
            own |= {"request": Request.from_dict(values["request"]), "run": RunFacts.from_dict(values["run"])}
            return _typed(cls(**own, findings=Findings.from_dict(values["details"])))
        except (KeyError, TypeError, ValueError, AttributeError, PufsError) as error:
            fix = "It was made by another version, or changed: select again."
            raise ConfigError(Fault("Selection", f"cannot be understood: {gist(error)}", fix)) from error

    def to_json(self) -> str:
        """``as_dict`` as text, as it is in selection.json: addresses in it are shown without secrets."""
        return json.dumps(masked_texts(self.as_dict()), indent=2, ensure_ascii=False)

    def write(self, path: str | Path, overwrite: bool = False) -> None:
        """selection.json, ranking.parquet, report.html and report.md into the folder ``path``, the manifest last."""
        from spark_pufs.rundir.files import write_selection

        if not isinstance(plain(overwrite), bool):
            found = f"must be true or false, got {shown(overwrite)}"
            raise ConfigError(Fault("Option 'overwrite'", found, "For example True."))
        write_selection(self, path, overwrite=bool(overwrite))

    def write_report(self, path: str | Path) -> None:
        """The report alone: HTML, or Markdown where the name ends in .md; over nothing or an earlier page of ours."""
        from spark_pufs.report import to_html, to_markdown
        from spark_pufs.rundir.pages import write_page

        place = path_text(path)
        if isinstance(place, Strange):
            raise ConfigError(Fault(f"Report {place!r}", "is not a path", "Name a file, for example report.html."))
        write_page(place, to_markdown(self) if place.endswith(".md") else to_html(self), "Report")

    def plot(self, part: str = "ranking") -> Figure:
        """One part of the report as a figure of matplotlib, which the extra ``plots`` installs.

        - ``part``: "ranking", "distributions", "redundancy", "sizes" (without ``k``), "stability" (with ``stability``)
          or "search" (of fscpu).

        >>> from spark_pufs import select
        >>> table = pd.DataFrame({"a": [1, 2] * 50, "b": [3, 3, 4, 4] * 25, "label": [1, 0, 0, 0] * 25})
        >>> figure = select(table, label="label", method="semi-mim", k=1).plot()
        >>> figure.axes[0].get_title()
        'semi-mim: 1 of 2 features'
        """
        from spark_pufs.report.figures import figure_of

        return figure_of(self, part)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from spark_pufs.report.notebook import selection_fragment

        return selection_fragment(self)

    def log_to_mlflow(self, experiment: str | None = None, tracking_uri: str | None = None) -> str:
        """One run of MLflow with parameters, metrics and files; its id. Logged again, it is the same run."""
        from spark_pufs.rundir.mlflow_logging import log_selection

        return log_selection(self, experiment, tracking_uri)

    @property
    def summary(self) -> str:
        """The answer in one line."""
        chosen = ", ".join(map(visible, self.names[:10])) + (", ..." if len(self.names) > 10 else "")
        return f"{self.method}: {len(self.names)} of {len(self.features)} features: {chosen}"

    @property
    def verdict(self) -> str:
        """Better than chance or not, and the choice beside all features; empty where nothing was held out."""
        return self.findings.verdict or ""

    def __str__(self) -> str:
        """The verdict where there is one, the answer in one line, then what to look at before relying on it."""
        told = [f"warning: {warning}" for warning in masked_texts(self.warnings[:TOLD])]
        more = [f"and {len(self.warnings) - TOLD:,} more"] if len(self.warnings) > TOLD else []
        return "\n".join(map(visible, [*filter(None, [self.verdict]), self.summary, *told, *more]))

    __repr__ = __str__


# What a field of a feature or a selection must be after a journey as JSON; fields of records check themselves.
_KINDS: dict[str, tuple[type[Any], ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "float | None": (int, float, type(None)),
    "bool": (bool,),
    "Mapping[str, Json]": (Mapping,),
    "Mapping[str, str]": (Mapping,),
    "tuple[str, ...]": (tuple,),
}


def _typed(record: Record) -> Record:
    """The record, if its fields hold what they are declared to hold."""
    for one in fields(record):  # type: ignore[arg-type]
        value, kinds = getattr(record, one.name), _KINDS.get(str(one.type))
        if kinds is not None and (not isinstance(value, kinds) or (type(value) is bool and bool not in kinds)):
            raise ValueError(f"'{one.name}' is {shown(value)}")
        if isinstance(value, tuple) and one.name == "warnings" and not all(isinstance(text, str) for text in value):
            raise ValueError("'warnings' are not texts")
    return record


def absent(wanted: Iterable[str], names: Iterable[str]) -> list[Fault]:
    """A fault for each column that is wanted and is not among the names of a table."""
    there = set(names)
    return [
        Fault(f"Column '{name}'", "not found in the table", did_you_mean(name, there))
        for name in wanted
        if name not in there
    ]
