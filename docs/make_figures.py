"""Draw the figures of the pages: python docs/make_figures.py [NAME ...] (needs the extra `plots`)

Everything drawn is computed by the package. Colours are those of the report; a style sheet inside each picture turns
them round on a dark page.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd

import spark_pufs
from spark_pufs.core.clusters.objective import recall_precision
from spark_pufs.core.evidence.pu_scores import Counts, score_counts
from spark_pufs.core.information.power import g_power, kappa_mar_c
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.report.figures import PARTS

matplotlib.use("svg")
from matplotlib import pyplot as plt

IMAGES = Path(__file__).parent / "images"
INK, SOFT, LINE, BLUE, ORANGE = "#17202b", "#556070", "#c9d1da", "#1f5fcf", "#d9600f"
DARK = {INK: "#e6eaf0", SOFT: "#a5b0bf", LINE: "#3a4656", BLUE: "#74a5ff", ORANGE: "#ff9d5c"}
PLAIN = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "spark_pufs",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "savefig.transparent": True,
} | dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), SOFT)
PLAIN |= {"text.color": INK, "axes.titlecolor": INK}


def pu_data() -> Any:
    """The truth, what is seen under SCAR, and labels that follow a rule."""
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal((0, 0), 1, (150, 2)), rng.normal((2.6, 2.0), 0.7, (40, 2))])
    positive = np.arange(190) >= 150
    scar = positive & (rng.random(190) < 0.25)
    rule = positive & (X[:, 0] > 3.0)
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.9))
    titles = ("The truth, hidden", "Labels at random (SCAR)", "Labels by a rule on a")
    for axis, title, marked in zip(axes, titles, (positive, scar, rule), strict=True):
        axis.scatter(*X[~marked].T, s=12, facecolors="none", edgecolors=SOFT, linewidths=0.8)
        axis.scatter(*X[marked].T, s=16, color=ORANGE)
        axis.set(title=title, xticks=[], yticks=[], xlabel="a", ylabel="b")
    return figure


def kappa() -> Any:
    """Power against labels, and the false alarms that do not grow."""
    labels, rows, prior = np.arange(5, 501), 10_000, 0.05
    shrunk = np.array([kappa_mar_c("y0", prior, count / rows) for count in labels])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.1))
    left.plot(labels, shrunk, color=BLUE)
    left.set(title="kappa: what is left of the effect", xlabel="labelled rows of 500 positives", ylim=(0, 1.02))
    for effect, style in ((0.01, "-"), (0.003, "--"), (0.0, ":")):
        power = [float(g_power(effect, rows, df=4, kappa=one)) for one in shrunk]
        right.plot(labels, power, style, color=ORANGE if effect == 0 else BLUE, label=f"{effect:g} nats")
    right.set(title="Probability to call a feature relevant", xlabel="labelled rows of 500 positives", ylim=(0, 1.02))
    right.legend(title="the feature tells", loc="center right")
    return figure


def objective() -> Any:
    """Clusters in falling order of their labelled share, and f of every prefix."""
    labelled, rows = np.array([30, 14, 4, 2, 0, 0]), np.array([260, 180, 400, 900, 1400, 1360])
    A, B, total = np.cumsum(labelled), np.cumsum(rows), labelled.sum()
    f = A**2 / (total * B)
    assert np.isclose(f.max(), recall_precision(labelled[None], rows[None], total)[0])
    best, place = int(np.argmax(f)), np.arange(1, 7)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.1))
    left.bar(place, labelled / rows, color=[ORANGE if i <= best else LINE for i in range(6)])
    left.set(title="Labelled share of each cluster", xlabel="clusters, best first")
    right.plot(place, A / total, "--", color=SOFT, label="recall A / |L|")
    right.plot(place, A / B / (A[0] / B[0]), ":", color=SOFT, label="precision A / B, first = 1")
    right.plot(place, f / f.max(), "o-", color=BLUE, label="f, largest = 1")
    right.axvline(best + 1, color=ORANGE, linewidth=1)
    right.set(title="Recall x precision of the first i clusters", xlabel="i", xticks=place)
    right.set(ylim=(0, 1.05), xlim=(0.8, 10))  # room for the legend
    right.legend(loc="center right")
    return figure


def search() -> Any:
    """theta of relevant and irrelevant columns while the search runs."""
    data = make_artificial(CONDITIONS[4], seed=1, negatives=1600, positives=200)
    table = pd.DataFrame(data.X, columns=data.names).assign(label=data.s.astype(int))
    selection = spark_pufs.select(table, label="label", method="fscpu", k=25, generations=12)
    theta = np.array(selection.details["history"])
    relevant = np.array([name.startswith("relevant") for name in selection.details["theta"]])
    figure, axis = plt.subplots(figsize=(9, 2.9))
    place = np.arange(1, len(theta) + 1)
    axis.plot(place, theta[:, ~relevant], color=SOFT, linewidth=0.7, alpha=0.7)
    axis.plot(place, theta[:, relevant], color=BLUE, linewidth=0.9)
    axis.plot([], [], color=BLUE, label="25 relevant columns")
    axis.plot([], [], color=SOFT, label="25 noise columns")
    axis.set(title="theta: the probability that a column belongs in", xlabel="generation", ylim=(-0.02, 1.02))
    axis.legend(loc="center right")
    return figure


def scores() -> Any:
    """How scores depend on rho, the labelled share of positives."""
    counts = Counts(rows=1000, predicted=144, labelled=30, both=24)
    rho = np.linspace(0.1, 1, 60)
    found = [score_counts(counts, float(one)) for one in rho]
    figure, axis = plt.subplots(figsize=(9, 2.9))
    for name, style, colour in (("recall", "--", SOFT), ("precision", "-", BLUE), ("f", "-", ORANGE)):
        values = [getattr(one, name) for one in found]
        axis.plot(rho, [one.value for one in values], style, color=colour, label="F1" if name == "f" else name)
        axis.fill_between(rho, [v.low for v in values], [v.high for v in values], color=colour, alpha=0.15, lw=0)
    title = "24 of 30 labelled rows among 144 predicted"
    axis.set(title=title, xlabel="rho: labelled share of all positives", ylim=(0, 1.02))
    axis.legend(loc=(0.86, 0.38))
    return figure


def check() -> Any:
    """Lift of real clusters beside that of labels thrown at random."""
    rng = np.random.default_rng(0)
    figure, axes = plt.subplots(1, 2, figsize=(9, 2.9))
    sizes, total = np.full(10, 450), 20
    lift = sizes.sum() / total
    thrown = rng.multivariate_hypergeometric(sizes, total, 4000)
    null = recall_precision(thrown, np.broadcast_to(sizes, thrown.shape), total) * lift
    cases = (
        ("Labels gather in one cluster", [15, 2, 1, 1, 1, 0, 0, 0, 0, 0]),
        ("Labels lie anywhere", [4, 3, 3, 2, 2, 2, 2, 1, 1, 0]),
    )
    for axis, (title, labelled) in zip(axes, cases, strict=True):
        seen = float(recall_precision([labelled], [sizes], total)[0]) * lift
        axis.hist(null, bins=np.arange(1, 2.6, 0.1), color=LINE)
        axis.axvline(seen, color=ORANGE, linewidth=2)
        axis.set(title=title, xlabel="lift; grey: labels redrawn, orange: seen", yticks=[], xlim=(0.9, 6.2))
    return figure


def stability() -> Any:
    """How often each column comes out of halves of the rows, with few and with more labels."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 2.9), sharey=True)
    for axis, condition, rows in zip(axes, (CONDITIONS[4], CONDITIONS[0]), ("10 %", "40 %"), strict=True):
        data = make_artificial(condition, seed=2, negatives=1600, positives=200)
        table = pd.DataFrame(data.X, columns=data.names).assign(label=data.s.astype(int))
        found = spark_pufs.select(table, label="label", method="semi-mim", k=25, stability=30).details["stability"]
        often = sorted(found["frequency"].values(), reverse=True)
        axis.bar(range(1, 51), often, color=[BLUE if i < 25 else LINE for i in range(50)])
        title = f"{rows} of positives labelled: index {found['nogueira']:.2f}"
        axis.set(title=title, xlabel="columns, most often chosen first", ylim=(0, 1.02))
    axes[0].set_ylabel("chosen in, of 30 halves")
    return figure


