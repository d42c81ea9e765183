"""Figures of matplotlib: what they draw, and what is said where they cannot."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from spark_pufs.errors import ConfigError, EnvironmentFault
from spark_pufs.report.figures import PARTS
from support.example_selections import full, plain, searched

pytest.importorskip("matplotlib")


def test_the_ranking_draws_each_relevance() -> None:
    first, *others = full().features
    selection = replace(full(), features=(replace(first, name="a $ b$", relevance=1.0), *others))
    axis = selection.plot().axes[0]
    drawn = [bar.get_width() for bar in axis.patches]
    assert drawn == pytest.approx([one.relevance or 0.0 for one in selection.features[: len(drawn)]])
    assert axis.get_yticklabels()[0].get_text() == r"a \$ b\$"
    assert axis.yaxis_inverted()


def test_distributions_draw_shares() -> None:
    found = (plain().findings.features.distributions or ())[0]
    axis = plain().plot("distributions").axes[0]
    labelled = sum(level.labelled for level in found.levels)
    first = [bar.get_width() for bar in axis.patches][: len(found.levels)]
    assert first == pytest.approx([level.labelled / labelled for level in found.levels])


@pytest.mark.parametrize("part", PARTS)
def test_every_part_can_be_saved(part: str, tmp_path: Path) -> None:
    selection = searched() if part == "search" else full()
    selection.plot(part).savefig(tmp_path / "part.svg")
    assert "</svg>" in (tmp_path / "part.svg").read_text(encoding="utf-8")


def test_a_part_that_is_not_known_or_not_there() -> None:
    with pytest.raises(ConfigError, match=r"Plot 'rankng': is not known\. Did you mean 'ranking'\?"):
        plain().plot("rankng")
    with pytest.raises(ConfigError, match=r"Plot 'stability': was not looked into by this selection\. Set stab"):
        plain().plot("stability")
    with pytest.raises(ConfigError, match=r"Plot '\['ranking'\]': is not known\."):
        plain().plot(["ranking"])  # type: ignore[arg-type]


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(EnvironmentFault, match=r"Package 'matplotlib': is not installed, and plots need it\. Run pip"):
        plain().plot()
