"""Charts of large_tables.py: CPU, wall time and memory against rows and against features.

python benchmarks/large_tables_chart.py large_tables.json docs/results/large_tables.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure

PHASES = ("profile", "pack", "label counts", "pairs", "sample", "search", "verdict")
KINDS = ("driver", "java", "workers", "all")
NAMED = {"java": "JVM", "workers": "Python workers", "all": "all together"}
ROWS, FEATURES = "rows", "features"


def series(found: list[dict[str, Any]], fixed: str, size: int, along: str) -> list[dict[str, Any]]:
    """The tables with ``fixed`` = ``size``, in order of ``along``."""
    return sorted((one for one in found if one[fixed] == size), key=lambda one: int(one[along]))


def draw(found: list[dict[str, Any]], features: int, rows: int) -> Figure:
    figure = Figure(figsize=(11, 10), layout="constrained")
    axes = figure.subplots(3, 2)
    sides = (
        (series(found, FEATURES, features, ROWS), ROWS, f"rows ({features} features)"),
        (series(found, ROWS, rows, FEATURES), FEATURES, f"features ({rows:,} rows)"),
    )
    for column, (tables, along, title) in enumerate(sides):
        x = [one[along] for one in tables]
        for row, unit in enumerate(("cpu", "wall")):
            for phase in PHASES:
                y = [one["phases"].get(phase, {}).get(unit) for one in tables]
                axes[row, column].plot(x, y, marker="o", markersize=3, label=phase)
            axes[row, column].set_ylabel(f"{'CPU' if unit == 'cpu' else 'wall'} seconds")
        for kind in KINDS:
            y = [max(p["peak"].get(kind, 0) for p in one["phases"].values()) / 2**30 for one in tables]
            axes[2, column].plot(x, y, marker="o", markersize=3, label=NAMED.get(kind, kind))
        axes[2, column].set_ylabel("peak memory, GB")
        axes[2, column].set_ylim(bottom=0)
        for axis in axes[:, column]:
            axis.set_xscale("log")
            axis.set_xlabel(title)
            axis.grid(alpha=0.3)
            axis.legend(fontsize=7)
        for axis in axes[:2, column]:
            axis.set_yscale("log")
    return figure


def rows_of(found: dict[str, dict[str, Any]]) -> list[str]:
    """Markdown: a line per table, CPU / wall seconds per phase, peak memory by kind of process in MB."""
    lines = [f"| table | {' | '.join((*PHASES, *(NAMED.get(kind, kind) for kind in KINDS)))} |"]
    lines.append("|---" * (1 + len(PHASES) + len(KINDS)) + "|")
    for name, one in sorted(found.items(), key=lambda item: (item[1][FEATURES], item[1][ROWS], item[0])):
        spent = [one["phases"].get(phase) for phase in PHASES]
        times = [f"{p['cpu']:.0f} / {p['wall']:.0f}" if p else "-" for p in spent]
        peaks = [max(p["peak"].get(kind, 0) for p in one["phases"].values()) for kind in KINDS]
        version = "" if name.endswith(" now") else ", version before"
        cells = [f"{one[ROWS]:,} x {one[FEATURES]:,}{version}", *times, *(f"{size / 2**20:,.0f}" for size in peaks)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    source, target = map(Path, sys.argv[1:3])
    every = json.loads(source.read_text())
    print("\n".join(rows_of(every)))
    found = [one for name, one in every.items() if name.endswith(" now")]
    matplotlib.rcParams["svg.hashsalt"] = "large tables"  # the same figures give the same file
    draw(found, features=81, rows=200_000).savefig(target, metadata={"Date": None} if target.suffix == ".svg" else {})


if __name__ == "__main__":
    main()