@cache
def chosen(method: str) -> spark_pufs.Selection:
    """What a method finds in 20 columns, of which ten tell something and one says again what another does."""
    data = make_artificial(CONDITIONS[0], 7)
    table = pd.DataFrame(data.X, columns=data.names)
    relevant = [name for name in table if name.startswith("relevant")]
    columns = [*relevant[:10], *[name for name in table if name not in relevant][:9]]
    first = table[columns[0]]
    again = first + np.random.default_rng(0).normal(0, 0.25 * first.std(), len(first))
    table = table[columns].assign(**{f"{columns[0]}_again": again}, label=data.s)
    more = {"k": 10} if method == "fscpu" else {"stability": 20}
    return spark_pufs.select(table, label="label", method=method, **more)


def gallery(part: str) -> Any:
    """A part of a report as `Selection.plot` draws it."""
    return chosen("fscpu" if part == "search" else "semi-jmi").plot(part)


FIGURES: dict[str, Callable[[], Any]] = {
    "pu_data": pu_data,
    "kappa": kappa,
    "objective": objective,
    "search": search,
    "pu_scores": scores,
    "cluster_check": check,
    "stability": stability,
    **{f"gallery_{part}": partial(gallery, part) for part in PARTS},
}


def svg(figure: Any) -> str:
    """The figure as text, with colours for a dark page too."""
    if figure.get_layout_engine() is None:
        figure.tight_layout()
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    rules = "".join(
        f'[style*="{what}: {light}"]{{{what}:{dark} !important}}'
        for light, dark in DARK.items()
        for what in ("fill", "stroke")
    )
    style = f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>"
    text = out.getvalue()
    return text.replace("<defs>", style + "<defs>", 1)


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with plt.rc_context(PLAIN):
        for name in sys.argv[1:] or FIGURES:
            (IMAGES / f"{name}.svg").write_text(svg(FIGURES[name]()), encoding="utf-8")
            plt.close("all")


if __name__ == "__main__":
    main()
