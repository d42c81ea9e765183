"""The facts of a selection as both templates show them: sentences, limited tables, pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spark_pufs.findings import Findings
from spark_pufs.findings.parts import AssumptionCheck, CopyGroup, Distribution, Redundancy
from spark_pufs.report import charts, sentences
from spark_pufs.report.alerts import alerts_of
from spark_pufs.report.directions import directions
from spark_pufs.report.rerun import python_call, yaml_config
from spark_pufs.report.verdict import verdict_of
from spark_pufs.request import Request
from spark_pufs.selectors.registry import known_method

if TYPE_CHECKING:
    from spark_pufs.selection import Selection

__all__ = ["facts_of", "pictures_of"]

CHOSEN, OTHERS = 200, 100  # rows of the ranking
LISTED = 100  # warnings, columns left out, clusters, methods compared
JUDGED = 25  # columns by which labels may be given
NAMES = 12  # of a group of copies
MUCH = 0.5  # of their information that two features share: one of them may do
FURTHEST = 1.5  # of the axis of relevance
FREQUENT = 25  # features with a bar for how often they come out
LONGEST = 40_000  # characters of a request
RELEVANCE = (
    "Relevance puts every method on one scale: 0 is what chance gives, 1 the first feature, and it does not rise down "
    "the ranking."
)


# Words of the trade, explained where they stand.
TERMS = (
    ("relevance", "One scale for all methods: 0 is what chance gives, 1 the feature that is ranked first."),
    (
        "± 2 s.e.",
        "Two standard errors: with other labels of the same kind the figure would mostly lie within.",
    ),
    (
        "q-value",
        "Each column is tested by itself: of all with a q-value up to this one, at most this share tells nothing of "
        "who is labelled, on average.",
    ),
    (
        "Held-out AUC",
        "How often a model puts a labelled row above an unlabelled one, on rows that neither the choice nor the model "
        "has seen. 0.5 is chance; positives among the unlabelled rows keep it below 1.",
    ),
    (
        "PU-AUC, PU-F1",
        "The same scores from labelled and unlabelled rows alone, without negatives. They order methods; their level "
        "depends on how many positives are not labelled.",
    ),
    (
        "f, LL score",
        "How far clusters gather the labelled rows: f is recall times precision of “row is labelled”; the LL score is "
        "f divided by what chance gives, so 1 is chance.",
    ),
    ("theta", "The probability that the search gives a feature of belonging to the choice."),
    ("Nogueira's index", "1 if all resampled runs choose the same features, about 0 if chance chooses."),
)


def facts_of(selection: Selection) -> dict[str, object]:
    """What both reports tell; every list is bounded, and ``more_of`` says how much is not shown."""
    chosen = [feature for feature in selection.features if feature.selected]
    others = [feature for feature in selection.features if not feature.selected]
    warnings, dropped = sentences.warnings_of(selection), list(selection.dropped.items())
    labelling = selection.findings.labelling.columns if selection.findings.labelling else ()
    features, words = selection.findings.features, sentences.score_words(selection)
    return {
        "selection": selection,
        "findings": selection.findings,
        "headline": sentences.headline(selection),
        "asked": sentences.asked(selection),
        "found": sentences.found(selection),
        "sure": sentences.sure(selection),
        "verdict": verdict_of(selection),
        "directions": directions(selection.columns),
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
            "labelling": max(len(labelling) - JUDGED, 0),
            "copies": max(len(features.copies or ()) - LISTED, 0),
            "near_copies": max(len(features.near_copies or ()) - LISTED, 0),
        },
        "with_cost": any(feature.cost != 1 for feature in selection.features),
        "distributions": [_distribution(found) for found in features.distributions or ()],
        "crowded": _crowded(selection),
        "twins": sentences.twins(features.redundancy),
        "alike": [
            (first, sentences.listed(others, NAMES), shared) for first, others, shared in _alike(features.redundancy)
        ],
        "copies": _groups(features.copies or ()),
        "near_copies": [
            (*words, group.shared)
            for words, group in zip(_groups(features.near_copies or ()), features.near_copies or (), strict=False)
        ],
        "labelling": labelling[:JUDGED],
        "frequency": _frequency(selection),
        "checks": _checks(selection.findings),
        "compared": _compared(selection.findings),
        "terms": [(term, words) for term, words in TERMS if _speaks_of(term, selection)],
        "explained": {term: (f"term-{place}", words) for place, (term, words) in enumerate(TERMS, 1)},
        "again": _again(selection.request),
    }


def pictures_of(selection: Selection) -> dict[str, object]:
    """What only the page shows."""
    findings = selection.findings
    edges = [f.score + sign * 2 * f.standard_error for f in selection.features for sign in (-1, 1)]
    rows = findings.comparison.rows if findings.comparison else ()
    aucs = [row.auc + sign * 2 * row.auc_error for row in rows for sign in (-1, 1)]
    sizes, redundancy = findings.sizes, findings.features.redundancy
    told = {alert.text for alert in alerts_of(selection)}  # on the first screen, above
    return {
        "sure": [sign for sign in sentences.sure(selection) if sign.text not in told and "to look at" not in sign.text],
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


def _alike(redundancy: Redundancy | None) -> list[tuple[str, list[str], float]]:
    """Groups of chosen features: the first, those after it that share much with it, and the least that one shares."""
    groups: list[tuple[str, list[str], float]] = []
    taken: set[int] = set()
    for i, name in enumerate(redundancy.names if redundancy else ()):
        if redundancy is None or i in taken:
            continue
        own = [j for j, value in enumerate(redundancy.values[i]) if j > i and j not in taken and value >= MUCH]
        taken |= set(own)
        if own:
            groups.append((name, [redundancy.names[j] for j in own], min(redundancy.values[i][j] for j in own)))
    return groups


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


def _compared(found: Findings) -> set[str]:
    """Figures of a comparison that differ between methods: a column of equal numbers tells nothing."""
    rows = found.comparison.rows if found.comparison else ()
    figures = {
        "f1": [sentences.fixed(row.f1, 3) for row in rows],
        "cost": [sentences.number(row.cost, 3) for row in rows if row.cost != row.features],
        "stability": [sentences.fixed(row.stability) for row in rows],
    }
    return {name for name, values in figures.items() if len(set(values)) > 1 or (name == "cost" and values)}


def _speaks_of(term: str, selection: Selection) -> bool:
    """Whether the report uses a word of the trade."""
    found = selection.findings
    there = {
        "relevance": with_relevance(selection),
        "q-value": with_relevance(selection),
        "Held-out AUC": bool(verdict_of(selection).figures) or found.sizes is not None,
        "PU-AUC, PU-F1": found.comparison is not None,
        "f, LL score": found.clustering is not None or found.check is not None,
        "theta": found.search is not None,
        "Nogueira's index": found.stability is not None,
    }
    return there.get(term, True)


def _convergence(selection: Selection) -> dict[str, object] | None:
    trace = selection.findings.search
    if trace is None or len(trace.history or ()) < 2:
        return None
    chosen, names = set(selection.names), list(trace.theta)
    picture, drawn = charts.convergence(trace.history or (), [name in chosen for name in names])
    return {"picture": picture, "drawn": drawn, "features": len(names)}


def _again(request: Request) -> dict[str, str]:
    length = len(repr(request.as_dict()))
    if length <= LONGEST:
        return {"python": python_call(request), "yaml": yaml_config(request)}
    words = f"# Too long to show here ({length:,} characters): the request stands in selection.json."
    return {"python": words, "yaml": words}
