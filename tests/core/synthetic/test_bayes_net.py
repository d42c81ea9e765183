"""Bayesian networks: hand-worked blankets and marginals, and the published sizes of four networks."""

from __future__ import annotations

import gzip
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from spark_pufs.core.synthetic.bayes_net import Network, marginal, markov_blanket, parse_bif, sample, targets
from spark_pufs.errors import DataError

# cloud -> rain -> wet <- sprinkler, wet -> slip; "far" stands alone.
TINY = """
network unknown {
}
variable cloud {
  type discrete [ 2 ] { yes, no };
}
variable rain {
  type discrete [ 3 ] { none, some, much };
}
variable sprinkler {
  type discrete [ 2 ] { on, off };
}
variable wet {
  type discrete [ 2 ] { yes, no };
}
variable slip {
  type discrete [ 2 ] { yes, no };
}
variable far {
  type discrete [ 2 ] { a, b };
}
probability ( cloud ) {
  table 0.5, 0.5;
}
probability ( rain | cloud ) {
  (yes) 0.2, 0.4, 0.4;
  (no) 0.8, 0.1, 0.1;
}
probability ( sprinkler ) {
  table 0.25, 0.75;
}
probability ( wet | rain, sprinkler ) {
  (none, on) 0.8, 0.2;
  (some, on) 0.9, 0.1;
  (much, on) 1.0, 0.0;
  (none, off) 0.0, 1.0;
  (some, off) 0.6, 0.4;
  (much, off) 0.9, 0.1;
}
probability ( slip | wet ) {
  (yes) 0.3, 0.7;
  (no) 0.05, 0.95;
}
probability ( far ) {
  table 0.1, 0.9;
}
"""

NETS = Path(__file__).resolve().parents[4] / "shared" / "data" / "bayes_nets"
# Nodes, arcs, parameters: the Bayesian network repository. Targets: Sechidis & Brown 2017, Table 2. The sum
# of their blankets is the table's for alarm and hailfinder (5.6 x 5, 4.9 x 20), ours for the other two.
PUBLISHED = {
    "alarm": (37, 46, 509, 5, 28),
    "insurance": (27, 52, 1_008, 10, 57),
    "barley": (48, 84, 114_005, 10, 57),
    "hailfinder": (56, 66, 2_656, 20, 98),
}


@pytest.fixture(scope="module")
def tiny() -> Network:
    return parse_bif(TINY)


def published(name: str) -> Network:
    path = NETS / f"{name}.bif.gz"
    if not path.exists():
        pytest.skip(f"network file {name}.bif.gz is not beside the repository (shared/data/bayes_nets)")
    with gzip.open(path, "rt") as file:
        return parse_bif(file.read())


def test_parse_keeps_order_states_parents_and_axes(tiny: Network) -> None:
    assert tiny.names == ("cloud", "rain", "sprinkler", "wet", "slip", "far")
    wet = tiny.nodes["wet"]
    assert (wet.states, wet.parents, wet.table.shape) == (("yes", "no"), ("rain", "sprinkler"), (3, 2, 2))
    assert wet.table[1, 1].tolist() == [0.6, 0.4]
    assert wet.table[2, 0].tolist() == [1.0, 0.0]
    assert wet.parameters == 6


def test_blanket_is_parents_children_and_spouses(tiny: Network) -> None:
    assert markov_blanket(tiny, "rain") == {"cloud", "wet", "sprinkler"}
    assert markov_blanket(tiny, "wet") == {"rain", "sprinkler", "slip"}
    assert markov_blanket(tiny, "sprinkler") == {"rain", "wet"}
    assert markov_blanket(tiny, "far") == set()
    assert tiny.spouses("rain") == {"sprinkler"}


