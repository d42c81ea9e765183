"""The run before a run: named, or the latest one beside it; and a selection that tells what changed since."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spark_pufs.errors import PufsError
from spark_pufs.findings.parts import SinceLast
from spark_pufs.history.difference import difference
from spark_pufs.history.stored import StoredRun, day_of, finished_runs, read_selection
from spark_pufs.masking.addresses import Address
from spark_pufs.rundir.folder import RunFolder
from spark_pufs.selection import Selection

__all__ = ["CHANGES", "LATEST", "Previous", "previous_run"]

LATEST = "latest"
CHANGES = "changes.html"


@dataclass(frozen=True)
class Previous:
    """The selection of an earlier run, or what kept it from being read; neither where there is none."""

    name: str = ""
    selection: Selection | None = None
    warning: str = ""

    def since(self, selection: Selection) -> tuple[Selection, dict[str, bytes]]:
        """``selection`` with what changed since, and the page that tells it, by its name."""
        if self.warning:
            return replace(selection, warnings=(*selection.warnings, self.warning)), {}
        if self.selection is None:
            return selection, {}
        found = difference(self.selection, selection)
        came, went = (tuple(one.name for one in changes) for changes in (found.came, found.went))
        told = SinceLast(self.name, found.verdict, found.reasons, came, went)
        return replace(selection, findings=replace(selection.findings, since=told)), {CHANGES: found.to_html().encode()}


def previous_run(wanted: Address | None, run: Address) -> Previous:
    """The run that ``wanted`` names, or with "latest" the last one of the folders beside ``run``.

    A run that was named must be there. Of those beside it one that cannot be read is named, and does not stop today's.
    """
    if wanted is None:
        return Previous()
    if wanted.given != LATEST:
        return Previous(str(wanted), read_selection(RunFolder(wanted.given)))
    before = _latest(run)
    if before is None:
        return Previous()
    try:
        return Previous(before.name, read_selection(before.folder))
    except PufsError as error:
        return Previous(before.name, warning=f"The run before could not be read. {error}")


def _latest(run: Address) -> StoredRun | None:
    """The last run beside ``run``: of an earlier day where names hold days, else the last that finished."""
    parent, own = RunFolder(run.given).outer()
    beside = [one for one in finished_runs(parent) if one.name != own and not one.name.startswith(f"{own}/")]
    day = day_of(own)
    if day is not None and all(day_of(one.name) for one in beside):
        beside = [one for one in beside if one.day < day]
    return beside[-1] if beside else None
