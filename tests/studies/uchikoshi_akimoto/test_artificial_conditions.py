"""Table 1 of the FSCPU paper: what a unit gives, and how it stands beside the published numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spark_pufs.core.synthetic.artificial import CONDITIONS
from spark_pufs.errors import ConfigError
from spark_pufs.selectors.registry import METHODS
from spark_pufs.studies.published import Figure, beside, figures, row_order
from spark_pufs.studies.study_methods import all_methods, entry, longest_first
from spark_pufs.studies.uchikoshi_akimoto.artificial_conditions import PAPER, ArtificialConditions

UNIT = {"condition": 1, "method": "semi-mim", "repeat": 0}


def frame(rows: list[tuple[str, str, float]]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["condition", "method", "value"])
    return table.assign(measure="fsr", dataset="artificial", message="", at=np.nan)


def test_the_published_table_has_eleven_methods_of_ten_conditions() -> None:
    methods = {method for _, method in PAPER} - {"fscpu search=paper", "fscpu-mi search=paper"}
    assert len(methods) == 11
    assert len(PAPER) == 13 * 10
    assert PAPER["9", "dt-rfe"] == Figure(1.0, 0.0, 5)
    assert PAPER["7", "fscpu-mi search=paper"] == Figure(0.76, 0.14, 5)
    assert all(0 <= figure.mean <= 1 and 0 <= figure.sd < 0.2 for figure in PAPER.values())


def test_a_unit_tells_the_recall_of_the_relevant_features() -> None:
    found = {row["measure"]: row for row in ArtificialConditions().run(UNIT)}
    assert set(found) == {"fsr", "features"}
    assert found["features"]["value"] == 25
    assert found["fsr"]["value"] > 0.8  # published semi-JMI: 0.97
    assert [row["value"] for row in ArtificialConditions().run(UNIT)] == [row["value"] for row in found.values()]


def test_conditions_that_differ_in_labels_alone_share_their_rows() -> None:
    study = ArtificialConditions()
    many, few = (study.data_of(CONDITIONS[i], 3) for i in (0, 4))
    assert np.array_equal(many.X, few.X)
    assert (int(many.s.sum()), int(few.s.sum())) == (200, 50)
    assert not np.array_equal(many.X, study.data_of(CONDITIONS[0], 4).X)


def test_every_method_that_can_do_without_negatives_takes_part() -> None:
    units = ArtificialConditions(conditions=(1,), repeats=1).units()
    names = {str(unit["method"]).split()[0] for unit in units}
    assert names == set(METHODS) - {"mint", "listwise-iamb", "pairwise-iamb"}
    assert {method for _, method in PAPER} <= {unit["method"] for unit in units}


def test_long_methods_come_first_within_a_repeat() -> None:
    order = longest_first(["k-best", "dt-rfe", "lgbm-opt"])
    assert order == ["lgbm-opt", "dt-rfe", "k-best"]
    units = ArtificialConditions(conditions=(1, 2), methods=("k-best", "dt-rfe"), repeats=2).units()
    assert [(u["repeat"], u["method"]) for u in units[::2]] == [
        (0, "dt-rfe"), (0, "k-best"), (1, "dt-rfe"), (1, "k-best"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k-bset", "Did you mean 'k-best'"),
        ("mrmr miq", "'mrmr miq' is not a name and settings"),
        ("mrmr criterion=mix", "must be mid"),
        ("", "'' is not a method"),
    ],
)
def test_a_mistyped_method_is_told_before_any_work(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ArtificialConditions(methods=(text,)).units()


def test_all_entries_can_be_read() -> None:
    assert all(entry(text).method in METHODS for text in all_methods())


def test_a_condition_that_is_none_is_told() -> None:
    with pytest.raises(ConfigError, match="Give numbers from 1 to 10"):
        ArtificialConditions(conditions=(0,)).units()


def test_the_difference_is_in_standard_errors_of_both_means() -> None:
    """Ours 0.9, 0.7: mean 0.8, s.d. 0.1414; the paper's 0.6 ± 0.1 of 5: (0.8 - 0.6) / sqrt(0.01 + 0.002) = 1.83."""
    ours = figures(frame([("1", "x", 0.9), ("1", "x", 0.7)]), ["condition", "method"], "fsr")["1", "x"]
    assert ours.mean == pytest.approx(0.8)
    assert ours.sd == pytest.approx(0.141421, abs=1e-6)
    assert beside(ours, Figure(0.6, 0.1, 5)) == "0.80 ± 0.14 (paper 0.60 ± 0.10, +1.8 SE)"


def test_a_table_with_gaps_shows_what_there_is() -> None:
    study = ArtificialConditions()
    results = frame(
        [("1", "lasso", 0.8), ("10", "k-best", 0.35), ("10", "k-best", 0.45), ("10", "prfs", 0.5), ("10", "cls", 0.9)]
    )
    failed = pd.DataFrame([{"condition": "", "method": "auto", "measure": "error", "message": "why"}])
    table = study.tables(pd.concat([results, failed]))["table_1_fsr.md"]
    lines = table.splitlines()
    assert lines[4] == "| *labelled, negative / positive clusters* | 40%, 8 / 1 | 10%, no clusters |"
    assert [line.split("|")[1].strip() for line in lines[5:9]] == ["k-best", "lasso", "cls", "prfs"]
    assert "| k-best | – (paper 0.82 ± 0.10) | 0.40 ± 0.07 (paper 0.35 ± 0.03, +1.0 SE) |" in table
    assert "1 of 1 cells lie within two standard errors" in table
    assert "| lasso | 0.80 (paper 0.86 ± 0.05) | – (paper 0.62 ± 0.05) |" in table  # one repeat tells no error
    assert "auto failed in 1 units: why" in table


def test_methods_of_the_paper_come_first_then_the_best() -> None:
    ours = {("1", "a"): Figure(0.1), ("1", "lasso"): Figure(0.0), ("1", "b"): Figure(0.9), ("1", "all"): Figure(1.0)}
    assert row_order(ours, PAPER, ("all",)) == ["lasso", "b", "a", "all"]


def test_convergence_is_drawn_from_the_first_repeat() -> None:
    study = ArtificialConditions()
    method = "fscpu search=paper pairs=4"
    rows = study.run({"condition": 1, "method": method, "repeat": 0})
    results = pd.DataFrame([{"study": study.name, **row} for row in rows])
    thetas = results[results["measure"].str.startswith("theta ")]
    assert len(thetas) == 50
    assert set(thetas["at"]) == {8}  # four pairs of masks
    assert "unconverged" in set(results["measure"])
    table = study.tables(results)["figure_1_convergence.md"]
    assert f"| 1 | {method} | 8 |" in table
    drawn = study.pictures(results)
    assert drawn["figure_1_convergence.png"][1:4] == b"PNG"
    assert not study.pictures(results[results["measure"] == "fsr"])
    later = study.run({"condition": 1, "method": "fscpu search=paper pairs=1", "repeat": 1})
    assert not any(row["measure"].startswith("theta ") for row in later)
