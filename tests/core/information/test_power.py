"""Power: hand-worked factors, published chi-square tables, and simulated tests as in Figs 3 and 4."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import xlogy
from scipy.stats import chi2

from spark_pufs.core.information.power import (
    EFFECTS,
    g_power,
    g_sample_size,
    kappa_ends,
    kappa_mar_c,
    kappa_mcar,
    labelled_positives,
    power,
    power_report,
    sample_size,
)
from spark_pufs.core.information.surrogate import Labels, SurrogateName, apply_surrogate, switching_threshold
from spark_pufs.errors import ConfigError

ALPHA = 0.10
Shares = tuple[float, float]  # p(s=1|y=0), p(s=1|y=1)


def information(joint: NDArray[np.float64]) -> float:
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return float(xlogy(joint, joint / outer).sum())


def make_joint(effect: float, prior: float, levels: int) -> NDArray[np.float64]:
    """p(y, x), shape (2, levels), with I(X;Y) = effect: X is uniform, tilted to either side by class."""
    tilt = np.linspace(-1, 1, levels) / levels

    def joint(size: float) -> NDArray[np.float64]:
        flat = np.full(levels, 1 / levels)
        return np.array([(1 - prior) * flat - prior * size * tilt, prior * (flat + size * tilt)])

    largest = 0.999 * min(1, (1 - prior) / prior)
    return joint(brentq(lambda size: information(joint(size)) - effect, 0, largest)) if effect else joint(0)


def label_tables(
    joint: NDArray[np.float64], shares: Shares, n: int, repeats: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Drawn counts: by label state (3, repeats, levels), and by the hidden class (2, repeats, levels)."""
    seen = np.array(shares)[:, None]
    cells = np.stack([joint * (1 - seen), joint * seen])  # s, y, x
    draws = np.random.default_rng(seed).multinomial(n, cells.ravel(), size=repeats)
    counts = np.moveaxis(draws.reshape(repeats, *cells.shape), 0, 2)
    return np.stack([counts[0].sum(axis=0), counts[1, 1], counts[1, 0]]), counts.sum(axis=0)


def rejection_rate(counts: NDArray[np.int64]) -> float:
    """Share of repeats whose G-test rejects independence; counts (2, repeats, levels)."""
    rows, columns = counts.sum(axis=2, keepdims=True), counts.sum(axis=0, keepdims=True)
    expected = rows * columns / counts.sum(axis=(0, 2), keepdims=True)
    ratio = np.divide(counts, expected, out=np.ones(counts.shape), where=counts > 0)
    statistic = 2 * xlogy(counts, ratio).sum(axis=(0, 2))
    return float(np.mean(statistic >= chi2.isf(ALPHA, counts.shape[2] - 1)))


def standard_error(rate: float, repeats: int) -> float:
    return math.sqrt(rate * (1 - rate) / repeats)


def test_mcar_factors_by_hand() -> None:
    assert kappa_mcar("labelled", 0.2, 0.25) == 0.25
    assert kappa_mcar("y0", 0.2, 0.25) == pytest.approx(0.25 * 0.8 / 0.95)
    assert kappa_mcar("y1", 0.2, 0.25) == pytest.approx(0.25 * 0.2 / 0.80)
    assert kappa_mcar("y0", 0.2, 1.0) == kappa_mcar("y1", 0.2, 1.0) == 1


def test_mar_c_factors_by_hand() -> None:
    assert kappa_mar_c("y0", 0.2, 0.125) == pytest.approx(4 / 7)
    assert kappa_mar_c("y1", 0.2, 0.125) == pytest.approx(1 / 28)
    assert kappa_mar_c("y0", 0.2, 0.2) == pytest.approx(1)  # every positive labelled
    assert kappa_mar_c("y1", 0.2, 0.8) == pytest.approx(1)


@pytest.mark.parametrize("name", ["y0", "y1"])
def test_mcar_is_a_case_of_mar_c(name: SurrogateName) -> None:
    share = 0.25 * (0.2 if name == "y0" else 0.8)
    assert kappa_mar_c(name, 0.2, share) == pytest.approx(kappa_mcar(name, 0.2, 0.25), rel=1e-14)


def test_factor_is_exact_for_squared_loss_information() -> None:
    """Theorem 4 holds for I2 at any effect, not only small ones."""
    joint = make_joint(0.06, 0.2, 4)

    def squared(p: NDArray[np.float64]) -> float:
        outer = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
        return float(((p - outer) ** 2 / (2 * outer)).sum())

    y0 = np.stack([joint[0] + joint[1] * 0.7, joint[1] * 0.3])
    assert squared(y0) == pytest.approx(kappa_mar_c("y0", 0.2, 0.06) * squared(joint), rel=1e-12)


