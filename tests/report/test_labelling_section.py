"""The section of the report that tells by which columns positives are labelled."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from spark_pufs import Selection, select
from spark_pufs.report import to_html, to_markdown


def checked(region: bool) -> Selection:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    X[:800, :3] += 4
    chance = np.where(X[:, 3] > 0, 0.5, 0.1) if region else np.full(2000, 0.3)
    label = ((np.arange(2000) < 800) & (rng.random(2000) < chance)).astype(int)
    table = pd.DataFrame(X, columns=["a", "b", "c", "re|gion"]).assign(label=label)
    return select(table, label="label", method="semi-mim", k=2, check_labels=True)


def test_the_column_that_labels_follow_is_a_line_of_a_table() -> None:
    found = checked(region=True)
    html, text = to_html(found), to_markdown(found)
    assert '<h2 id="labels">Who gets a label</h2>' in html
    assert '<a href="#labels">' in html
    assert re.search(r're\|gion</span></td><td class="n">[^c<]+</td>.*labels depend on it', html)
    assert "## Who gets a label\n\nDepends." in text
    (line,) = [line for line in text.splitlines() if line.startswith("| re\\|gion |") and "depend" in line]
    assert line.endswith("| labels depend on it |")


def test_no_section_without_the_check() -> None:
    found = select(pd.DataFrame({"a": [1, 2] * 50, "label": [1, 0, 0, 0] * 25}), label="label", method="semi-mim", k=1)
    assert "Who gets a label" not in to_html(found) + to_markdown(found)
