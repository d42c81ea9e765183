"""Sentences: what was asked, what was found, how sure it is, and what each picture shows."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from spark_pufs.core.evidence.stability import GOOD, POOR
from spark_pufs.core.schema import match, patterns
from spark_pufs.findings.parts import Distribution, Level, Redundancy
from spark_pufs.masking.texts import masked, masked_texts
from spark_pufs.report.known_warnings import NOTHING_CHOSEN, few_labels
from spark_pufs.request import Request
from spark_pufs.selectors.registry import known_method

if TYPE_CHECKING:
    from spark_pufs.selection import Feature, Selection

__all__ = [
    "CHANGE_TONES",
    "Sign",
    "asked",
    "duration",
    "fixed",
    "found",
    "headline",
    "listed",
    "number",
    "score_words",
    "seen",
    "share",
    "short",
    "sure",
    "twins",
    "warnings_of",
]

Tone = Literal["good", "fair", "poor"]
FEW_LABELS = 30
ALIKE = 0.02  # a difference of shares too small to speak of
ONE_LEVEL = 0.95  # share of rows in one level above which a distribution shows little
TWINS = 0.5  # symmetric uncertainty above which two features are called much alike
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")

# How the verdicts of `diff` look.
CHANGE_TONES = {"unchanged": "good", "changed within error": "good", "changed": "fair", "refit needed": "poor"}


@dataclass(frozen=True)
class Sign:
    """One reason to trust an answer, or not to."""

    tone: Tone
    text: str


def short(text: object, most: int = 160) -> str:
    """A name that fits: the middle of a very long one is left out, signs that no page can show are replaced.

    >>> short("abcdefghij", 7)
    'abc…hij'
    """
    plain = _CONTROL.sub("\ufffd", str(text))
    half = (most - 1) // 2
    return plain if len(plain) <= most else f"{plain[: most - 1 - half]}…{plain[-half:]}"


def number(value: float | None, digits: int = 4) -> str:
    """A figure in a few digits, and a dash where there is none.

    >>> number(1234567.8), number(0.00012346), number(None), number(float("nan"))
    ('1,234,568', '0.0001235', '–', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 10**digits:
        return f"{value:,.0f}" if abs(value) < 1e12 else f"{value:.{digits}g}"
    return f"{value:.{digits}g}"


def fixed(value: float | None, decimals: int = 2) -> str:
    """A figure with so many decimals, and a dash where there is none."""
    return "–" if value is None or math.isnan(value) else f"{value:.{decimals}f}"


def duration(seconds: float | None) -> str:
    """A time that people can read.

    >>> duration(1.27e-05), duration(0.256), duration(12.3), duration(200)
    ('< 0.01 s', '0.26 s', '12 s', '3.3 min')
    """
    if seconds is None or math.isnan(seconds):
        return "–"
    if seconds < 0.01:
        return "< 0.01 s"
    if seconds < 10:
        return f"{seconds:.2f} s"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def share(part: float, whole: float) -> str:
    """Per cent, with a decimal where it is small.

    >>> share(1, 3), share(1, 300), share(1, 10**6), share(0, 0)
    ('33 %', '0.3 %', '< 0.1 %', '0 %')
    """
    percent = 100 * part / whole if whole else 0.0
    if 0 < percent < 0.1:
        return "< 0.1 %"
    return f"{percent:.1f} %" if 0 < percent < 9.95 else f"{percent:.0f} %"


def listed(names: Sequence[object], most: int = 5) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(short(name, 40) for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")


def headline(selection: Selection) -> str:
    chosen, total = len(selection.names), len(selection.features)
    if not chosen:
        return f"None of {total:,} features was chosen"
    return f"All {total:,} features, ranked" if chosen == total else f"{chosen:,} of {total:,} features chosen"


def asked(selection: Selection) -> list[str]:
    """The question in plain words, and its limits."""
    facts, request = selection.facts, selection.request
    known = f"{_rows(facts['labelled_positive'])} labelled positive"
    if facts["labelled_negative"]:
        known += f", {facts['labelled_negative']:,} labelled negative"
    where = f" (column {short(masked(request.label.column), 60)})"
    limits = [
        f"{name} {value}"
        for name, value in (
            ("at most", f"{request.k:,} {_counted(request)}" if request.k else ""),
            ("number of features", "proposed from held-out evidence" if request.propose_k else ""),
            ("share of false features at most", number(request.fdr) if request.fdr else ""),
            ("false features at most", number(request.expected_false) if request.expected_false else ""),
            ("without", "features that stronger ones explain" if request.distinct else ""),
            ("total cost at most", number(request.budget) if request.budget else ""),
            ("given", listed(masked_texts(request.labelled_by))),
            ("chosen together", listed(list(request.groups))),
            ("always with", listed(masked_texts(request.must))),
            ("never with", listed(masked_texts(request.never))),
        )
        if value
    ]
    return [
        f"Which of {facts['features']:,} features separate the positives from the rest among {_rows(facts['rows'])}?",
        f"Known: {known}{where}; {facts['unlabelled']:,} unlabelled.",
        f"Limits: {'; '.join(limits)}." if limits else "No limit on how many.",
        *_weighted(request),
        *_partitions(selection),
    ]


def _counted(request: Request) -> str:
    return "groups and single features" if request.groups else "features"


def _weighted(request: Request) -> list[str]:
    weights = request.weights
    return [f"Rows count as often as column {short(weights, 60)} says."] if weights else []


def _partitions(selection: Selection) -> list[str]:
    kept = selection.findings.memory
    if kept is None:
        return []
    between = f"partition {kept.last}" if kept.partitions == 1 else f"{kept.partitions} partitions"
    span = "" if kept.partitions == 1 else f", {kept.first} to {kept.last}"
    return [f"From the counts of {between}{span}; {len(kept.read)} read for this answer, {kept.rows_read:,} rows."]


def found(selection: Selection) -> list[str]:
    """The answer in plain words."""
    names, findings = selection.names, selection.findings
    if not names:
        return [f"{selection.method} chose nothing."]
    costs = any(feature.cost != 1 for feature in selection.features)
    says = [f"{selection.method} ranks {listed(names[:3])} first."]
    if costs:
        says.append(f"Together they cost {number(selection.cost)}.")
    clustering, features = findings.clustering, findings.features
    if clustering is not None and clustering.lift is not None:
        says.append(f"Clusters on these columns gather labelled rows {clustering.lift:.1f} times as well as chance.")
    elif features.distributions:
        first = features.distributions[0]
        says.append(f"{short(first.name, 60)}: {seen(first.levels)}")
    alike = [pair for pair in twins(features.redundancy, most=300) if pair[2] >= TWINS]
    if alike:
        pairs = (
            "1 pair of chosen features carries" if len(alike) == 1 else f"{len(alike)} pairs of chosen features carry"
        )
        says.append(f"{pairs} much the same information.")
    if findings.choice is not None:
        says.append(findings.choice.why)
    return says


def sure(selection: Selection) -> list[Sign]:
    """Everything that speaks for or against relying on the answer."""
    return [
        *_verdict_sign(selection),
        *_control_sign(selection),
        *_labelling_sign(selection),
        *_list_sign(selection),
        *_stability_sign(selection),
        *_check_sign(selection),
        *_border_sign(selection),
        *_doubts(selection),
    ]


def warnings_of(selection: Selection) -> list[str]:
    """The warnings that the headline and ``sure`` do not tell already."""
    control = selection.findings.control
    told = (few_labels(selection.facts["labelled_positive"]), NOTHING_CHOSEN, control.why if control else "")
    return [warning for warning in selection.warnings if warning not in told]


def score_words(selection: Selection) -> str:
    """What a score is, in one sentence."""
    trace = selection.findings.search
    if trace is not None and all(one.score == trace.theta.get(one.name) for one in selection.features):
        return "A score is theta, the probability that the search gives a feature."
    if trace is not None:
        return (
            "A score is a feature's effect on how well clusters gather the labelled rows: above 0 it does more than "
            "the mean feature; the unit is the spread over all features. Theta is the probability the search gives it."
        )
    method = known_method(selection.method)
    steps = "; each is scored given those chosen before it" if method and method.stepwise else ""
    return f"The higher the score, the more relevant the feature{steps}."


def seen(levels: Sequence[Level]) -> str:
    """What a distribution shows: the level where labelled rows are most in excess."""
    labelled, unlabelled = (sum(one.labelled for one in levels) or 1, sum(one.unlabelled for one in levels) or 1)
    most = max(levels, key=lambda one: one.labelled / labelled - one.unlabelled / unlabelled)
    if most.labelled / labelled - most.unlabelled / unlabelled < ALIKE:
        return "Labelled and unlabelled rows fall alike into these levels."
    own, others = share(most.labelled, labelled), share(most.unlabelled, unlabelled)
    return f"{own} of the labelled rows are in “{short(most.level, 40)}”, {others} of the unlabelled."


def crowded(distributions: Sequence[Distribution]) -> int:
    """Distributions with nearly all unlabelled rows in one level: those of heavy tails cut into equal widths."""
    shares = [[level.unlabelled for level in found.levels] for found in distributions]
    return sum(max(rows, default=0) > ONE_LEVEL * sum(rows) for rows in shares)


def twins(redundancy: Redundancy | None, most: int = 8) -> list[tuple[str, str, float]]:
    """The pairs that share most, strongest first."""
    return redundancy.pairs()[:most] if redundancy else []


def _rows(count: int) -> str:
    return f"{count:,} row" + ("" if count == 1 else "s")


def _verdict_sign(selection: Selection) -> list[Sign]:
    """What held-out rows say of the choice."""
    if not selection.verdict:
        return []
    return [Sign("good" if selection.verdict.startswith("Better than chance") else "poor", selection.verdict)]


def _control_sign(selection: Selection) -> list[Sign]:
    """What is known of false features among the chosen ones."""
    control = selection.findings.control
    return [] if control is None else [Sign("good" if control.found else "poor", control.why)]


def _labelling_sign(selection: Selection) -> list[Sign]:
    found = selection.findings.labelling
    tones: dict[str, Tone] = {"no sign": "good", "cannot tell": "fair", "depends": "poor"}
    return [] if found is None else [Sign(tones[found.verdict], f"Who gets a label: {found.verdict}. {found.reason}")]


def _list_sign(selection: Selection) -> list[Sign]:
    """What the list of likely positives promises, and which kind of labelled rows it misses."""
    found = selection.findings.promised
    return [] if found is None else [Sign("fair" if found.missed else "good", str(found))]


def _stability_sign(selection: Selection) -> list[Sign]:
    told = selection.findings.stability
    if told is None:
        return []
    index, low = told.nogueira, told.low
    if index is None or low is None or math.isnan(index):
        return [Sign("fair", f"Stability over {told.runs} resampled runs says nothing: {told.verdict}.")]
    tone: Tone = "good" if index >= GOOD and low >= POOR else "fair" if low >= POOR else "poor"
    figure = f"{fixed(index)} ({fixed(low)} to {fixed(told.high)})"
    return [Sign(tone, f"Stability {figure} over {told.runs} resampled runs: {told.verdict}.")]


def _check_sign(selection: Selection) -> list[Sign]:
    check = selection.findings.check
    if check is None:
        return []
    tones: dict[str, Tone] = {"holds": "good", "weak": "fair"}
    return [Sign(tones.get(check.verdict, "poor"), f"Cluster assumption: {check.verdict}. {check.reason}")]


def _errors_of_a_search(selection: Selection) -> bool:
    """Whether errors tell how sure a search, a teacher's views or an average of methods is of one draw of labels, and
    not how far another draw may lie; bags and resampled runs do tell that."""
    found = selection.findings
    one_draw = found.search is not None or found.teacher is not None or found.choice is not None
    return one_draw and found.stability is None


def _border_sign(selection: Selection) -> list[Sign]:
    """Whether the last feature chosen can be told from the best one that was not."""
    named = (*selection.request.must, *selection.request.never)
    ranked = [feature.name for feature in selection.features]
    barred = set(match(ranked, patterns(named, [*ranked, *selection.dropped])))
    barred |= {f.name for f in selection.features if "copy of '" in f.notes}
    inside = [f for f in selection.features if f.selected and f.name not in barred]
    outside = [f for f in selection.features if not f.selected and f.name not in barred]
    if not inside or not outside:
        return []
    last, next_one = max(inside, key=lambda feature: feature.rank), max(outside, key=_score)
    gap, error = last.score - next_one.score, math.hypot(last.standard_error, next_one.standard_error)
    if not error or gap < 0:
        return []
    names = f"{short(last.name, 60)}, the last one chosen, and {short(next_one.name, 60)}, the first one left out,"
    if gap >= 2 * error and _errors_of_a_search(selection):
        known = "are apart for these labels; others may move the border: `stability` tells how far."
        return [Sign("fair", f"Scores of {names} {known}")]
    if gap >= 2 * error:
        return [Sign("good", f"Scores of {names} are clearly apart.")]
    return [Sign("fair", f"Scores of {names} cannot be told apart: the border is not sharp.")]


def _doubts(selection: Selection) -> list[Sign]:
    labelled, warnings = selection.facts["labelled_positive"], len(warnings_of(selection))
    doubts = []
    if labelled < FEW_LABELS:
        doubts.append(Sign("poor", few_labels(labelled)))
    if warnings:
        doubts.append(Sign("fair", f"{warnings:,} warning{'s' if warnings > 1 else ''} to look at."))
    return doubts


def _score(feature: Feature) -> float:
    return _or_zero(feature.score)


def _or_zero(value: float | None) -> float:
    return 0.0 if value is None or math.isnan(value) else value
