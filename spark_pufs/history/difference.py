"""What changed between two selections, and whether it is more than their errors explain."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from spark_pufs import fragments
from spark_pufs.core.evidence.drift import ColumnCounts, Drift, drift_between, homogeneity
from spark_pufs.core.information.mutual_information import class_of_features
from spark_pufs.core.information.surrogate import apply_surrogate
from spark_pufs.masking.texts import masked_texts, visible
from spark_pufs.selection import Feature, Selection
from spark_pufs.types import LABELLED_POSITIVE, UNLABELLED, Json, Layout

__all__ = ["VERDICTS", "ColumnDrift", "Difference", "FeatureChange", "Setting", "ShareChange", "Verdict", "difference"]

Verdict = Literal["unchanged", "changed within error", "changed", "refit needed"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

LEVEL = 0.01  # chance that two runs on rows of one distribution are told apart, over all features or columns together
# Shares of rows that moved: from MOVED on worth a look, from FAR on models should be fitted anew.
MOVED, FAR = 0.1, 0.15
RATIO = 1.25  # of two shares of labelled rows: less is no change to speak of
SHOWN = 12  # lines of a kind in the text
_TONES: dict[Verdict, fragments.Tone] = {
    "unchanged": "good", "changed within error": "good", "changed": "fair", "refit needed": "poor",
}  # fmt: skip


@dataclass(frozen=True)
class FeatureChange:
    """A feature in both runs: rank, relevance and its standard error, None where a run did not rank it.

    ``beyond_error``: the relevance differs by more than both errors explain, and so does what the feature tells of the
    labels alone, where both runs kept counts: a method that goes step by step scores a feature given those before it,
    and a swap of two near ties moves such scores far. None where it cannot be told.
    """

    name: str
    rank_before: int | None
    rank_after: int | None
    relevance_before: float | None
    relevance_after: float | None
    difference: float | None
    error: float | None
    beyond_error: bool | None
    why: str = ""  # not ranked: the reason


@dataclass(frozen=True)
class ColumnDrift:
    """How far a column moved among labelled and among unlabelled rows; ``drifted``: beyond chance, and worth a look."""

    name: str
    chosen: bool
    labelled: Drift | None
    unlabelled: Drift | None
    drifted: bool
    far: bool

    @property
    def distance(self) -> float:
        return max((found.distance for found in (self.labelled, self.unlabelled) if found), default=0.0)


@dataclass(frozen=True)
class ShareChange:
    """Labelled rows per row, before and after, each with its standard error."""

    before: float
    after: float
    error_before: float
    error_after: float
    beyond_error: bool


@dataclass(frozen=True)
class Setting:
    """A setting or a version that is not the same in both runs."""

    name: str
    before: object
    after: object


@dataclass(frozen=True)
class Difference:
    """What ``diff`` found; ``verdict`` with its ``reasons``, the weightiest first.

    - "unchanged": the same features; no column drifted; the share of labelled rows is the same.
    - "changed within error": features came or went, each with a difference that the errors of both runs explain.
    - "changed": a difference of a chosen feature beyond the errors, a column that drifted, or another share of labels.
    - "refit needed": a feature chosen before is gone or constant, or one that is chosen drifted far.

    A column drifts between two runs, or between the newest partition of a memory and the others of its window.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    came: tuple[FeatureChange, ...]
    went: tuple[FeatureChange, ...]
    stayed: tuple[FeatureChange, ...]
    drift: tuple[ColumnDrift, ...]  # every column with counts in both, those that moved most first
    new_columns: tuple[str, ...]
    lost_columns: tuple[str, ...]
    label_share: ShareChange
    facts: tuple[Mapping[str, int], Mapping[str, int]]
    settings: tuple[Setting, ...]
    versions: tuple[Setting, ...]

    @property
    def exit_code(self) -> int:
        """0 unchanged, 10 changed within error, 11 changed, 12 refit needed."""
        place = VERDICTS.index(self.verdict)
        return 9 + place if place else 0

    def as_dict(self) -> dict[str, Json]:
        """Plain values for JSON, the verdict first."""
        values: dict[str, Json] = masked_texts(asdict(self))
        return {"verdict": self.verdict, "exit_code": self.exit_code, **values}

    def to_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def to_html(self) -> str:
        """One page without anything from elsewhere."""
        from spark_pufs.report.difference_page import difference_page

        return difference_page(self)

    def __str__(self) -> str:
        lines = [f"Verdict: {self.verdict}", *(f"  {one}" for one in self.reasons), *self._lines()]
        return "\n".join(masked_texts([visible(line) for line in lines]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, its reasons, features that came and went."""
        tone = _TONES[self.verdict]
        moved = [(name, one) for name, found in (("came", self.came), ("went", self.went)) for one in found]
        rows = [
            fragments.Bar(f"{name} {one.name}", one.relevance_after or one.relevance_before or 0.0, "", name == "came")
            for name, one in moved[:SHOWN]
        ]
        told = fragments.bars(["feature", "relevance"], rows) if rows else ""
        return fragments.card(f"Verdict: {self.verdict}", tone, fragments.notes(self.reasons), told)

    def _lines(self) -> Iterator[str]:
        for title, changes in (("came", self.came), ("went", self.went)):
            yield from _limited([f"{title:9} {change_words(change)}" for change in changes])
        yield from _limited([f"{'drift':9} {drift_words(one)}" for one in self.drift if one.drifted])
        share = self.label_share
        yield f"labelled  {share.before:.4%} of the rows before, {share.after:.4%} after"
        for title, found in (("setting", self.settings), ("version", self.versions)):
            yield from _limited([f"{title:9} {s.name}: {s.before!r} before, {s.after!r} after" for s in found])


def change_words(change: FeatureChange) -> str:
    """One feature that came or went.

    >>> change_words(FeatureChange("a", 3, 9, 0.4, 0.1, -0.3, 0.05, True))
    'a: relevance 0.400 before, 0.100 after, beyond the errors (6.0 standard errors)'
    """
    if change.difference is None:
        return f"{change.name}: {change.why or 'not ranked by one of the runs'}"
    told = f"{change.name}: relevance {change.relevance_before:.3f} before, {change.relevance_after:.3f} after"
    if change.beyond_error is None or not change.error:
        return f"{told}, errors unknown"
    known = f"({abs(change.difference) / change.error:.1f} standard errors)"
    return f"{told}, {'beyond the errors' if change.beyond_error else 'within the errors'} {known}"


def drift_words(found: ColumnDrift) -> str:
    """One column that moved."""
    parts = [
        f"{kind} rows at least {drift.distance:.0%}"
        for kind, drift in (("labelled", found.labelled), ("unlabelled", found.unlabelled))
        if drift is not None and drift.distance >= MOVED
    ]
    return f"{found.name}{' (chosen)' if found.chosen else ''}: {', '.join(parts)} moved"


def difference(before: Selection, after: Selection) -> Difference:
    """Compare two selections of any methods; ``verdict`` says whether to act."""
    names = set(before.names), set(after.names)
    changes = _changes(before, after, sorted(names[0] | names[1]))
    drift = _drift(before.columns, after.columns, names[0] | names[1])
    share = _share(before.facts, after.facts)
    came = tuple(changes[name] for name in after.names if name not in names[0])
    went = tuple(changes[name] for name in before.names if name not in names[1])
    stayed = tuple(changes[name] for name in after.names if name in names[0])
    verdict, reasons = _judged(came, went, stayed, drift, share)
    verdict, reasons = _with_newest(verdict, reasons, before, after)
    columns = [[f.name for f in one.features] for one in (before, after)]
    return Difference(
        verdict=verdict,
        reasons=tuple(reasons),
        came=came,
        went=went,
        stayed=stayed,
        drift=drift,
        new_columns=tuple(name for name in columns[1] if name not in set(columns[0])),
        lost_columns=tuple(name for name in columns[0] if name not in set(columns[1])),
        label_share=share,
        facts=(dict(before.facts), dict(after.facts)),
        settings=tuple(_settings(_plain(before.request.as_dict()), _plain(after.request.as_dict()))),
        versions=tuple(_settings(dict(before.versions), dict(after.versions))),
    )


def _changes(before: Selection, after: Selection, names: Sequence[str]) -> dict[str, FeatureChange]:
    lines = [{feature.name: feature for feature in one.features} for one in (before, after)]
    counts = [{column.bins.name: column for column in one.columns} for one in (before, after)]
    reach = NormalDist().inv_cdf(1 - LEVEL / 2 / max(len(names), 1))
    dropped = {**before.dropped, **after.dropped}
    found = {}
    for name in names:
        old, new = lines[0].get(name), lines[1].get(name)
        if old is None or new is None:
            found[name] = _unranked(name, old, new, dropped.get(name))
            continue
        change = _change(old, new, reach)
        if change.beyond_error and all(name in known for known in counts):
            change = replace(change, beyond_error=_tells_otherwise(counts[0][name], counts[1][name], reach))
        found[name] = change
    return found


def _unranked(name: str, before: Feature | None, after: Feature | None, dropped: str | None) -> FeatureChange:
    gone = "after" if after is None else "before"
    why = f"left out {gone}: {dropped}" if dropped else f"no such column {gone}"
    ranks = None if before is None else before.rank, None if after is None else after.rank
    return FeatureChange(name, *ranks, None, None, None, None, None, why)


def _change(before: Feature, after: Feature, reach: float) -> FeatureChange:
    old, new = before.relevance, after.relevance
    if old is None or new is None:
        return FeatureChange(before.name, before.rank, after.rank, old, new, None, None, None, "relevance unknown")
    moved, error = new - old, math.hypot(before.relevance_error or 0.0, after.relevance_error or 0.0)
    beyond = abs(moved) > reach * error if error else (False if moved == 0 else None)
    return FeatureChange(before.name, before.rank, after.rank, old, new, moved, error, beyond)


def _tells_otherwise(before: ColumnCounts, after: ColumnCounts, reach: float) -> bool:
    """Whether what a column tells of who is labelled, by itself, differs by more than both errors explain."""
    (old, old_error), (new, new_error) = _told_alone(before), _told_alone(after)
    return abs(new - old) > reach * math.hypot(old_error, new_error)


def _told_alone(column: ColumnCounts) -> tuple[float, float]:
    counts = apply_surrogate(np.array(column.counts, np.int64), "y0")
    value, error = class_of_features(counts, Layout((column.bins.levels,)))
    return float(value[0]), float(error[0])


def _drift(before: Sequence[ColumnCounts], after: Sequence[ColumnCounts], chosen: set[str]) -> tuple[ColumnDrift, ...]:
    later = {column.bins.name: column for column in after}
    shared = [column for column in before if column.bins.name in later]
    least = math.log(LEVEL / max(2 * len(shared), 1))
    found = [_column_drift(column, later[column.bins.name], least, column.bins.name in chosen) for column in shared]
    return tuple(sorted(found, key=lambda one: (-one.drifted, -one.distance, one.name)))


def _column_drift(before: ColumnCounts, after: ColumnCounts, least: float, chosen: bool) -> ColumnDrift:
    labelled, unlabelled = (drift_between(before, after, state) for state in (LABELLED_POSITIVE, UNLABELLED))
    sure = [drift.distance for drift in (labelled, unlabelled) if drift is not None and drift.log_p < least]
    furthest = max(sure, default=0.0)
    return ColumnDrift(before.bins.name, chosen, labelled, unlabelled, furthest >= MOVED, furthest >= FAR)


def _share(before: Mapping[str, int], after: Mapping[str, int]) -> ShareChange:
    """Labelled positives per row; a change is beyond chance and by a quarter or more."""
    pairs = [(int(facts["labelled_positive"]), int(facts["rows"])) for facts in (before, after)]
    shares = [labelled / rows for labelled, rows in pairs]
    errors = [math.sqrt(share * (1 - share) / rows) for share, (_, rows) in zip(shares, pairs, strict=True)]
    _, log_p = homogeneity(np.array([[labelled, rows - labelled] for labelled, rows in pairs], np.int64))
    beyond = log_p < math.log(LEVEL) and max(shares) >= RATIO * min(shares)
    return ShareChange(shares[0], shares[1], errors[0], errors[1], beyond)


def _judged(
    came: Sequence[FeatureChange],
    went: Sequence[FeatureChange],
    stayed: Sequence[FeatureChange],
    drift: Sequence[ColumnDrift],
    share: ShareChange,
) -> tuple[Verdict, list[str]]:
    """The verdict, and what led to it."""
    refit = [f"{change.name} was chosen and is gone: {change.why}" for change in went if change.rank_after is None]
    refit += [f"far drift of {drift_words(one)}" for one in drift if one.chosen and one.far]
    changed = [f"drift of {drift_words(one)}" for one in drift if one.drifted and not (one.chosen and one.far)]
    changed += [
        f"{change.name} {what}, {'with errors unknown' if change.beyond_error is None else 'beyond the errors'}"
        for what, changes in (("came", came), ("went", went), ("stayed, its relevance moved", stayed))
        for change in changes
        if change.beyond_error or (change.beyond_error is None and what != "stayed, its relevance moved")
        if not (what == "went" and change.rank_after is None)
    ]
    if share.beyond_error:
        changed.append(f"the share of labelled rows went from {share.before:.4%} to {share.after:.4%}")
    if refit:
        return "refit needed", [*refit, *changed]
    if changed:
        return "changed", changed
    if came or went:
        return "changed within error", [f"{len(came)} features came and {len(went)} went, all within the errors"]
    return "unchanged", []


def _with_newest(
    verdict: Verdict, reasons: list[str], before: Selection, after: Selection
) -> tuple[Verdict, list[str]]:
    """The verdict, where the window of a memory has a newest partition that is not like its others: two windows share
    most of their rows, so that what came with one day is hardly seen between them."""
    old, new = before.findings.memory, after.findings.memory
    if new is None or not new.newest or (old is not None and old.last == new.last):
        return verdict, reasons
    chosen, far = set(before.names) | set(after.names), False
    told = []
    for one in new.newest:
        far |= one.name in chosen and one.share >= FAR
        name = f"{one.name}{' (chosen)' if one.name in chosen else ''}"
        told.append(f"partition {new.last} is unlike the others: {name}, {one.rows} rows, {one.share:.0%} moved")
    least: Verdict = "refit needed" if far else "changed"
    return max(verdict, least, key=VERDICTS.index), [*told, *reasons]


def _settings(before: object, after: object, name: str = "") -> Iterator[Setting]:
    """Values that differ, by dotted names."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _settings(before.get(key), after.get(key), f"{name}.{key}" if name else str(key))
    elif before != after:
        yield Setting(name, before, after)


def _plain(values: Mapping[str, object]) -> object:
    """As they would be after a journey as JSON: a tuple there is a list here."""
    return json.loads(json.dumps(dict(values), default=str))


def _limited(lines: Sequence[str]) -> list[str]:
    more = [f"          and {len(lines) - SHOWN:,} more"] if len(lines) > SHOWN else []
    return [*lines[:SHOWN], *more]