def test_range_of_priors_gives_the_worst_case() -> None:
    low, high = kappa_mar_c("y0", 0.05, 0.01), kappa_mar_c("y0", 0.2, 0.01)
    assert kappa_mar_c("y0", (0.05, 0.2), 0.01) == high < low
    assert kappa_ends("mar-c", "y0", (0.05, 0.2), 0.01) == (high, low)
    # y1 loses less the more positives there are.
    assert kappa_mcar("y1", (0.05, 0.2), 0.25) == kappa_mcar("y1", 0.05, 0.25)
    assert labelled_positives(0.01, 0.8, 5000, (0.05, 0.2)) == labelled_positives(0.01, 0.8, 5000, 0.2)


# lambda for power .80 and .90 at alpha .05, from tables of the non-central chi-square.
@pytest.mark.parametrize(
    ("df", "wanted", "shift"),
    [(1, 0.8, 7.849), (1, 0.9, 10.507), (2, 0.8, 9.635), (4, 0.8, 11.935), (10, 0.9, 20.532)],
)
def test_power_against_published_tables(df: int, wanted: float, shift: float) -> None:
    assert float(g_power(shift / 2, 1, df=df)) == pytest.approx(wanted, abs=2e-4)
    assert g_sample_size(0.001, wanted, df=df) == pytest.approx(shift / 0.002, abs=0.5)


def test_power_with_one_degree_is_a_normal_tail() -> None:
    """df = 1: P(|Z + sqrt(lambda)| > z)."""
    z, shift = math.sqrt(chi2.isf(0.05, 1)), 3.7

    def above(x: float) -> float:
        return 0.5 * math.erfc(x / math.sqrt(2))

    expected = above(z - math.sqrt(shift)) + above(z + math.sqrt(shift))
    assert float(g_power(shift / 2, 1)) == pytest.approx(expected, rel=1e-10)


def test_power_broadcasts_and_grows() -> None:
    table = g_power(np.array([[0.0], [0.001], [0.01]]), np.array([100, 1000, 10_000]), df=4, kappa=0.5)
    assert table.shape == (3, 3)
    np.testing.assert_allclose(table[0], 0.05, rtol=1e-9)
    assert (np.diff(table[1:], axis=1) > 0).all()


@pytest.mark.parametrize("df", [1, 2, 50, 10_000])
def test_power_stays_a_probability(df: int) -> None:
    values = g_power(np.array([0, 1e-300, 1e-12, 1e-4, 0.5])[:, None], np.logspace(0, 300, 31), df=df)
    assert np.isfinite(values).all()
    assert (values >= 0.05 * (1 - 1e-9)).all()
    assert (values <= 1).all()
    assert (values[-1, 2:] == 1).all()


@pytest.mark.parametrize(("df", "alpha"), [(1, 0.05), (4, 0.001), (800, 0.05), (10_000, 0.01)])
@pytest.mark.parametrize("effect", [1e-9, 0.003, 0.2])
@pytest.mark.parametrize("wanted", [0.2, 0.8, 0.999])
def test_sample_size_is_the_smallest(df: int, alpha: float, effect: float, wanted: float) -> None:
    n = g_sample_size(effect, wanted, alpha=alpha, df=df, kappa=0.3)
    below, at = g_power(effect, np.array([n - 1, n]), alpha=alpha, df=df, kappa=0.3)
    assert at >= wanted > below


@pytest.mark.parametrize("prior", [0.02, 0.2, 0.7])
@pytest.mark.parametrize("n", [4000, 50_000])
def test_labelled_positives_is_the_smallest(prior: float, n: int) -> None:
    count = labelled_positives(0.004, 0.8, n, prior, df=4)
    at, below = (
        float(g_power(0.004, n, df=4, kappa=kappa_mar_c("y0", prior, labelled / n))) for labelled in (count, count - 1)
    )
    assert at >= 0.8 > below


