"""The records that findings are made of. A default stands for what an earlier version did not tell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from spark_pufs.core.clusters.cluster_check import ClusterCheck
from spark_pufs.core.clusters.cluster_model import ClusterModel
from spark_pufs.core.evidence.prior import PriorEstimate
from spark_pufs.core.soft.recall_list import LEAST_KIND, MissedKind, RecallList

__all__ = [
    "AssumptionCheck",
    "Choice",
    "Cluster",
    "Clustering",
    "CopyGroup",
    "Distribution",
    "ErrorControl",
    "FeatureSummary",
    "Level",
    "NearCopies",
    "NewestDrift",
    "OutsideBins",
    "PriorSummary",
    "PromisedList",
    "Redundancy",
    "SearchTrace",
    "SinceLast",
    "SizeCurve",
    "SizePoint",
    "StabilitySummary",
    "Standing",
    "Standings",
    "TeacherMember",
    "TeacherSummary",
    "WindowCounts",
]

LEFT_OUT = 0.1  # share of labelled rows outside positive clusters from which on a warning says so


@dataclass(frozen=True)
class AssumptionCheck:
    """Whether clusters concentrate the labelled rows more than chance does."""

    verdict: str
    reason: str
    p_value: float = math.nan
    effect: float = math.nan

    @classmethod
    def of(cls, check: ClusterCheck) -> AssumptionCheck:
        return cls(check.verdict, check.reason, check.p_value, check.effect)


@dataclass(frozen=True)
class Cluster:
    """Rows of the table in one cluster, those of them that are labelled, and whether it belongs to the best set."""

    rows: int
    labelled: int
    positive: bool = False


@dataclass(frozen=True)
class Clustering:
    """Clusters on the chosen columns, counted over all rows; ``f`` and ``lift`` say how far they gather labelled rows.

    ``sample_rows`` were searched; ``screened`` features, where not all of them were.
    """

    clusters: tuple[Cluster, ...] = ()
    f: float | None = None
    lift: float | None = None
    sample_rows: int | None = None
    screened: int | None = None
    model: ClusterModel | None = field(default=None, compare=False)  # arrays, which have no single answer to ==

    @property
    def likely_positives(self) -> int:
        """Unlabelled rows in positive clusters, where no row is labelled negative."""
        return sum(one.rows - one.labelled for one in self.clusters if one.positive)

    @property
    def left_out(self) -> tuple[str, ...]:
        """A warning where labelled rows lie outside positive clusters: so do the positives that are like them."""
        labelled = sum(one.labelled for one in self.clusters)
        inside = sum(one.labelled for one in self.clusters if one.positive)
        outside = labelled - inside
        if outside < LEAST_KIND or outside < LEFT_OUT * labelled:
            return ()
        found = f"The positive clusters hold {inside:,} of {labelled:,} labelled rows"
        missed = f"likely_positives misses positives like the other {outside:,}, of another kind or scattered"
        return (f"{found}: {missed}. With recall=0.9 it lists nine tenths of all.",)


@dataclass(frozen=True)
class SearchTrace:
    """How a search over masks went: ``theta``, the probability that it gives each feature, at the end and in history.

    ``unconverged``: the share of features that are not settled. ``best_auc``: where the objective is one. ``masks``:
    how many were scored.
    """

    theta: Mapping[str, float]
    generations: int = 0
    stopped: str = ""
    unconverged: float | None = None
    history: tuple[tuple[float, ...], ...] | None = None
    best_auc: float | None = None
    masks: int = 0


@dataclass(frozen=True)
class TeacherMember:
    """One model of a teacher: its held-out AUC and its weight."""

    name: str
    auc: float
    weight: float


@dataclass(frozen=True)
class TeacherSummary:
    """How well all columns together tell the labelled rows, out of fold, and the share of positives assumed."""

    auc: float
    error: float
    better_than_chance: bool
    members: tuple[TeacherMember, ...]
    prior: float


@dataclass(frozen=True)
class PriorSummary:
    """The share of positives that was estimated, its interval, and what each estimator says."""

    prior: float
    low: float
    high: float
    estimates: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, found: PriorEstimate) -> PriorSummary:
        return cls(found.prior, found.low, found.high, dict(found.estimates))


@dataclass(frozen=True)
class PromisedList:
    """A list of so many ``rows`` that holds a share of the positives: what it ``promises`` and the kinds it misses."""

    recall: float
    rows: int
    promises: str
    missed: tuple[MissedKind, ...] = ()

    @classmethod
    def of(cls, found: RecallList, rows: int) -> PromisedList:
        return cls(found.recall, rows, str(found), found.missed)

    def __str__(self) -> str:
        kinds = "; ".join(f"it misses {kind}" for kind in self.missed)
        return f"A list of {self.rows:,} rows holds {self.promises}" + (f"; {kinds}." if kinds else ".")


@dataclass(frozen=True)
class SizePoint:
    """``auc`` of the first ``k`` features, mean over folds, with its standard ``error``."""

    k: int
    auc: float
    error: float | None = None


@dataclass(frozen=True)
class SizeCurve:
    """The curve, the size proposed, the one with the best score, and why."""

    points: tuple[SizePoint, ...]
    chosen: int
    best: int = 0
    why: str = ""


@dataclass(frozen=True)
class ErrorControl:
    """What was chosen by an error rate: ``target`` is "fdr" or "expected_false" and ``bound`` its value.

    ``found`` of ``tests`` features, each with a p-value of at most ``needed``. ``least``: the share of what there is to
    tell of the label that a feature has to tell to be found with probability 0.8.
    """

    target: str
    bound: float
    found: int
    tests: int
    needed: float
    least: float
    why: str = ""


@dataclass(frozen=True)
class StabilitySummary:
    """Agreement of ``runs`` selections on resampled rows, and the share of them that chose each feature.

    Nogueira's index with its interval, not a number where chance cannot be told from choice; Kuncheva's where all sets
    have one size.
    """

    runs: int
    nogueira: float | None
    low: float | None
    high: float | None
    kuncheva: float | None = None
    frequency: Mapping[str, float] = field(default_factory=dict)
    verdict: str = ""


@dataclass(frozen=True)
class Standing:
    """One line: held-out PU-AUC and PU-F1 with standard errors, size, cost, seconds per selection, stability."""

    method: str
    auc: float
    auc_error: float
    f1: float | None
    f1_error: float | None
    features: float
    cost: float
    seconds: float
    stability: float | None
    note: str


@dataclass(frozen=True)
class Standings:
    """Methods side by side, best first, and how they were judged."""

    rows: tuple[Standing, ...]
    protocol: str = ""


@dataclass(frozen=True)
class Choice:
    """What ``auto`` chose: ``methods``, best first, as one name; why; and the verdict in one line."""

    method: str
    methods: tuple[str, ...] = ()
    why: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class Level:
    """Rows at one level of a feature."""

    level: str
    labelled: int
    unlabelled: int
    negative: int = 0


@dataclass(frozen=True)
class Distribution:
    """Rows of one feature by level."""

    name: str
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class Redundancy:
    """Symmetric uncertainty of every two features, 0 to 1."""

    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]

    def pairs(self) -> list[tuple[str, str, float]]:
        """Every two features and what they share, most first."""
        names = self.names
        found = [(names[i], names[j], self.values[i][j]) for i in range(len(names)) for j in range(i)]
        return sorted(found, key=lambda pair: -pair[2])


@dataclass(frozen=True)
class CopyGroup:
    """Columns that are equal in every row: the one that stands for the others."""

    representative: str
    copies: tuple[str, ...]


@dataclass(frozen=True)
class NearCopies(CopyGroup):
    """Features that share at least ``shared`` of their information with the first."""

    shared: float = 1.0


@dataclass(frozen=True)
class FeatureSummary:
    """What the chosen features look like, and which features repeat each other; None: not looked into."""

    binning: str | None = None
    distributions: tuple[Distribution, ...] | None = None
    redundancy: Redundancy | None = None
    near_copies: tuple[NearCopies, ...] | None = None
    copies: tuple[CopyGroup, ...] | None = None


@dataclass(frozen=True)
class SinceLast:
    """What changed since the run ``previous``: the verdict of ``diff``, its reasons, features that came and went."""

    previous: str
    verdict: str
    reasons: tuple[str, ...] = ()
    came: tuple[str, ...] = ()
    went: tuple[str, ...] = ()


@dataclass(frozen=True)
class OutsideBins:
    """A column that has left its cut points: the ``share`` of rows in outer bins or at levels not seen, and the share
    ``before``, when the cut points were made."""

    name: str
    kind: str
    share: float
    before: float


@dataclass(frozen=True)
class NewestDrift:
    """A column of which a ``share`` of the "labelled" or "unlabelled" ``rows`` of the newest partition lies at other
    levels than in the other partitions of the window."""

    name: str
    rows: str
    share: float


@dataclass(frozen=True)
class WindowCounts:
    """What an answer from a memory of counts stands on.

    ``partitions`` from ``first`` to ``last`` with ``rows``; of these were ``read`` now with ``rows_read``, all where
    cut points were ``made``. ``left``: partitions that left the window. ``labels_without_row``: late labels that belong
    to no row. ``newest``: columns in which the last partition is not like the others.
    """

    partitions: int
    first: str
    last: str
    rows: int
    read: tuple[str, ...] = ()
    rows_read: int = 0
    left: tuple[str, ...] = ()
    made: bool = False
    outside: tuple[OutsideBins, ...] = ()
    labels_without_row: int = 0
    newest: tuple[NewestDrift, ...] = ()
