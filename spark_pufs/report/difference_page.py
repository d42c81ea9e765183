"""What changed between two runs, as one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_pufs.masking.texts import masked_texts
from spark_pufs.report import charts
from spark_pufs.report.render import template
from spark_pufs.report.sentences import CHANGE_TONES

if TYPE_CHECKING:
    from spark_pufs.history.difference import Difference

__all__ = ["difference_page"]

SHOWN = 200  # lines of a table


def difference_page(found: Difference) -> str:
    """A page without anything from elsewhere; every name is escaped, long tables are cut and say so."""
    drift = [one for one in found.drift if one.labelled or one.unlabelled]
    return template("difference.html.jinja", escape=True).render(
        found=found,
        tone=CHANGE_TONES[found.verdict],
        reasons=masked_texts(list(found.reasons)),
        changes=[("came", one) for one in found.came] + [("went", one) for one in found.went],
        stayed=found.stayed[:SHOWN],
        drift=drift[:SHOWN],
        more=max(len(drift) - SHOWN, 0),
        settings=masked_texts([(s.name, repr(s.before), repr(s.after)) for s in (*found.settings, *found.versions)]),
        charts=charts,
        scale=charts.scale_of([0.0, 1.0]),
    )
