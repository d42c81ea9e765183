"""Pictures of the studies: panels in rows of a fixed number of columns, as PNG bytes. Needs matplotlib."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["png", "subplots"]


def subplots(panels: int, columns: int) -> tuple[Figure, list[Axes]]:
    """A figure and its panels, row by row; those that are not needed are hidden."""
    from matplotlib.figure import Figure

    rows = math.ceil(panels / columns)
    figure = Figure(figsize=(4.5 * columns, 3.4 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axis in axes[panels:]:
        axis.set_visible(False)
    return figure, axes


def png(figure: Figure) -> bytes:
    """The figure as a file's bytes."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=80)
    return file.getvalue()