@pytest.mark.parametrize(
    ("prior", "shares", "informed"),
    [
        (0.2, (0.25, 0.25), ("labelled", "y0", "y1")),  # Fig. 3: MCAR
        (0.2, (0.125 / 0.8, 0.125 / 0.2), ("y0", "y1")),  # Fig. 4 a, b: p(y=1|s=1) = .5
        (0.2, (0.15 / 0.8, 0.05 / 0.2), ("y0", "y1")),  # Fig. 4 c, d: p(y=1|s=1) = .25
        (0.6, (0.5, 0.05), ("y0", "y1")),  # the other side of phi
        (0.1, (0.0, 0.3), ("y0",)),  # PU
    ],
)
@pytest.mark.parametrize("levels", [2, 5])
def test_simulated_tests_agree_with_the_formula(
    prior: float, shares: Shares, informed: tuple[SurrogateName, ...], levels: int
) -> None:
    """Many rows, a small effect (local alternatives): equal false-positive rates, power as computed."""
    n, repeats, seed = 40_000, 4000, 17
    mcar = shares[0] == shares[1]
    kappa: dict[SurrogateName, float] = {}
    for name in informed:
        share = prior * shares[1] if name == "y0" else (1 - prior) * shares[0]
        kappa[name] = kappa_mcar(name, prior, shares[0]) if mcar else kappa_mar_c(name, prior, share)
    effect = 7 / (2 * n * max(kappa.values()))
    null, hidden_null = label_tables(make_joint(0, prior, levels), shares, n, repeats, seed)
    real, hidden = label_tables(make_joint(effect, prior, levels), shares, n, repeats, seed + 1)
    assert rejection_rate(hidden_null) == pytest.approx(ALPHA, abs=4 * standard_error(ALPHA, repeats))
    assert rejection_rate(hidden) > max(rejection_rate(apply_surrogate(real, name)) for name in informed)
    for name in informed:
        wrong = rejection_rate(apply_surrogate(null, name))
        assert wrong == pytest.approx(ALPHA, abs=4 * standard_error(ALPHA, repeats)), name
        expected = float(g_power(effect, n, alpha=ALPHA, df=levels - 1, kappa=kappa[name]))
        found = rejection_rate(apply_surrogate(real, name))
        assert found == pytest.approx(expected, abs=4 * standard_error(expected, repeats)), name


@pytest.mark.parametrize("prior", [0.1, 0.25, 0.45, 0.6])
def test_simulated_power_switches_at_the_threshold(prior: float) -> None:
    """Labelled counts held fixed, so phi = 0.353 in each case: y0 wins exactly below it."""
    n, repeats = 40_000, 4000
    shares = (0.15 / (1 - prior), 0.05 / prior)
    phi = switching_threshold(Labels(round(0.05 * n), round(0.15 * n), round(0.8 * n)))
    larger = max(kappa_mar_c("y0", prior, 0.05), kappa_mar_c("y1", prior, 0.15))
    real, _ = label_tables(make_joint(5 / (2 * n * larger), prior, 5), shares, n, repeats, seed=23)
    y0, y1 = (rejection_rate(apply_surrogate(real, name)) for name in ("y0", "y1"))
    assert abs(y0 - y1) > 4 * math.hypot(standard_error(y0, repeats), standard_error(y1, repeats))
    assert (y0 > y1) == (prior < phi)


def test_paper_order_at_paper_size() -> None:
    """Figs 3b and 4b: leaving unlabelled rows out wins under MCAR, y0 wins in the extreme MAR-C case."""
    joint, n, repeats = make_joint(0.02, 0.2, 5), 1000, 4000
    rates = []
    for shares in ((0.25, 0.25), (0.125 / 0.8, 0.125 / 0.2)):
        real, _ = label_tables(joint, shares, n, repeats, seed=29)
        rates.append({name: rejection_rate(apply_surrogate(real, name)) for name in ("labelled", "y0", "y1")})
    assert rates[0]["labelled"] > rates[0]["y0"] > rates[0]["y1"]
    assert rates[1]["y0"] > rates[1]["labelled"] > rates[1]["y1"]


def test_user_calls() -> None:
    found = power(prior=(0.02, 0.05), labelled=100, rows=10_000, effect=0.003)
    assert found.surrogate == "y0"
    assert found.kappa == kappa_mar_c("y0", 0.05, 0.01)
    assert found.power == power(prior=0.05, labelled=100, rows=10_000, effect=0.003).power < found.best
    assert found.best == power(prior=0.02, labelled=100, rows=10_000, effect=0.003).power
    assert power(prior=0.7, labelled=50, rows=1000, effect=0.01, negatives=150).surrogate == "y1"
    assert power(prior=0.1, labelled=50, rows=1000, effect=0.01, levels=3, conditions=4).df == 8
    need = sample_size(prior=0.05, labelled=100, rows=10_000, effect=0.003)
    assert power(prior=0.05, labelled=need.labelled or 0, rows=10_000, effect=0.003).power >= 0.8
    assert str(need) == (
        "power 0.8 for an effect of 0.003 nats: 10,365 rows with this labelled share, "
        "or 104 positives labelled in these rows"
    )


def test_report() -> None:
    report = power_report(0.05, 20, 1000)
    assert [p.effect for p in report.powers] == list(EFFECTS)
    assert [n.labelled for n in report.needs][:2] == [None, None]
    assert str(report).splitlines() == [
        "1,000 rows, 20 labelled positives, prior 0.05, 5 levels, alpha 0.05: kappa 0.388",
        "  effect           power    rows for 0.8     or labelled",
        "   0.001           0.092          15,391   not reachable",
        "   0.003           0.195           5,131   not reachable",
        "    0.01           0.589           1,540              31",
        "    0.03           0.984             514              11",
        "     0.1               1             154               4",
    ]
    assert len(power_report((0.05, 0.1), 20, 1000, effect=0.01).powers) == 1
    assert len(power_report(0.05, 20, 1000, effect=[0.01, 0.02]).powers) == 2


