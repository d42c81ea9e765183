"""All that a selection found besides its ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

from spark_pufs.core.clusters.cluster_model import ClusterModel
from spark_pufs.core.evidence.labelling_check import LabellingCheck
from spark_pufs.core.records import read, written
from spark_pufs.core.soft.held_out import HeldOut
from spark_pufs.findings.parts import (
    AssumptionCheck,
    Choice,
    Clustering,
    ErrorControl,
    FeatureSummary,
    PriorSummary,
    PromisedList,
    SearchTrace,
    SinceLast,
    SizeCurve,
    StabilitySummary,
    Standings,
    TeacherSummary,
    WindowCounts,
)
from spark_pufs.types import Json

__all__ = ["Findings"]

Part = TypeVar("Part")


@dataclass(frozen=True)
class Findings:
    """Records of what was found; None where a method does not tell.

    - ``verdict``: better than chance or not, in one line. ``sample``: which rows were looked at.
    - ``held_out``, ``teacher``: what rows that were held out say of the choice; how good a teacher all columns make.
    - ``check``, ``check_before``: the cluster assumption on the chosen columns, and before the search.
    - ``clustering``, ``search``: of methods that search masks by their clusters.
    - ``sizes``, ``stability``, ``choice``, ``comparison``: evidence from repeated selections.
    - ``control``: how many features are found at the error rate that was asked for.
    - ``estimated_prior``: the share of positives, where it was to be estimated.
    - ``labelling``: whether labels depend on columns among the positives, where that was asked.
    - ``promised``: the list of likely positives that was written with a recall.
    - ``features``: distributions, redundancy and copies.
    - ``since``: what changed since an earlier run. ``memory``: the partitions whose counts were kept and added.
    - ``extra``: plain values that are a method's own.

    >>> Findings(sample="all 9 rows", extra={"steps": 3}).as_dict()
    {'sample': 'all 9 rows', 'steps': 3}
    """

    verdict: str | None = None
    sample: str | None = None
    held_out: HeldOut | None = None
    teacher: TeacherSummary | None = None
    check: AssumptionCheck | None = None
    check_before: AssumptionCheck | None = None
    sizes: SizeCurve | None = None
    stability: StabilitySummary | None = None
    control: ErrorControl | None = None
    estimated_prior: PriorSummary | None = None
    labelling: LabellingCheck | None = None
    promised: PromisedList | None = None
    choice: Choice | None = None
    comparison: Standings | None = None
    since: SinceLast | None = None
    memory: WindowCounts | None = None
    clustering: Clustering | None = None
    search: SearchTrace | None = None
    features: FeatureSummary = field(default_factory=FeatureSummary)
    extra: Mapping[str, Json] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Json]:
        """Plain values for JSON: one mapping, without what was not looked into."""
        found = {name: written(value) for name, value in _present(self, leave=_JOINED)}
        for part in (self.clustering, self.search, self.features):
            found |= {name: written(value) for name, value in _present(part, leave=("model",))}
        if self.clustering is not None and self.clustering.model is not None:
            found["model"] = self.clustering.model.as_dict()
        return found | dict(self.extra)

    @classmethod
    def from_dict(cls, values: Mapping[str, Json]) -> Findings:
        """What ``as_dict`` gave, also by an earlier version; ``ValueError`` where it cannot be understood."""
        own = {one.name for one in fields(cls)} - set(_JOINED)
        found = read(cls, {name: values[name] for name in values if name in own}, "details")
        # The width of pufs' similarities is called theta too, and is a number.
        search = _joined(SearchTrace, values) if isinstance(values.get("theta"), Mapping) else None
        clustering, features = _joined(Clustering, values), _joined(FeatureSummary, values)
        told = {one.name for part in (clustering, search, features) if part is not None for one in fields(part)}
        extra = {name: value for name, value in values.items() if name not in own | told}
        return replace(found, clustering=clustering, search=search, features=features or FeatureSummary(), extra=extra)


# Parts whose fields lie beside the others in JSON.
_JOINED = ("clustering", "search", "features", "extra")


def _present(part: object, leave: Iterable[str]) -> list[tuple[str, object]]:
    if part is None:
        return []
    found = [(one.name, getattr(part, one.name)) for one in fields(part)]  # type: ignore[arg-type]
    return [(name, value) for name, value in found if value is not None and name not in leave]


def _joined(kind: type[Part], values: Mapping[str, Json]) -> Part | None:
    """The part of ``kind`` where one of its fields is there."""
    names = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    own = {name: value for name, value in values.items() if name in names and name != "model"}
    if not own:
        return None
    found = read(kind, own, "details")
    if isinstance(found, Clustering) and isinstance(model := values.get("model"), Mapping):
        return replace(found, model=ClusterModel.from_dict(model))
    return found
