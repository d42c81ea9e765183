"""What Python users call: select, compare, check and list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from spark_pufs.core.clusters.cluster_check import ClusterCheck
from spark_pufs.core.evidence.labelling_check import LabellingCheck
from spark_pufs.core.evidence.prior import PriorEstimate
from spark_pufs.core.schema import repeated
from spark_pufs.engines.arrow_frames import frame_of, speaks_arrow
from spark_pufs.engines.base import Engine
from spark_pufs.engines.weights import repeated_frame
from spark_pufs.errors import ConfigError, DataError, Fault, did_you_mean, warn
from spark_pufs.history.difference import Difference, difference
from spark_pufs.history.stored import read_selection
from spark_pufs.memory.late_labels import late_labels_of
from spark_pufs.memory.partitions import PartitionedTable
from spark_pufs.memory.settings import MemorySettings, Refit
from spark_pufs.request import DEFAULT_METHOD, Binning, Copies, Missing, Prior, Request
from spark_pufs.run.execution import (
    check_table,
    compare_with,
    identifiers,
    label_faults,
    labelling_of_table,
    prior_of_table,
    recall_list_of,
    select_with,
)
from spark_pufs.run.remembered import select_remembered
from spark_pufs.selection import Selection, absent
from spark_pufs.selectors.evidence.auto import CANDIDATES
from spark_pufs.selectors.evidence.comparison import Comparison, EvaluationProtocol, candidate
from spark_pufs.selectors.registry import every_method, no_clusters
from spark_pufs.types import LabelRule, column_name
from spark_pufs.values import Strange, path_text, plain, several, shown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "check_clusters",
    "check_labels",
    "compare",
    "diff",
    "engine_for",
    "estimate_prior",
    "likely_positives",
    "methods",
    "select",
]


# What compare takes of select's keywords besides those it names itself.
_NOT_COMMON = (
    "label",
    "method",
    "include",
    "propose_k",
    "estimate_prior",
    "stability",
    "check_labels",
    "labelled_by",
    "fdr",
    "expected_false",
    "distinct",
    "options",
)
_COMMON = tuple(field.name for field in fields(Request) if field.name not in _NOT_COMMON)


def select(
    table: pd.DataFrame | DataFrame,
    *,
    label: str,
    method: str = "distil",
    positive: Any = 1,
    negative: Any = (),
    unlabelled: Any = 0,
    features: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    keep: Iterable[str] = (),
    categorical: Iterable[str] = (),
    k: int | Literal["auto", "all"] | None = None,
    budget: float | None = None,
    costs: Mapping[str, float] | None = None,
    must: Iterable[str] = (),
    never: Iterable[str] = (),
    groups: Mapping[str, Iterable[str]] | Iterable[str] | None = None,
    weights: str | None = None,
    prior: Prior | Literal["estimate"] | None = None,
    seed: int = 0,
    bins: int = 5,
    binning: Binning = "auto",
    max_categories: int = 32,
    missing: Missing = "value",
    copies: Copies = "one",
    pair_memory_mb: int = 256,
    stability: int = 0,
    check_labels: bool = False,
    labelled_by: Iterable[str] = (),
    fdr: float | None = None,
    expected_false: float | None = None,
    distinct: bool = False,
    checkpoint: str | Path | None = None,
    memory: str | Path | None = None,
    partition: str | None = None,
    window: int | None = None,
    refit: Refit = "propose",
    until: Any = None,
    late_labels: pd.DataFrame | DataFrame | None = None,
    **options: Any,
) -> Selection:
    """Choose features of a table in which some rows are labelled positive and the others are not labelled.

    - ``table``: a DataFrame of pandas or Polars, or anything with Arrow's stream interface (computed here), or a Spark
      DataFrame (computed there).
    - ``label``: the column that says which rows are labelled.
    - ``method``: a name of ``methods()``, or "auto" to compare the main ones on held-out labels first.
    - ``positive``, ``negative``, ``unlabelled``: values of the label column, one or several; null is always unlabelled,
      and "*" means all others.
    - ``features``, ``exclude``: names or globs of the columns to choose from; all by default. What is the name of a
      column is no glob: ``b[1]`` is that column where there is one.
    - ``keep``: identifiers, names or globs: kept in the table, never features.
    - ``categorical``: numbers to read as names, such as ports or zip codes.
    - ``k``: how many features, "all", or "auto" for a number proposed from held-out evidence, as when nothing else says
      how many.
    - ``fdr``: instead of ``k``, all features that can be found while at most this share of them is false on average;
      ``expected_false``: while at most so many are. A false one tells nothing of who is labelled.
    - ``distinct``: with these, a feature that a stronger one explains is false too: it must tell something given the
      level of each stronger feature that is found.
    - ``budget``, ``costs``: what the chosen features may cost together; cost by name or glob, 1 if not named.
    - ``must``, ``never``: features to choose in any case, and those never to choose; names or globs.
    - ``groups``: columns that are chosen together or not at all, such as all sensors of a device, names or globs by the
      name of their group, as in ``{"device_a": ["a_*"]}``; a list of globs makes a group of each. A group stands where
      its best column does and counts as one in ``k``; it costs what ``costs`` says under its name, else what its
      columns cost together. ``must`` and ``never`` may name groups.
    - ``weights``: the column that says how often each row counts, a whole number from 0 on: a row of weight 3 is three
      equal rows.
    - ``prior``: the believed share of positives among all rows, a range (low, high), or "estimate", as
      ``estimate_prior`` finds it.
    - ``seed``: for methods that draw; the same seed gives the same answer.
    - ``bins``, ``binning``: how numbers are cut: so many intervals, "equal-frequency", which "auto" is and which no
      outlier moves, or "equal-width".
    - ``max_categories``: text values that keep a level of their own; where there are more, rarer ones and those seen
      once share one.
    - ``missing``: "value" makes null a level of its own, "error" refuses it.
    - ``copies``: of columns that are equal in every row, or nearly repeat each other, "one" is chosen from, the one in
      ``must``, else the cheapest, else the first, and the others come after all other features; "exact" does so with
      equal columns alone, "all" treats each as a feature of its own.
    - ``pair_memory_mb``: all pairs of features are counted in one pass while their table fits.
    - ``stability``: repeat the selection on so many halves of the rows and report how far it depends on the draw.
    - ``check_labels``: say in the report whether labels depend on columns among the positives, as the function of that
      name does.
    - ``labelled_by``: columns by which positives were labelled more readily, names or globs: every other feature is
      ranked given them, by ``semi-mim`` where no method is named.
    - ``checkpoint``: a folder where a search keeps its state, so that the same call goes on where it was stopped.
    - ``memory``, ``partition``, ``window``: a folder where counts of each partition are kept, the column that cuts the
      table into partitions, such as days, and how many of the last ones the answer is from, all by default. Only
      partitions that are new or have changed are read; ``table`` need not hold the others.
    - ``refit``: cut points are made with the memory; where values have left them a warning says so ("propose"), or they
      are made anew ("auto"); "now" makes them anew. That reads all partitions of the window.
    - ``until``: the last partition of the window where that is not the newest, for a day that is run again.
    - ``late_labels``: labels that came after their rows: a table of the label column and one that tells rows apart, and
      of ``partition`` where it is known. The memory keeps them and counts the partitions they belong to again.
    - ``options``: any other keyword goes to the method.

    What to look at before relying on the answer comes as a ``PufsWarning`` each, and in ``selection.warnings``.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [1, 2] * 50, "b": [3, 3, 4, 4] * 25, "label": [1, None] * 50})
    >>> select(table, label="label", method="semi-mim", k=1).names
    ['a']
    """
    request = Request.of(
        LabelRule(label, positive, negative, unlabelled),
        method=method,
        include=("*",) if features is None else features,
        exclude=exclude,
        keep=keep,
        categorical=categorical,
        k=k,
        budget=budget,
        costs=costs,
        must=must,
        never=never,
        groups=groups,
        weights=weights,
        prior=prior,
        seed=seed,
        bins=bins,
        binning=binning,
        max_categories=max_categories,
        missing=missing,
        copies=copies,
        pair_memory_mb=pair_memory_mb,
        stability=stability,
        check_labels=check_labels,
        labelled_by=labelled_by,
        fdr=fdr,
        expected_false=expected_false,
        distinct=distinct,
        options=options,
    )
    state = None if checkpoint is None else _folder(checkpoint)
    if memory is not None:
        settings = MemorySettings.of(memory, partition, window, refit, until)
        selection = _remembered(table, request, settings, late_labels, state)
    else:
        _check_no_memory(refit, partition=partition, window=window, until=until, late_labels=late_labels)
        selection = select_with(engine_for(table, request.weights), request, state)
    warn(selection.warnings)
    return selection


def _remembered(
    table: Any, request: Request, settings: MemorySettings, late_labels: Any, checkpoint: str | None
) -> Selection:
    if request.weights is not None:
        found = "are not kept with the counts of a memory"
        raise ConfigError(Fault("Option 'weights'", found, "Leave memory out, or repeat the rows of each partition."))
    column, partition = request.label.column, settings.partition
    late = None if late_labels is None else late_labels_of(engine_for(late_labels), column, partition)
    return select_remembered(partitions_of(table, partition), request, settings, late, checkpoint)


def compare(
    table: pd.DataFrame | DataFrame,
    *,
    label: str,
    methods: Iterable[str | Mapping[str, Any]] = CANDIDATES,
    folds: int = 5,
    repeats: int = 2,
    rows: int = 10_000,
    classifier: str = "auto",
    positive: Any = 1,
    negative: Any = (),
    unlabelled: Any = 0,
    features: Iterable[str] | None = None,
    **common: Any,
) -> Comparison:
    """Methods side by side on one table, judged on labels that were held out.

    Every method selects in each of ``folds`` x ``repeats`` training parts; a classifier fitted to its choice is scored
    on the part held out.

    - ``table``, ``label``, ``positive``, ``negative``, ``unlabelled``, ``features``: as in ``select``.
    - ``methods``: names, or mappings such as ``{"method": "fscpu", "clusters": 20}``.
    - ``folds``, ``repeats``: parts, and how often they are drawn anew.
    - ``rows``: at most so many rows take part, all labelled ones among them.
    - ``classifier``: "lightgbm", "hist-gradient-boosting", or "auto" for the first where it is installed.
    - ``common``: other keywords of ``select``; without ``k`` or ``budget`` half of the features are chosen.

    >>> import numpy as np, pandas as pd
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> table = pd.DataFrame(X, columns=list("abcd")).assign(label=X[:, 2] > 1)
    >>> found = compare(table, label="label", positive=True, unlabelled=False, methods=["mim"], k=1, repeats=1)
    >>> found.standings[0].auc > 0.9
    True
    """
    unknown = [name for name in common if name not in _COMMON]
    if unknown:
        faults = [
            Fault(f"Option '{name}'", "is not an option of compare", did_you_mean(name, _COMMON)) for name in unknown
        ]
        raise ConfigError(faults)
    rule = LabelRule(label, positive, negative, unlabelled)
    request = Request.of(rule, method="auto", include=("*",) if features is None else features, **common)
    candidates = [candidate(one) for one in several(methods, lambda one: one)]
    return compare_with(
        engine_for(table, request.weights), request, candidates, EvaluationProtocol(folds, repeats, rows, classifier)
    )


def check_clusters(
    table: pd.DataFrame | DataFrame,
    *,
    label: str,
    features: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    keep: Iterable[str] = (),
    positive: Any = 1,
    unlabelled: Any = 0,
    clusters: int = 10,
    seed: int = 0,
) -> ClusterCheck:
    """Does the cluster assumption hold on these columns? Verdict, effect size and p-value, from the labels alone.

    Check the columns that were selected, on labels that did not select them where you can: on a wide raw table noise
    columns hide the clusters, and a search finds some concentration by luck.

    - ``table``, ``label``, ``positive``, ``unlabelled``: as in ``select``; rows labelled otherwise are an error.
    - ``features``, ``exclude``, ``keep``, ``seed``: as in ``select``.
    - ``clusters``: components of the mixture.

    >>> import numpy as np, pandas as pd
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> X[:40] += 6
    >>> table = pd.DataFrame(X, columns=["a", "b"]).assign(label=np.arange(400) < 20)
    >>> check_clusters(table, label="label", positive=True, unlabelled=False).verdict
    'holds'
    """
    request = Request.of(
        LabelRule(label, positive, (), unlabelled),
        method="fscpu",
        include=("*",) if features is None else features,
        exclude=exclude,
        keep=keep,
        seed=seed,
        options={"clusters": clusters},
    )
    return check_table(engine_for(table), request)


def check_labels(
    table: pd.DataFrame | DataFrame,
    *,
    label: str,
    features: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    keep: Iterable[str] = (),
    categorical: Iterable[str] = (),
    positive: Any = 1,
    negative: Any = (),
    unlabelled: Any = 0,
    seed: int = 0,
) -> LabellingCheck:
    """Does who is labelled depend on the columns, among the positives? A p-value per column, or "cannot tell".

    Methods assume that it does not. Labelled rows are compared with unlabelled rows that the other columns show to be
    positive; where classes overlap there are none, and none are reported.

    - ``table``, ``label``, ``positive``, ``negative``, ``unlabelled``: as in ``select``.
    - ``features``, ``exclude``, ``keep``, ``categorical``, ``seed``: as in ``select``.

    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 4))
    >>> X[:800, :3] += 4
    >>> labelled = (np.arange(2000) < 800) & (rng.random(2000) < np.where(X[:, 3] > 0, 0.5, 0.1))
    >>> table = pd.DataFrame(X, columns=["a", "b", "c", "region"]).assign(label=labelled)
    >>> check_labels(table, label="label", positive=True, unlabelled=False).found
    ('region',)
    """
    rule = LabelRule(label, positive, negative, unlabelled)
    own = {"exclude": exclude, "keep": keep, "categorical": categorical, "seed": seed}
    request = Request.of(rule, method=DEFAULT_METHOD, include=("*",) if features is None else features, **own)
    return labelling_of_table(engine_for(table), request)


def estimate_prior(
    table: pd.DataFrame | DataFrame,
    *,
    label: str,
    features: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    keep: Iterable[str] = (),
    categorical: Iterable[str] = (),
    positive: Any = 1,
    negative: Any = (),
    unlabelled: Any = 0,
    seed: int = 0,
) -> PriorEstimate:
    """How many positives there are: their share among all rows, with an interval, by four estimators.

    Right where labels depend on the class alone and some positives resemble no negative; where classes overlap the
    estimates disagree, which a warning says, and are bounds from above.

    - ``table``, ``label``, ``positive``, ``negative``, ``unlabelled``: as in ``select``.
    - ``features``, ``exclude``, ``keep``, ``categorical``, ``seed``: as in ``select``.

    >>> import numpy as np, pandas as pd
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> X[:300, :2] += 4
    >>> table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=np.arange(1000) < 100)
    >>> found = estimate_prior(table, label="label", positive=True, unlabelled=False)
    >>> abs(found.prior - 0.3) < 0.05 and found.low < 0.3 < found.high
    True
    """
    request = Request.of(
        LabelRule(label, positive, negative, unlabelled),
        method=DEFAULT_METHOD,
        include=("*",) if features is None else features,
        exclude=exclude,
        keep=keep,
        categorical=categorical,
        seed=seed,
    )
    found = prior_of_table(engine_for(table), request)
    warn(found.warnings)
    return found


def likely_positives(
    selection: Selection, table: pd.DataFrame | DataFrame, keep: Iterable[str] = (), recall: float | None = None
) -> Any:
    """Unlabelled rows that are likely positive: columns ``keep``, and ``cluster`` or ``score``.

    - ``selection``: of ``fscpu`` or ``fscpu-mi``, whose positive clusters are listed; with ``recall``, of any method.
    - ``table``: the one it was made on, or another with the same columns, such as the next day's.
    - ``keep``: columns that identify a row, names or globs; by default those named when the selection was made.
    - ``recall``: list at least this share of the positives of the labelled kind, by a teacher on the chosen columns
      whose cut is made on labels of the table that it has not seen; kinds of labelled rows that the list misses come as
      a warning, and ``attrs["promise"]`` of a pandas table tells what is promised.

    >>> import numpy as np, pandas as pd
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> X[:40, :2] += 6
    >>> table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=np.arange(400) < 20, row=np.arange(400))
    >>> answers = {"label": "label", "positive": True, "unlabelled": False}
    >>> found = select(table, method="fscpu", k=2, keep=["row"], clusters=2, generations=2, **answers)
    >>> sorted(likely_positives(found, table)["row"]) == list(range(20, 40))
    True
    >>> len(likely_positives(found, table, recall=0.8)["row"]) >= 16
    True
    """
    if not isinstance(selection, Selection):
        found = f"expected a Selection, got {type(selection).__name__}"
        raise ConfigError(Fault("Likely positives", found, "Give what select() returned."))
    request = selection.request
    wanted = tuple(map(str, several(keep, column_name))) or request.keep
    clustering = selection.findings.clustering
    model = None if clustering is None else clustering.model
    if recall is None and model is None:
        raise ConfigError(no_clusters("Likely positives", selection.method))
    chosen = model.names if recall is None and model is not None else tuple(selection.names)
    engine = engine_for(table)
    names = [column.name for column in engine.columns()]
    rule = request.label
    columns, faults = identifiers(names, wanted, "cluster" if recall is None else "score")
    read = {*chosen, rule.column, *columns}
    unfit = repeated([name for name in names if name in read]) + absent((*chosen, rule.column), names)
    faults += unfit or label_faults(engine, rule)
    if faults:
        raise DataError(faults)
    if recall is None and clustering is not None and model is not None:
        warn(clustering.left_out)
        return engine.likely_positives(model, rule, columns)
    return _promised(engine, selection, rule, columns, recall)


def _promised(engine: Engine, selection: Selection, rule: LabelRule, columns: list[str], recall: Any) -> Any:
    """The rows that hold ``recall`` of the positives, by the chosen columns."""
    share = plain(recall)
    if not isinstance(share, float) or not 0 < share < 1:
        found = f"must be a share between 0 and 1, got {shown(recall)}"
        raise ConfigError(Fault("Option 'recall'", found, "For example 0.9."))
    model = recall_list_of(engine, selection, rule, share)
    warn(model.left_out)
    rows = engine.likely_positives(model, rule, columns)
    if isinstance(rows, pd.DataFrame):
        rows.attrs["promise"] = str(model)
    return rows


def diff(before: Selection | str | Path, after: Selection | str | Path) -> Difference:
    """What changed from one selection to another: features, drift of columns, labels, settings, and a verdict.

    - ``before``, ``after``: selections, or run directories as ``spark-pufs select`` and ``Selection.write`` leave them;
      of the same table on other days, by the same method or another.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [1, 2] * 200, "b": [3, 3, 4, 4] * 100, "label": [1, 0, 0, 0] * 100})
    >>> monday = select(table, label="label", method="semi-mim", k=1)
    >>> tuesday = select(table.assign(a=0), label="label", method="semi-mim", k=1)
    >>> diff(monday, monday).verdict, diff(monday, tuesday).verdict
    ('unchanged', 'refit needed')
    """
    found = [one if isinstance(one, Selection) else read_selection(one) for one in (before, after)]
    return difference(*found)


def methods() -> pd.DataFrame:
    """Every method, of this package and of others: what it does, what it assumes, what it costs, when to use it.

    >>> methods().set_index("name").loc["semi-mim", "cost"]
    'one pass over the rows'
    """
    columns = ["name", "summary", "assumes", "cost", "use_when"]
    return pd.DataFrame([[getattr(m, c) for c in columns] for m in every_method()], columns=columns)


def _folder(checkpoint: Any) -> str:
    path = path_text(checkpoint)
    if isinstance(path, Strange):
        raise ConfigError(Fault("Option 'checkpoint'", f"must be a path, got {path!r}", "For example runs/flows."))
    return path


def _check_no_memory(refit: Any, **options: Any) -> None:
    given = {name: value is not None for name, value in options.items()} | {"refit": plain(refit) != "propose"}
    faults = [
        Fault(f"Option '{name}'", "is an option of a memory, and none is given", "Add memory=, a folder.")
        for name, there in given.items()
        if there
    ]
    if faults:
        raise ConfigError(faults)


def partitions_of(table: Any, partition: str) -> PartitionedTable:
    """``table`` cut by a column."""
    if isinstance(table, pd.DataFrame):
        from spark_pufs.memory.pandas_partitions import PandasPartitions

        return PandasPartitions(table, partition)
    if hasattr(table, "sparkSession"):
        from spark_pufs.spark.partitions import FramePartitions

        return FramePartitions(table, partition)
    if speaks_arrow(table):
        return partitions_of(frame_of(table), partition)
    raise DataError(_not_a_table(table))


def engine_for(table: Any, weights: str | None = None) -> Engine:
    """The engine that can read ``table``, its rows as often as the column of ``weights`` says."""
    if isinstance(table, pd.DataFrame):
        from spark_pufs.engines.local import LocalEngine

        return LocalEngine(table if weights is None else repeated_frame(table, weights))
    if hasattr(table, "sparkSession"):
        from spark_pufs.spark.engine import SparkEngine
        from spark_pufs.spark.weights import repeated_rows

        return SparkEngine(table if weights is None else repeated_rows(table, weights))
    if speaks_arrow(table):
        return engine_for(frame_of(table), weights)
    raise DataError(_not_a_table(table))


def _not_a_table(table: Any) -> Fault:
    found = f"expected a DataFrame of pandas, Polars or Spark, or a table of Arrow, got {type(table).__name__}"
    return Fault("Table", found, "Collect it first." if hasattr(table, "collect") else "Convert it first.")