def test_an_effect_is_at_most_the_entropy_of_the_class() -> None:
    entropy = -0.05 * math.log(0.05) - 0.95 * math.log(0.95)
    assert power(prior=0.05, labelled=10, rows=1000, effect=entropy).power > 0.9
    with pytest.raises(ConfigError, match=r"^effect: must lie in \(0, 0\.199\]"):
        power(prior=0.05, labelled=10, rows=1000, effect=entropy + 1e-9)
    # Over a range the largest entropy counts: at the end near a half, or at a half itself.
    assert power(prior=(0.05, 0.2), labelled=10, rows=1000, effect=0.5).power > 0
    assert power(prior=(0.05, 0.7), labelled=10, rows=1000, effect=math.log(2)).power > 0
    with pytest.raises(ConfigError, match=r"^effect: must lie in \(0, 0\.5\]"):
        power(prior=(0.8, 0.95), labelled=10, rows=1000, effect=0.6)


def test_report_without_effects_that_the_prior_rules_out() -> None:
    assert [p.effect for p in power_report(0.01, 10, 10_000).powers] == [0.001, 0.003, 0.01, 0.03]
    (only,) = power_report(1e-5, 10, 10_000_000).powers
    assert only.effect == pytest.approx(-1e-5 * math.log(1e-5) + 1e-5, rel=1e-4)


def test_labels_that_cannot_reach_it_are_told() -> None:
    need = sample_size(prior=0.05, labelled=10, rows=200, effect=0.0001)
    assert need.labelled is None
    assert str(need).endswith("rows with this labelled share, labels alone cannot reach it in these rows")


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("prior", "x", "prior: must be a number or a range (low, high), got 'x'"),
        ("prior", [0.1, 0.2], "prior: must be a number or a range (low, high), got [0.1, 0.2]"),
        ("prior", (0.1, 0.2, 0.3), "prior: must be a number or a range (low, high), got (0.1, 0.2, 0.3)"),
        ("effect", "x", "effect: must be a number, got 'x'. Give a number."),
        ("labelled", "10", "labelled: must be a number, got '10'"),
        ("rows", None, "rows: must be a number, got None"),
        ("levels", "5", "levels: must be a number, got '5'"),
    ],
)
def test_what_is_no_number(option: str, value: Any, words: str) -> None:
    for call in (power, sample_size):
        with pytest.raises(ConfigError) as error:
            call(**{"prior": 0.1, "labelled": 10, "rows": 1000, "effect": 0.01, option: value})
        assert str(error.value).startswith(words)


def test_bad_arguments() -> None:
    with pytest.raises(ConfigError, match=r"^prior: 0\.005 leaves fewer positives \(0\.005 of all rows\)"):
        power(prior=0.005, labelled=100, rows=10_000, effect=0.01)
    with pytest.raises(ConfigError, match=r"^rows: must exceed the 100 labelled rows, got 100"):
        power(prior=0.05, labelled=100, rows=100, effect=0.01)
    with pytest.raises(ConfigError, match="4 faults") as error:
        sample_size(prior=0.05, labelled=9, rows=1000, effect=2, target=1, levels=1, conditions=0)
    assert "effect: must lie in (0, 0.199], got 2. Give it in nats, at most the entropy." in str(error.value)
    assert "target: must lie between alpha = 0.05 and 1, got 1. Give e.g. 0.8." in str(error.value)
    with pytest.raises(ConfigError, match="no correction factor under MAR-C"):
        kappa_mar_c("labelled", 0.2, 0.1)
    with pytest.raises(ConfigError, match=r"^share: must lie in \(0, 1\], got 0"):
        kappa_mcar("y0", 0.2, 0)
    with pytest.raises(ConfigError, match=r"^power: must lie between alpha = 0\.05 and 1, got 0\.01"):
        g_sample_size(0.01, 0.01)
    with pytest.raises(ConfigError) as error:
        labelled_positives(0.001, 0.8, 1000, 0.05)
    assert str(error.value) == (
        "power: 0.8 is out of reach for 0.001 nats in 1,000 rows even with every positive labelled. "
        "Give more than 3,925 rows or a larger effect."
    )


def test_a_report_of_no_effect() -> None:
    with pytest.raises(ConfigError, match=r"effect: must be a number or several, got none\. For example 0\.01\."):
        power_report(prior=0.1, labelled=10, rows=100, effect=[])
