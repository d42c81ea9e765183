"""The facts of a selection as both templates show them: sentences, limited tables, pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spark_pufs.findings import Findings
from spark_pufs.findings.parts import AssumptionCheck, CopyGroup, Distribution
from spark_pufs.report import charts, sentences
from spark_pufs.report.rerun import python_call, yaml_config
from spark_pufs.selectors.registry import known_method

if TYPE_CHECKING:
    from spark_pufs.selection import Selection

__all__ = ["facts_of", "pictures_of"]

CHOSEN, OTHERS = 200, 100  # rows of the ranking
LISTED = 100  # warnings, columns left out, clusters, methods compared
NAMES = 12  # of a group of copies
FURTHEST = 1.5  # of the axis of relevance
FREQUENT = 25  # features with a bar for how often they come out
LONGEST = 40_000  # characters of a request
RELEVANCE = (
    "Relevance puts every method on one scale: 0 is what chance gives, 1 the first feature, and it does not rise down "
    "the ranking."
)


def facts_of(selection: Selection) -> dict[str, object]:
    """What both reports tell; every list is bounded, and ``more_of`` says how much is not shown."""
    chosen = [feature for feature in selection.features if feature.selected]
    others = [feature for feature in selection.features if not feature.selected]
    warnings, dropped = sentences.warnings_of(selection), list(selection.dropped.items())
    features, words = selection.findings.features, sentences.score_words(selection)
    return {
        "selection": selection,
        "findings": selection.findings,
        "headline": sentences.headline(selection),
        "asked": sentences.asked(selection),
        "found": sentences.found(selection),
        "sure": sentences.sure(selection),
        "since": selection.findings.since,
        "since_tone": sentences.CHANGE_TONES.get(selection.findings.since.verdict if selection.findings.since else ""),
        "score_words": " ".join([RELEVANCE, words] if with_relevance(selection) else [words]),
        "with_relevance": with_relevance(selection),
        "method": known_method(selection.method),
        "chosen": chosen[:CHOSEN],
        "others": others[:OTHERS],
        "warnings": warnings[:LISTED],
        "dropped": dropped[:LISTED],
        "more_of": {
            "chosen": max(len(chosen) - CHOSEN, 0),
            "others": max(len(others) - OTHERS, 0),
            "warnings": max(len(warnings) - LISTED, 0),
            "dropped": max(len(dropped) - LISTED, 0),
            "copies": max(len(features.copies or ()) - LISTED, 0),
            "near_copies": max(len(features.near_copies or ()) - LISTED, 0),
        },
        "with_cost": any(feature.cost != 1 for feature in selection.features),
        "distributions": [_distribution(found) for found in features.distributions or ()],
        "crowded": _crowded(selection),
        "twins": sentences.twins(features.redundancy),
        "copies": _groups(features.copies or ()),
        "near_copies": [
            (*words, group.shared)
            for words, group in zip(_groups(features.near_copies or ()), features.near_copies or (), strict=False)
        ],
        "frequency": _frequency(selection),
        "checks": _checks(selection.findings),
        "again": _again(selection.request),
    }


def pictures_of(selection: Selection) -> dict[str, object]:
    """What only the page shows."""
    findings = selection.findings
    edges = [f.score + sign * 2 * f.standard_error for f in selection.features for sign in (-1, 1)]
    rows = findings.comparison.rows if findings.comparison else ()
    aucs = [row.auc + sign * 2 * row.auc_error for row in rows for sign in (-1, 1)]
    sizes, redundancy = findings.sizes, findings.features.redundancy
    return {
        "score_scale": charts.scale_of(edges),
        "relevance_scale": charts.scale_of([_reach(selection)]),
        "auc_scale": charts.scale_of(aucs, zero=False),
        "convergence": _convergence(selection),
        "sizes": charts.size_curve(sizes.points, sizes.chosen) if sizes and sizes.points else None,
        "heat_map": charts.heat_map(redundancy.names, redundancy.values) if redundancy else None,
        "charts": charts,
    }


def with_relevance(selection: Selection) -> bool:
    """Whether every feature has one: selections made by earlier versions have none."""
    return all(feature.relevance is not None for feature in selection.features)


def _reach(selection: Selection) -> float:
    """Where the axis of relevance ends: beyond 1 for intervals, but not so far that the bars become short."""
    ends = [(f.relevance or 0.0) + 2 * (f.relevance_error or 0.0) for f in selection.features]
    return min(max([1.0, *ends]), FURTHEST)


def _groups(groups: Sequence[CopyGroup]) -> list[tuple[str, str]]:
    """The column that stands for a group, and the others in words."""
    return [(group.representative, sentences.listed(group.copies, NAMES)) for group in groups[:LISTED]]


def _distribution(found: Distribution) -> dict[str, object]:
    """Shares instead of counts, the largest of them, and the sentence of what to see."""
    levels = found.levels
    labelled, unlabelled = (sum(one.labelled for one in levels) or 1, sum(one.unlabelled for one in levels) or 1)
    shares = [(one.level, one.labelled / labelled, one.unlabelled / unlabelled) for one in levels]
    most = max((part for _, *parts in shares for part in parts), default=1.0)
    return {"name": found.name, "levels": shares, "most": most, "seen": sentences.seen(levels) if levels else ""}


def _crowded(selection: Selection) -> int:
    """How many of the distributions would show more in bins of equal frequency."""
    features = selection.findings.features
    return sentences.crowded(features.distributions or ()) if features.binning == "equal-width" else 0


def _frequency(selection: Selection) -> list[tuple[str, float]]:
    """How often each feature comes out of resampled runs: the chosen ones first, then those that nearly were."""
    stability = selection.findings.stability
    found = stability.frequency if stability else {}
    chosen = set(selection.names)
    return sorted(found.items(), key=lambda item: (item[0] not in chosen, -item[1]))[:FREQUENT]


def _checks(found: Findings) -> list[tuple[str, AssumptionCheck]]:
    before, after = "On columns drawn blindly, before the search", "On the chosen columns"
    return [(title, check) for title, check in ((before, found.check_before), (after, found.check)) if check]


def _convergence(selection: Selection) -> dict[str, object] | None:
    trace = selection.findings.search
    if trace is None or len(trace.history or ()) < 2:
        return None
    chosen, names = set(selection.names), list(trace.theta)
    picture, drawn = charts.convergence(trace.history or (), [name in chosen for name in names])
    return {"picture": picture, "drawn": drawn, "features": len(names)}


def _again(request: Mapping[str, Any]) -> dict[str, str]:
    length = len(repr(request))
    if length <= LONGEST:
        return {"python": python_call(request), "yaml": yaml_config(request)}
    words = f"# Too long to show here ({length:,} characters): the request stands in selection.json."
    return {"python": words, "yaml": words}
