"""Draw docs/images/overview.svg, the picture of the README: python docs/make_overview.py

The figures in it are those of docs/tutorial.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

PICTURE = Path(__file__).parent / "images" / "overview.svg"
STYLE = """
.ink{fill:#17202b}.soft{fill:#556070}.card{fill:#f5f7fa;stroke:#dde3ea}.dot{fill:none;stroke:#8b98a9}
.known{fill:#d9600f}.bar{fill:#1f5fcf}.err,.arrow{stroke:#556070;fill:none}.ring{fill:#d9600f;fill-opacity:.12;stroke:#d9600f}
.likely{fill:none;stroke:#d9600f}
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-size:12.5px}
.head{font-size:15px;font-weight:600}.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:11.5px}
.big{font-size:22px;font-weight:700}
@media (prefers-color-scheme: dark){.ink{fill:#e6eaf0}.soft{fill:#a5b0bf}.card{fill:#19212c;stroke:#2d3745}
.dot{stroke:#6b7788}.known{fill:#ff9d5c}.bar{fill:#74a5ff}.err,.arrow{stroke:#a5b0bf}
.ring{fill:#ff9d5c;stroke:#ff9d5c}.likely{stroke:#ff9d5c}}
"""
# Name, score and standard error of the six best columns in the tutorial's fscpu run.
COLUMNS = (
    ("fwd_last_window_size", 3.88, 0.149),
    ("fwd_init_window_size", 2.42, 0.152),
    ("flow_SYN_flag_count", 2.38, 0.144),
    ("fwd_header_size_min", 1.98, 0.157),
    ("fwd_header_size_max", 1.97, 0.136),
    ("fwd_pkts_per_sec", 1.82, 0.161),
)
CARD, GAP, HEIGHT = 268, 34, 286


def picture() -> str:
    """Three cards: the table, the columns, the rows to look at."""
    cards = [
        (have(), "What you have", "28,458 flows, 82 columns. 60 attacks", "are confirmed; nothing else is known."),
        (find(), "What it finds", "15 columns on which the confirmed", "flows stand out, and how sure that is."),
        (give(), "What that gives", "960 more flows to look at:", "955 of them are attacks."),
    ]
    body = "".join(card(i, *one) for i, one in enumerate(cards))
    width = 3 * CARD + 2 * GAP + 2
    title = "A table with few confirmed rows, the columns chosen, and the rows found with them"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {width} {HEIGHT + 2}" role="img" aria-label="{title}">'
    )
    return f"{head}<style>{STYLE}</style>{body}</svg>\n"


def card(place: int, drawing: str, head: str, first: str, second: str) -> str:
    x = place * (CARD + GAP)
    lines = text(18, 30, head, "ink head") + text(18, 250, first, "soft") + text(18, 268, second, "soft")
    arrow = f'<path class="arrow" stroke-width="1.8" d="M{CARD + 7} 142h18m-6 -5l6 5l-6 5"/>' if place < 2 else ""
    frame = f'<rect class="card" width="{CARD}" height="{HEIGHT}" rx="10"/>'
    return f'<g transform="translate({x},0)">{frame}{lines}{drawing}{arrow}</g>'


def text(x: float, y: float, words: str, kind: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def have() -> str:
    """Rows as a grid; a few are confirmed."""
    known = {(2, 3), (7, 1), (12, 6), (9, 8)}
    return "".join(
        dot(26 + 15.4 * i, 56 + 19.5 * j, "known" if (i, j) in known else "dot") for i in range(15) for j in range(9)
    )


def find() -> str:
    """The best columns with their errors."""
    out = ""
    for i, (name, score, error) in enumerate(COLUMNS):
        y, long = 46 + 28.5 * i, 52 * score
        out += text(18, y + 8, name, "ink mono")
        out += f'<rect class="bar" x="18" y="{y + 13}" width="{long:.1f}" height="7" rx="2"/>'
        ends = f"M{18 + long - 104 * error:.1f} {y + 16.5}h{208 * error:.1f}"
        out += f'<path class="err" stroke-width="1.2" d="{ends}"/>'
    return out + text(18, 228, "and 9 more", "soft")


def give() -> str:
    """The same rows on the right columns: confirmed ones gather, and so do others like them."""
    rng = np.random.default_rng(3)
    out = '<ellipse class="ring" stroke-width="1.4" cx="182" cy="98" rx="62" ry="44"/>'
    for x, y in rng.normal((86, 172), (30, 22), (46, 2)):
        out += dot(min(max(x, 20), 240), min(max(y, 118), 226), "dot")
    for i, (x, y) in enumerate(rng.normal((182, 98), (23, 15), (30, 2))):
        out += dot(x, y, "known" if i < 4 else "likely")
    return out


def dot(x: float, y: float, kind: str) -> str:
    size = 4.6 if kind == "known" else 3.6
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{size}" stroke-width="1.3"/>'


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(), encoding="utf-8")
