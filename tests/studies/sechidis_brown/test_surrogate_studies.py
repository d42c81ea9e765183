"""Figs 3 to 5 of Sechidis & Brown with tiny settings: closed forms, brute force, and what the theorems say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, spearmanr

from spark_pufs.errors import ConfigError
from spark_pufs.studies.sechidis_brown.planted_effects import (
    draw_given,
    estimated,
    information,
    labelled_share,
    with_surrogates,
)
from spark_pufs.studies.sechidis_brown.surrogate_ranking import EFFECTS, SurrogateRanking, label_some, spearman
from spark_pufs.studies.sechidis_brown.surrogate_tests import PANELS, PRIOR, SurrogateTests, draw_tables
from spark_pufs.studies.study import Study, long_form


def frame(study: Study) -> pd.DataFrame:
    return pd.DataFrame([long_form(study.name, row, 0.0) for unit in study.units() for row in study.run(unit)])


def test_tables_have_the_effect_and_the_levels_asked_for() -> None:
    effect, levels = np.array([0.0, 0.01, 0.05, 0.2]), np.array([2, 5, 3, 7])
    given = draw_given(effect, levels, 0.2, np.random.default_rng(0))
    assert given.shape == (4, 2, 7)
    assert given.sum(axis=2) == pytest.approx(np.ones((4, 2)))
    assert information(given, 0.2) == pytest.approx(effect, abs=1e-9)
    assert ((given > 0).sum(axis=2) == levels[:, None]).all()


def test_information_of_one_table_by_hand() -> None:
    given = np.array([[[0.9, 0.1], [0.4, 0.6]]])
    joint = given[0] * np.array([[0.7], [0.3]])
    expected = (joint * np.log(joint / np.outer(joint.sum(1), joint.sum(0)))).sum()
    assert information(given, 0.3)[0] == pytest.approx(expected)


def test_estimates_are_those_of_scipy() -> None:
    counts = np.random.default_rng(1).integers(1, 30, size=(2, 5, 4))
    for i in range(5):
        g = chi2_contingency(counts[:, i], lambda_="log-likelihood", correction=False).statistic
        assert estimated(counts)[i] == pytest.approx(g / 2 / counts[:, i].sum())


def test_surrogates_of_a_table_by_hand() -> None:
    counts, seen = np.array([[[6, 4]], [[1, 5]]]), np.array([[[2, 1]], [[1, 2]]])
    tables = {name: table[:, 0].tolist() for name, table in with_surrogates(counts, seen).items()}
    assert tables == {
        "y": [[6, 4], [1, 5]],
        "labelled": [[2, 1], [1, 2]],
        "y0": [[6, 7], [1, 2]],
        "y1": [[2, 1], [5, 8]],
    }


def test_labelled_shares_give_the_wanted_mixture() -> None:
    share = labelled_share(0.2, 0.25, 0.5)
    assert share @ [0.8, 0.2] == pytest.approx(0.25)
    assert share[1] * 0.2 / 0.25 == pytest.approx(0.5)


def test_drawn_tables_share_their_rows() -> None:
    panel, rng = PANELS["4b"], np.random.default_rng(2)
    tables = draw_tables(panel, draw_given(np.full(6, 0.02), panel.levels, PRIOR, rng), rng)
    for name in ("y", "y0", "y1"):
        assert (tables[name].sum(axis=(0, 2)) == panel.rows).all()
    assert (tables["labelled"] <= tables["y"]).all()
    assert (tables["y0"].sum(axis=0) == tables["y"].sum(axis=0)).all()


def test_a_panel_accepts_as_the_formula_says() -> None:
    found = frame(SurrogateTests(panels=("3b",), effects=(0.0, 0.01), draws=2000)).set_index(
        ["measure", "method", "at"]
    )
    for test in ("y", "labelled", "y0", "y1"):
        for effect in (0.0, 0.01):
            gap = found.loc[("accepted", test, effect), "value"] - found.loc[("formula", test, effect), "value"]
            assert abs(gap) < 0.04  # 3.5 standard errors of 2,000 draws


def test_the_labelled_rows_alone_have_no_formula_where_labels_depend_on_the_class() -> None:
    assert PANELS["4a"].kappa("labelled") is None
    assert PANELS["3a"].kappa("labelled") == pytest.approx(0.25)


def test_tables_and_picture_of_the_tests() -> None:
    study = SurrogateTests(panels=("3a", "4a"), effects=(0.0, 0.02), draws=50)
    results = frame(study)
    text = study.tables(results)["sechidis_figs_3_4.md"]
    assert text.count("Fig. ") == 2
    assert "of 14 counted rates" in text  # two panels, two effects, four tests; one has no formula in 4a
    assert study.pictures(results)["sechidis_figs_3_4.png"].startswith(b"\x89PNG")


def test_an_unknown_panel_is_named() -> None:
    with pytest.raises(ConfigError, match="'3c' is not one of 3a, 3b"):
        SurrogateTests(panels=("3c",)).units()


def test_labelled_rows_of_all_features_are_equally_many() -> None:
    rng = np.random.default_rng(3)
    counts = np.stack([rng.multinomial(800, np.full((7, 4), 0.25)), rng.multinomial(200, np.full((7, 4), 0.25))])
    seen = label_some(counts, np.array([0.1, 0.6]), rng)
    assert (seen <= counts).all()
    assert (np.ptp(seen.sum(axis=2), axis=1) == 0).all()
    mean = np.mean([label_some(counts, np.array([0.1, 0.6]), rng) for _ in range(400)], axis=0)
    assert mean[1] == pytest.approx(0.6 * counts[1], rel=0.1)


def test_spearman_is_that_of_scipy() -> None:
    first, second = np.random.default_rng(4).integers(0, 9, (2, 30)).astype(float)
    assert spearman(first, second) == pytest.approx(spearmanr(first, second).statistic)


def test_rankings_come_closer_as_rows_grow_and_those_of_all_labels_tend_to_the_population() -> None:
    study = SurrogateRanking(rows=(2_500, 500_000), repeats=2, draws=2)
    results = frame(study)
    mean = results[results["measure"] == "spearman"].groupby(["condition", "method", "at"])["value"].mean()
    for scenario, method in (("MCAR", "labelled"), ("MCAR", "y0"), ("MAR-C", "y0"), ("MAR-C", "y")):
        assert mean[scenario, method, 500_000] > mean[scenario, method, 2_500]
    limit = results[results["measure"] == "limit"].groupby(["condition", "method"])["value"].mean()
    assert limit["MCAR", "y"] == limit["MCAR", "labelled"] == pytest.approx(1.0)
    assert limit["MCAR", "y0"] < 1  # kappa holds for the squared-loss information; I follows for weak effects alone
    text = study.tables(results)["sechidis_fig_5.md"]
    assert [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| ")][1:4] == [
        "| 2,500", "| 500,000", "| limit",
    ]  # fmt: skip
    assert study.pictures(results)["sechidis_fig_5.png"].startswith(b"\x89PNG")


def test_weak_effects_are_ordered_alike_by_every_surrogate_in_the_limit() -> None:
    given = draw_given(EFFECTS / 10_000, 2, 0.2, np.random.default_rng(5))
    weights = np.array([0.8, 0.2])[:, None, None] * np.moveaxis(given, 1, 0)
    tables = with_surrogates(weights, weights * labelled_share(0.2, 0.25, 0.5)[:, None, None])
    assert min(spearman(estimated(table), EFFECTS) for table in tables.values()) > 0.95


def test_a_unit_gives_the_same_rows_alone_and_in_company() -> None:
    study = SurrogateRanking(rows=(2_500,), repeats=1, draws=1)
    again = SurrogateRanking(rows=(5_000, 2_500), repeats=2, draws=1)
    assert study.run(study.units()[0]) == again.run(again.units()[1])
