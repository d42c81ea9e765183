"""All finished selections below a directory, in the order of their days, each beside the one before it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from spark_pufs.errors import ConfigError, DataError, Fault, PufsError
from spark_pufs.history.difference import Difference, Verdict, difference
from spark_pufs.history.stored import finished_runs, read_selection
from spark_pufs.masking import masked_texts, visible
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.selection import Selection
from spark_pufs.types import Json

__all__ = ["Change", "RunPoint", "Timeline", "Unread", "timeline"]

SHOWN = 10  # runs in the text, the latest
ALARMS: tuple[Verdict, ...] = ("changed", "refit needed")


@dataclass(frozen=True)
class Change:
    """The verdict of ``diff`` against the run before; ``drift``: the largest share of rows that moved in any column."""

    verdict: Verdict
    reasons: tuple[str, ...]
    came: tuple[str, ...]
    went: tuple[str, ...]
    drift: float
    drifted: tuple[str, ...]

    @classmethod
    def of(cls, found: Difference) -> Change:
        drifted = tuple(one.name for one in found.drift if one.drifted)
        return cls(
            found.verdict,
            found.reasons,
            tuple(one.name for one in found.came),
            tuple(one.name for one in found.went),
            max((one.distance for one in found.drift), default=0.0),
            drifted,
        )

    @property
    def alarm(self) -> bool:
        return self.verdict in ALARMS


@dataclass(frozen=True)
class RunPoint:
    """One run: where it lies below the directory, its day, and what of its answer is drawn over time.

    ``relevance``: value and standard error of every feature that the run ranked. ``change``: against the run before;
    None for the first.
    """

    name: str
    day: str
    method: str
    rows: int
    labelled: int
    chosen: tuple[str, ...]
    relevance: Mapping[str, tuple[float, float]]
    verdict: str
    change: Change | None

    @property
    def alarm(self) -> bool:
        return self.change is not None and self.change.alarm


@dataclass(frozen=True)
class Unread:
    """A run that is finished and could not be read, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Timeline:
    """The runs below ``path``, earliest day first, and those that could not be read."""

    path: str
    runs: tuple[RunPoint, ...]
    unread: tuple[Unread, ...]

    @property
    def alarms(self) -> tuple[RunPoint, ...]:
        """Runs that changed, or after which models should be fitted again."""
        return tuple(run for run in self.runs if run.alarm)

    def features(self) -> list[str]:
        """Features chosen by any run: those chosen most often first, then by the sum of their relevance."""
        weight: dict[str, tuple[int, float]] = {}
        for run in self.runs:
            for name in run.chosen:
                times, total = weight.get(name, (0, 0.0))
                weight[name] = times + 1, total + run.relevance.get(name, (0.0, 0.0))[0]
        return sorted(weight, key=lambda name: (-weight[name][0], -weight[name][1], name))

    def as_dict(self) -> dict[str, Json]:
        """Plain values for JSON."""
        runs = [{**asdict(run), "alarm": run.alarm} for run in self.runs]
        values: dict[str, Json] = masked_texts(
            {"path": self.path, "runs": runs, "unread": list(map(asdict, self.unread))}
        )
        return values

    def to_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def to_html(self, reports: str = ".") -> str:
        """One page without anything from elsewhere; ``reports``: from the page to the directory, for its links."""
        from spark_pufs.report.timeline_page import timeline_page

        return timeline_page(self, reports)

    def __str__(self) -> str:
        return "\n".join(masked_texts([visible(one) for one in self._lines()]))

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        yield f"{len(self.runs):,} runs in {self.path}, {len(self.alarms):,} with an alarm"
        if len(self.runs) > SHOWN:
            yield f"the latest {SHOWN}:"
        for run in self.runs[-SHOWN:]:
            verdict = "first run" if run.change is None else run.change.verdict
            yield f"{run.day}  {verdict:20}  {run.labelled:,} labelled of {run.rows:,} rows, {len(run.chosen)} chosen"
            yield from (f"    {reason}" for reason in (run.change.reasons[:2] if run.change and run.alarm else ()))
        yield from (f"not read: {one.name}: {one.why}" for one in self.unread)


def timeline(path: str | Path) -> Timeline:
    """Read all finished selections below ``path``.

    Runs are ordered by the day in their folders' names where all of them have one, so that a day that was run late
    stands where it belongs; otherwise by the time they finished.
    """
    root = RunFolder(path)
    found = finished_runs(root)
    if not found:
        fix = "Name a folder that holds the output.path of finished runs of spark-pufs select."
        raise ConfigError(Fault(f"Directory '{root.path}'", "holds no finished selection", fix))
    runs: list[RunPoint] = []
    unread: list[Unread] = []
    before: Selection | None = None
    for one in found:
        try:
            selection = read_selection(one.folder)
        except PufsError as error:
            unread.append(Unread(one.name, str(error)))
            continue
        runs.append(_point(one.name, one.day, selection, before))
        before = selection  # only two at a time: a thousand of them would fill the memory
    if not runs:
        told = f"of {len(unread):,} finished selections none can be read; {unread[0].name}: {unread[0].why}"
        raise DataError(Fault(f"Directory '{root.path}'", told.rstrip("."), "Select again, or name another folder."))
    return Timeline(root.path, tuple(runs), tuple(unread))


def _point(name: str, day: str, selection: Selection, before: Selection | None) -> RunPoint:
    relevance = {
        one.name: (one.relevance, one.relevance_error or 0.0) for one in selection.features if one.relevance is not None
    }
    return RunPoint(
        name=name,
        day=day,
        method=selection.method,
        rows=int(selection.facts["rows"]),
        labelled=int(selection.facts["labelled_positive"]),
        chosen=tuple(selection.names),
        relevance=relevance,
        verdict=selection.verdict,
        change=None if before is None else Change.of(difference(before, selection)),
    )