def test_a_target_has_parent_child_and_spouse(tiny: Network) -> None:
    assert targets(tiny) == ("rain",)  # p(rain = none) = (0.2 + 0.8) / 2 = 0.5
    assert targets(tiny, most=0.49) == ()
    commoner = parse_bif(TINY.replace("(no) 0.8, 0.1, 0.1", "(no) 0.9, 0.05, 0.05"))  # p(rain = none) = 0.55
    assert targets(commoner) == ()
    rare = TINY.replace("(yes) 0.2, 0.4, 0.4", "(yes) 0.1, 0.5, 0.4").replace(
        "(no) 0.8, 0.1, 0.1", "(no) 0.1, 0.8, 0.1"
    )
    assert targets(parse_bif(rare)) == ()  # 0.1


def test_marginal_by_hand(tiny: Network) -> None:
    np.testing.assert_allclose(marginal(tiny, "rain"), [0.5, 0.25, 0.25])
    # on: .25 (.5*.8 + .25*.9 + .25*1) = .21875; off: .75 (.25*.6 + .25*.9) = .28125
    np.testing.assert_allclose(marginal(tiny, "wet"), [0.5, 0.5])
    np.testing.assert_allclose(marginal(tiny, "slip"), [0.175, 0.825])


def test_sample_follows_the_joint_distribution(tiny: Network) -> None:
    n = 200_000
    rows = sample(tiny, n, np.random.default_rng(5))
    assert rows.shape == (n, 6)
    assert rows.dtype == np.uint8
    rain, sprinkler, wet = rows[:, 1], rows[:, 2], rows[:, 3]
    for i, j, k in product(range(3), range(2), range(2)):
        expected = [0.5, 0.25, 0.25][i] * [0.25, 0.75][j] * tiny.nodes["wet"].table[i, j, k]
        share = np.mean((rain == i) & (sprinkler == j) & (wet == k))
        assert abs(share - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / n)


def test_sample_depends_on_the_generator_only(tiny: Network) -> None:
    first, again, other = (sample(tiny, 50, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert sample(tiny, 0, np.random.default_rng(1)).shape == (0, 6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "network: no variable found. Give the text of a BIF file."),
        ("variable a { type discrete [ 2 ] { t, f }; }", "variable 'a': has no probability block. Add one."),
        (TINY.replace("| cloud", "| clowd"), "probability of 'rain': unknown variable 'clowd'. Declare it."),
        (
            TINY.replace("(yes) 0.2, 0.4", "(yes) 0.9, 0.4"),
            "probability of 'rain': a row is missing or does not sum to 1",
        ),
        (
            TINY.replace("  (no) 0.8, 0.1, 0.1;", ""),
            "probability of 'rain': a row is missing or does not sum to 1",
        ),
        (TINY.replace("(none, on)", "(nil, on)"), "probability of 'wet': unreadable row ('nil')"),
        (
            "variable a { type discrete [ 2 ] { t, f }; } variable b { type discrete [ 2 ] { t, f }; }"
            "probability ( a | b ) { (t) 0.5, 0.5; (f) 0.5, 0.5; }"
            "probability ( b | a ) { (t) 1, 0; (f) 0, 1; }",
            "network: has a cycle through",
        ),
    ],
)
def test_broken_text(text: str, message: str) -> None:
    with pytest.raises(DataError) as error:
        parse_bif(text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_sizes_and_targets(name: str) -> None:
    net = published(name)
    nodes, arcs, parameters, wanted, blankets = PUBLISHED[name]
    assert (len(net.names), len(net.arcs)) == (nodes, arcs)
    assert sum(node.parameters for node in net.nodes.values()) == parameters
    found = targets(net)
    assert len(found) == wanted
    assert sum(len(markov_blanket(net, v)) for v in found) == blankets


def test_published_samples_agree_with_exact_marginals() -> None:
    net, n = published("insurance"), 100_000
    rows = sample(net, n, np.random.default_rng(3))
    for j, name in enumerate(net.names):
        exact = marginal(net, name)
        share = np.bincount(rows[:, j], minlength=len(exact)) / n
        # 90 states are compared: 4.5 standard errors, and a count of slack where a state hardly occurs.
        assert (np.abs(share - exact) <= 4.5 * np.sqrt(exact * (1 - exact) / n) + 1 / n).all(), name
