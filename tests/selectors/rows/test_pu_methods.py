"""What pufs, pucfs, apucfs and prfs owe every user, and what each of them owes its paper."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from spark_pufs import Selection, select
from spark_pufs.core.pu.cfs import Correlations, Subset
from spark_pufs.core.synthetic.artificial import CONDITIONS, make_artificial
from spark_pufs.errors import ConfigError
from spark_pufs.selectors.information.set_search import best_first, forward_backward
from spark_pufs.table.limits import Limits

OPTIONS: dict[str, dict[str, Any]] = {
    "pufs": {"alpha": "balance"},
    "pucfs": {"prior": 0.3},
    "apucfs": {},
    "prfs": {},
}
METHODS = list(OPTIONS)


def table(seed: int = 0, rows: int = 400, features: int = 6) -> pd.DataFrame:
    """Gaussian features that tell a hidden class less and less; 40 % of the positives are labelled."""
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.3
    X = rng.normal(size=(rows, features)) + y[:, None] * np.linspace(3, 0, features)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(features)])
    return frame.assign(s=(y & (rng.random(rows) < 0.4)).astype(int))


def choose(frame: pd.DataFrame, method: str, **options: Any) -> Selection:
    return select(frame, label="s", method=method, **{**OPTIONS[method], **options})


@pytest.mark.parametrize("method", METHODS)
def test_the_telling_features_come_first(method: str) -> None:
    found = choose(table(), method, k=3)
    assert set(found.names) == {"f0", "f1", "f2"}
    assert len(found.features) == 6
    assert all(np.isfinite([feature.score, feature.standard_error]).all() for feature in found.features)


@pytest.mark.parametrize("method", ["pucfs", "apucfs", "prfs"])
def test_errors_are_told_where_there_are_any(method: str) -> None:
    assert all(feature.standard_error > 0 for feature in choose(table(), method, k=3).features)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_answer_and_row_order_does_not_matter(method: str) -> None:
    first, again = (choose(table(1), method, k=4, seed=3) for _ in range(2))
    moved = choose(table(1).sample(frac=1, random_state=1), method, k=4, seed=3)
    assert first.features == again.features == moved.features


@given(st.permutations(range(6)), st.integers(1, 6), st.sampled_from(METHODS))
@settings(max_examples=20)
def test_any_order_of_columns_gives_the_same_set(order: list[int], k: int, method: str) -> None:
    frame = table(2)
    first, second = (choose(t, method, k=k) for t in (frame, frame.iloc[:, [*order, 6]]))
    assert set(first.names) == set(second.names)


@pytest.mark.parametrize("method", METHODS)
def test_one_all_and_too_many(method: str) -> None:
    one, everything, beyond = (choose(table(3), method, k=k) for k in (1, 6, 60))
    assert one.names == everything.names[:1]
    assert sorted(everything.names) == [f"f{i}" for i in range(6)]
    assert (beyond.names, beyond.scores) == (everything.names, everything.scores)


@pytest.mark.parametrize("method", METHODS)
def test_equal_columns_tie_in_column_order(method: str) -> None:
    frame = table(4)[["f5", "f1", "s"]].assign(copy=table(4)["f1"], again=table(4)["f1"])
    found = choose(frame[["f5", "again", "f1", "copy", "s"]], method, k=1, copies="all")
    assert found.names == ["again"]
    if method != "pufs":
        assert [f.name for f in found.features if f.name != "f5"] == ["again", "f1", "copy"]
    if method in ("pufs", "prfs"):
        assert len({feature.score for feature in found.features if feature.name != "f5"}) == 1


@pytest.mark.parametrize("method", METHODS)
def test_must_never_and_budget(method: str) -> None:
    frame = table(5)
    free = choose(frame, method, k=6)
    best, worst = free.names[0], free.names[-1]
    bound = choose(frame, method, k=2, must=worst, never=best)
    assert bound.names[0] == worst
    assert len(bound.names) == 2
    assert best not in bound.names
    paid = choose(frame, method, budget=4.0, costs={best: 3.0, "f5": 2.0})
    assert paid.cost <= 4.0
    assert all(feature.cost > 4.0 - paid.cost for feature in paid.features if not feature.selected)


@pytest.mark.parametrize("method", METHODS)
def test_constant_missing_and_infinite_values(method: str) -> None:
    frame = table(6).assign(zero=0)
    frame.loc[:40, "f0"] = np.nan
    frame.loc[3, "f1"] = np.inf
    found = choose(frame, method, k=2)
    assert found.dropped == {"zero": "constant"}
    assert len(found.names) == 2


@pytest.mark.parametrize("method", METHODS)
def test_one_labelled_row(method: str) -> None:
    frame = table(7)
    frame["s"] = 0
    frame.loc[frame["f0"].idxmax(), "s"] = 1
    assert len(choose(frame, method, k=2).names) == 2


@pytest.mark.parametrize("method", METHODS)
def test_labelled_negatives_are_taken(method: str) -> None:
    frame = table(8)
    frame.loc[frame["f0"] < -1, "s"] = -1
    found = choose(frame, method, k=2, negative=-1)
    assert "f0" in found.names


@pytest.mark.parametrize("method", ["pucfs", "apucfs"])
def test_text_features_count_as_they_are(method: str) -> None:
    frame = table(9).round() + 0.0  # one zero: text would tell -0.0 from it
    words = frame.assign(**{f"f{i}": frame[f"f{i}"].map("v{}".format) for i in range(6)})
    numbers, text = (choose(t, method, k=3, bins=40) for t in (frame, words))
    assert text.names == numbers.names
    assert text.scores == pytest.approx(numbers.scores)


@pytest.mark.parametrize("method", ["pufs", "prfs"])
def test_text_is_read_as_numbers(method: str) -> None:
    frame = table(10)
    found = choose(frame.assign(word=np.where(frame["s"] == 1, "yes", "no")), method, k=2)
    assert found.dropped == {}
    assert "word" in found.names


# --- prfs


def test_prfs_is_the_auc_in_the_better_direction() -> None:
    frame = table(11).assign(upside_down=lambda t: -t["f1"])
    found = choose(frame, "prfs", k=7, copies="all")  # upside down is a copy
    score = {feature.name: feature.score for feature in found.features}
    for name in frame.columns.drop("s"):
        auc = roc_auc_score(frame["s"], frame[name])
        assert score[name] == pytest.approx(max(auc, 1 - auc), abs=1e-12)
    notes = {feature.name: feature.notes for feature in found.features}
    assert (notes["f1"], notes["upside_down"]) == ("labelled rows lie higher", "labelled rows lie lower")
    assert found.details["exact"]
    assert found.details["sample"] == "all rows, in cells cut at every labelled value"


# --- pucfs and apucfs


def correlations(seed: int, features: int = 8) -> Correlations:
    rng = np.random.default_rng(seed)
    both = rng.random((features, features)) * rng.random()
    both = both + both.T
    np.fill_diagonal(both, 0.0)
    return Correlations(rng.random(features), np.zeros(features), lambda j: both[j])


def bounds(features: int, k: int, must: tuple[int, ...] = ()) -> Limits:
    return Limits(k, np.ones(features), np.inf, must, np.zeros(features, bool))


def best_of_all(known: Correlations, k: int) -> float:
    merits = []
    for size in range(1, k + 1):
        for features in combinations(range(len(known.relevance)), size):
            subset = Subset.empty(len(known.relevance))
            for feature in features:
                subset = subset.add(feature, known)
            merits.append(subset.merit)
    return max(merits)


@given(st.integers(0, 1000), st.integers(1, 8))
@settings(max_examples=30)
def test_searches_come_near_the_best_of_all_sets(seed: int, k: int) -> None:
    known = correlations(seed)
    limit = best_of_all(known, k)
    for found in (forward_backward(known, bounds(8, k)), best_first(known, bounds(8, k), patience=5)):
        assert 0.9 * limit <= found.merit <= limit + 1e-12
        assert len(found.features) <= k
    assert best_first(known, bounds(8, k), patience=300).merit == pytest.approx(limit)


def test_searches_keep_what_must_be() -> None:
    known = correlations(1)
    worst = int(np.argmin(known.relevance))
    for found in (
        forward_backward(known, bounds(8, 4, (worst,))),
        best_first(known, bounds(8, 4, (worst,)), patience=5),
    ):
        assert found.features[0] == worst


@pytest.mark.parametrize("seed", range(20))
def test_searches_keep_groups_whole(seed: int) -> None:
    """And end, although a group that a step adds may lower the merit."""
    known = correlations(seed)
    limits = replace(bounds(8, 3), units=np.array([0, 0, 1, 1, 1, 2, 3, 4]))
    for found in (forward_backward(known, limits), best_first(known, limits, patience=5)):
        units = [tuple(sorted(unit)) for unit in limits.split(found.features)]
        assert 0 < len(units) <= 3
        assert set(units) <= {(0, 1), (2, 3, 4), (5,), (6,), (7,)}


@pytest.mark.parametrize("search", ["forward-backward", "best-first"])
def test_without_k_the_merit_decides_and_leaves_copies_out(search: str) -> None:
    frame = table(12)[["f0", "f5", "s"]].assign(copy=lambda t: t["f0"])
    assert choose(frame, "pucfs", search=search, copies="all").names == ["f0"]
    found = choose(table(12), "pucfs", search=search)
    assert found.details["best_size"] == len(found.names) < 6
    assert found.scores[-1] == pytest.approx(found.details["merit"])
    assert found.scores == sorted(found.scores)  # each feature raised the merit


def test_k_beyond_the_best_size_is_filled_and_noted_unless_told() -> None:
    filled, short = (choose(table(13), "pucfs", k=6, fill=fill) for fill in ("auto", False))
    best = filled.details["best_size"]
    assert len(filled.names) == 6 > best
    assert short.names == filled.names[:best]
    notes = [feature.notes for feature in filled.features]
    assert [bool(note) for note in notes] == [False] * best + [True] * (6 - best)


def test_pucfs_asks_for_a_prior() -> None:
    with pytest.raises(ConfigError, match=r"method 'pucfs' needs one\. Give the share of positives"):
        select(table(), label="s", method="pucfs", k=2)


@pytest.mark.parametrize("method", ["pucfs", "apucfs"])
def test_a_prior_below_the_labelled_share_is_refused(method: str) -> None:
    with pytest.raises(ConfigError, match="leaves fewer positives than are labelled"):
        choose(table(), method, prior=0.01)


def test_what_was_believed_is_told() -> None:
    def told(method: str, **options: Any) -> dict[str, Any]:
        return dict(choose(table(), method, k=2, **options).details)

    assert told("pucfs", prior=(0.2, 0.4))["prior"] == pytest.approx(0.3)
    assert told("pucfs", prior=(0.2, 0.4))["prior_from"] == "the middle of 0.2 to 0.4"
    assert told("apucfs", prior=0.3, strength=20)["prior_beta"] == pytest.approx([6, 14])
    assert told("apucfs", beta=[2, 5])["prior_beta"] == [2.0, 5.0]
    low = told("apucfs", prior=(0.2, 0.4))
    assert low["prior_beta"] == pytest.approx([0.3 * 83, 0.7 * 83])
    default = told("apucfs")
    assert default["prior_from"].startswith("default")
    assert sum(default["prior_beta"]) == pytest.approx(5)
    share = table()["s"].mean()
    assert default["prior"] == pytest.approx(share + (1 - share) / 5)


def test_a_sure_belief_makes_apucfs_pucfs() -> None:
    point = choose(table(14), "pucfs", k=6, prior=0.3)
    sure = choose(table(14), "apucfs", k=6, prior=0.3, strength=1e8)
    assert sure.names == point.names
    assert sure.scores == pytest.approx(point.scores, rel=1e-4)


# --- pufs


def test_pufs_warns_where_the_graph_outweighs_the_labels() -> None:
    data = make_artificial(CONDITIONS[0], seed=100, negatives=800, positives=100)
    frame = pd.DataFrame(data.X, columns=data.names).assign(s=data.s.astype(int))
    paper, balance = (choose(frame, "pufs", k=25, alpha=alpha) for alpha in (1.0, "balance"))
    assert any("outweighs the labelled rows" in warning for warning in paper.warnings)
    assert not balance.warnings
    found = [sum(name.startswith("relevant") for name in s.names) for s in (paper, balance)]
    assert found[0] < found[1]


def test_pufs_samples_and_says_so() -> None:
    found = choose(table(15, rows=1000), "pufs", k=2, rows=300)
    assert found.details["sample"] == "a sample of 300 of 1,000 rows"
    assert choose(table(15), "pufs", k=2).details["sample"] == "all 400 rows"


def test_pufs_thins_what_it_links() -> None:
    found = choose(table(16), "pufs", k=2, linked=20)
    assert found.details["linked"] == {"positive": 20, "negative": 20}
    assert choose(table(16), "pufs", k=2, negatives=7).details["linked"]["negative"] == 7


def test_pufs_of_rows_that_are_all_alike_but_two() -> None:
    frame = pd.DataFrame({"a": [0.0] * 20 + [1.0], "b": [0.0] * 20 + [2.0], "s": [0] * 20 + [1]})
    assert choose(frame, "pufs", k=2).names == ["a", "b"]


def test_pufs_without_an_edge_in_the_graph() -> None:
    assert choose(table(17), "pufs", k=1, theta=1e-3).details["edges"] == 0


@pytest.mark.parametrize(("option", "value"), [("alpha", 0), ("theta", "wide"), ("steps", 0), ("scale", "none")])
def test_pufs_options_are_checked(option: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"Option '{option}': must be"):
        choose(table(), "pufs", **{option: value})
