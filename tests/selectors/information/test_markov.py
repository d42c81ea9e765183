"""IAMB against brute force and against a network whose Markov blanket is known."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from sklearn.metrics import mutual_info_score

from spark_pufs import select

BLANKET = {"parent1", "parent2", "child", "spouse"}


def network(rows: int, labelled: float, seed: int) -> pd.DataFrame:
    """parent1, parent2 -> y -> child <- spouse; grandparent -> parent1; grandchild <- child; two noise columns.

    The label ``s`` is 1 or -1 where known, 0 elsewhere; ``y`` is the class itself.
    """
    rng = np.random.default_rng(seed)

    def flip(x: np.ndarray, share: float) -> np.ndarray:
        return np.where(rng.random(rows) < share, 1 - x, x)

    grandparent = rng.integers(0, 2, rows)
    parent1 = flip(grandparent, 0.25)
    parent2 = rng.integers(0, 3, rows)
    y = (rng.random(rows) < 0.05 + 0.45 * parent1 + 0.2 * parent2).astype(int)
    spouse = rng.integers(0, 2, rows)
    child = flip(y & spouse, 0.1) + flip(y, 0.3)
    frame = pd.DataFrame(
        {
            "noise1": rng.integers(0, 3, rows),
            "grandparent": grandparent,
            "parent1": parent1,
            "parent2": parent2,
            "child": child,
            "spouse": spouse,
            "grandchild": flip((child > 0).astype(int), 0.2),
            "noise2": rng.integers(0, 2, rows),
        }
    )
    known = rng.random(rows) < labelled
    return frame.assign(y=y, s=np.where(known, 2 * y - 1, 0))


class BruteForce:
    """IAMB from its definition, with I(X;Y|Z) summed over the groups of z."""

    def __init__(self, table: pd.DataFrame, surrogate: str, alpha: float) -> None:
        self.table, self.alpha = table, alpha
        self.names = [name for name in table if name not in ("s", "y")]
        self.rows = table[table["s"] != 0] if surrogate in ("labelled", "pairwise") else table
        self.y = (self.rows["s"] >= 0) if surrogate == "y1" else (self.rows["s"] > 0)
        self.information = cache(self._pairwise if surrogate == "pairwise" else self._plain)

    def _plain(self, x: str, given: frozenset[str]) -> float:
        if not given:
            return float(mutual_info_score(self.rows[x], self.y))
        groups = self.rows.groupby(sorted(given)).groups.values()
        return sum(
            len(rows) / len(self.rows) * mutual_info_score(self.rows.loc[rows, x], self.y[rows]) for rows in groups
        )

    def _pairwise(self, x: str, given: frozenset[str]) -> float:
        """Mean over labelled rows of log p(x|y,z) / p(x|z): the first from labelled rows, the second from all."""
        z = sorted(given)
        key = ["class", *z]
        labelled = self.rows.assign(**{"class": self.y})
        joint = labelled.groupby([*key, x]).size()
        class_size, everyone = labelled.groupby(key).size(), self.table.groupby([*z, x]).size()
        group_size = self.table.groupby(z).size() if z else None
        total = 0.0
        for index, count in joint.items():
            own, value = index[1:-1], index[-1]
            size = group_size.loc[own if len(own) > 1 else own[0]] if z else len(self.table)
            inside = everyone.loc[(*own, value) if z else value]
            given_class = count / class_size.loc[index[:-1] if z else index[0]]
            total += count * math.log(given_class / (inside / size))
        return max(total / len(self.rows), 0.0)

    def p_value(self, x: str, given: frozenset[str]) -> float:
        df = (self.table[x].nunique() - 1) * math.prod(self.table[z].nunique() for z in given)
        return float(chi2.sf(2 * len(self.rows) * self.information(x, given), df))

    def run(self) -> tuple[list[str], dict[str, float]]:
        """Features in the order they came in, and those that stay with their final information."""
        grown: list[str] = []
        while True:
            given = frozenset(grown)
            passing = [x for x in self.names if x not in given and self.p_value(x, given) < self.alpha]
            if not passing:
                break
            grown.append(max(passing, key=lambda x: self.information(x, given)))
        kept = list(grown)
        for x in grown:
            if self.p_value(x, frozenset(kept) - {x}) >= self.alpha:
                kept.remove(x)
        return grown, {x: self.information(x, frozenset(kept) - {x}) for x in kept}


def choose(table: pd.DataFrame, method: str, **options: Any) -> Any:
    words = table.drop(columns="y").astype({name: str for name in table if name not in ("s", "y")})
    return select(words, label="s", negative=-1, method=method, **options)


CASES = [
    ("iamb", "labelled", {}),
    ("iamb", "y0", {"surrogate": "y0"}),
    ("semi-iamb", "y0", {"prior": 0.2}),
    ("semi-iamb", "y1", {"prior": 0.9}),
    ("listwise-iamb", "labelled", {}),
    ("pairwise-iamb", "pairwise", {}),
]


@pytest.mark.parametrize(("method", "surrogate", "options"), CASES)
def test_against_brute_force(method: str, surrogate: str, options: dict[str, Any]) -> None:
    table = network(800, 0.4, seed=1)
    alpha = 0.01
    found = choose(table, method, alpha=alpha, **options)
    grown, kept = BruteForce(table, surrogate, alpha).run()
    assert found.details["grown"] == grown
    assert dict(zip(found.names, found.scores, strict=True)) == pytest.approx(kept, rel=1e-9)
    assert found.scores == sorted(found.scores, reverse=True)


def test_with_every_label_the_blanket_is_found() -> None:
    table = network(6_000, 1.0, seed=2)
    assert set(choose(table, "iamb", alpha=0.001).names) == BLANKET


def test_semi_supervised_blanket_from_some_labels() -> None:
    """A third of the rows labelled, p(y=1) near a half: the surrogate still separates the blanket."""
    table = network(20_000, 0.33, seed=3)
    assert set(choose(table, "semi-iamb", alpha=0.001, prior=0.45).names) == BLANKET


def test_positives_alone() -> None:
    table = network(20_000, 0.5, seed=4)
    table["s"] = table["s"].clip(lower=0)
    found = select(table.drop(columns="y"), label="s", method="semi-iamb", alpha=0.001, bins=3)
    assert found.surrogate["name"] == "y0"
    assert set(found.names) == BLANKET


def test_noise_alone_gives_an_empty_blanket() -> None:
    table = network(3_000, 0.5, seed=5)[["noise1", "noise2", "y", "s"]]
    found = choose(table, "semi-iamb", alpha=0.001)
    assert found.names == []
    assert [feature.rank for feature in found.features] == [1, 2]


def test_the_note_tells_the_p_value_given_the_rest() -> None:
    table = network(1_500, 1.0, seed=6)
    brute = BruteForce(table, "labelled", 0.001)
    found = choose(table, "iamb", alpha=0.001)
    for feature in found.features[: len(found.names)]:
        p = brute.p_value(feature.name, frozenset(found.names) - {feature.name})
        assert feature.notes == f"log10 p = {math.log10(p):.1f} given the rest of the blanket"


def test_k_stops_the_growth() -> None:
    table = network(3_000, 0.5, seed=7)
    free = choose(table, "semi-iamb", prior=0.4)
    bound = choose(table, "semi-iamb", prior=0.4, k=2)
    assert bound.details["grown"] == free.details["grown"][:2]
    assert len(bound.names) <= 2


def test_must_enters_first_and_is_not_shrunk_away() -> None:
    table = network(6_000, 1.0, seed=2)
    found = choose(table, "iamb", alpha=0.001, must="noise2")
    assert found.details["grown"][0] == "noise2"
    assert set(found.names) == BLANKET | {"noise2"}


def test_never_stays_out() -> None:
    table = network(6_000, 1.0, seed=2)
    found = choose(table, "iamb", alpha=0.001, never="parent1")
    assert "parent1" not in found.names
    assert "grandparent" in found.names  # its parent no longer shields it


def test_a_redundant_copy_does_not_enter() -> None:
    table = network(3_000, 1.0, seed=8)
    table.insert(0, "twin", table["parent1"])
    found = choose(table, "iamb", alpha=0.001, copies="all")
    assert "twin" in found.names  # equal columns: the first one enters ...
    assert "parent1" not in found.details["grown"]  # ... and leaves nothing to the other


def test_growth_stops_with_a_warning_when_counts_would_not_fit() -> None:
    """100 features of five levels: a configuration takes 3 x 500 x 8 bytes, so 1 MB holds 87: 5 x 5, not 5 x 5 x 5."""
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 3_000)
    told = np.where(rng.random((3, 3_000)) < 0.5, 4 * y, rng.integers(0, 5, (3, 3_000)))
    X = np.vstack([told, rng.integers(0, 5, (97, 3_000))])
    table = pd.DataFrame(X.T, columns=[f"f{i}" for i in range(100)]).assign(s=y)
    bound, free = (select(table, label="s", method="iamb", pair_memory_mb=memory, alpha=1e-6) for memory in (0, 256))
    assert set(free.names) == {"f0", "f1", "f2"}
    assert free.warnings == ()
    assert bound.details["grown"] == free.details["grown"][:2]
    assert bound.warnings == (
        "The blanket stopped growing because counts given one feature more would pass pair_memory_mb.",
    )
