"""The Markov blanket study on a network small enough to know by heart."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from pydantic import TypeAdapter, ValidationError

from spark_pufs.core.information.surrogate import kappa_mar_c
from spark_pufs.core.synthetic.bayes_net import parse_bif
from spark_pufs.errors import ConfigError, DataError
from spark_pufs.studies.reproduce import ReproduceConfig, run_reproduce
from spark_pufs.studies.sechidis_brown import blanket_trial
from spark_pufs.studies.sechidis_brown.blanket_summary import FIGURES, MEASURES, summary, tables
from spark_pufs.studies.sechidis_brown.blanket_trial import BlanketProtocol, Unit, run_unit
from spark_pufs.studies.sechidis_brown.markov_blankets import MarkovBlankets
from spark_pufs.studies.study import COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# cause -> y -> effect <- spouse, effect -> far, and a node that nothing touches; p(y = yes) = 0.3 exactly.
BIF = """
variable cause { type discrete [ 2 ] { a, b }; }
variable y { type discrete [ 2 ] { yes, no }; }
variable spouse { type discrete [ 2 ] { a, b }; }
variable effect { type discrete [ 3 ] { a, b, c }; }
variable far { type discrete [ 2 ] { a, b }; }
variable alone { type discrete [ 2 ] { a, b }; }
probability ( cause ) { table 0.5, 0.5; }
probability ( y | cause ) { (a) 0.55, 0.45; (b) 0.05, 0.95; }
probability ( spouse ) { table 0.5, 0.5; }
probability ( effect | y, spouse ) {
  (yes, a) 0.8, 0.1, 0.1; (yes, b) 0.1, 0.1, 0.8; (no, a) 0.1, 0.8, 0.1; (no, b) 0.4, 0.5, 0.1; }
probability ( far | effect ) { (a) 0.8, 0.2; (b) 0.3, 0.7; (c) 0.5, 0.5; }
probability ( alone ) { table 0.3, 0.7; }
"""
BLANKET = "cause effect spouse"


def study(path: Path, **changes: Any) -> MarkovBlankets:
    (path / "bayes_nets").mkdir(exist_ok=True)
    (path / "bayes_nets" / "alarm.bif.gz").write_bytes(gzip.compress(BIF.encode()))
    plain = {"networks": ("alarm",), "sizes": ((400, 80),), "repeats": 2, "draws": 2, "alpha": 0.01}
    return MarkovBlankets(data=str(path), **plain | changes)  # type: ignore[arg-type]


def frame_of(unit: Unit, protocol: BlanketProtocol) -> pd.DataFrame:
    return pd.DataFrame(list(run_unit(parse_bif(BIF), unit, protocol)))


def test_with_many_rows_the_known_blanket_is_found_in_every_scenario() -> None:
    found = frame_of(Unit("tiny", 20_000, 4_000, 0, "y"), BlanketProtocol(draws=3, alpha=0.001)).set_index("method")
    sure = found.drop(index="pairwise-iamb")  # its statistic is no chi-square
    assert sure["blanket"].tolist() == [BLANKET] * 7
    assert (sure[["false_positives", "false_negatives"]].to_numpy() == 0).all()
    assert (sure["f_measure"] == 1).all()
    assert found["prior"].unique() == pytest.approx([0.3])


def test_the_corrected_sample_has_as_many_rows_as_theorem_7_asks_for() -> None:
    found = frame_of(Unit("tiny", 500, 50, 0, "y"), BlanketProtocol(draws=1)).set_index("scenario")
    assert found["sample_rows"]["pu"] == 500
    assert found["sample_rows"]["pu-corrected"] == round(500 / kappa_mar_c("y0", 0.3, 0.05)) == 4071


def test_labels_are_drawn_with_the_classes_in_the_ratio_of_the_scenario() -> None:
    """80 labels, p(y=1) = 0.3: 24 positives under MCAR, 56 under MAR-C with the ratio turned round."""
    network, unit, rng = parse_bif(BIF), Unit("tiny", 1_000, 80, 0, "y"), np.random.default_rng(1)
    seen = {}
    for setting in blanket_trial._settings(network, unit, BlanketProtocol(), 0.3):
        label = setting.draw(rng)
        positive = setting.sample.positive
        assert positive[label == 1].all()
        assert not positive[label == 2].any()
        seen[setting.scenario] = (int((label == 1).sum()), int((label == 2).sum()))
    positives = int(positive.sum())
    assert seen["full"] == (positives, 1_000 - positives)
    assert seen["pu"] == (50, 0)
    assert seen["mcar"] == (24, 56)
    assert seen["mar-c"] == (56, 24)


def test_the_most_frequent_blanket_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three draws, two miss one node and one adds one: the majority's single miss is what counts."""
    votes = Counter({frozenset({"cause", "effect"}): 2, frozenset({"cause", "effect", "spouse", "far"}): 1})
    monkeypatch.setattr(blanket_trial, "_blankets", lambda *rest: iter([("iamb", votes, 0)]))
    found = frame_of(Unit("tiny", 500, 50, 0, "y"), BlanketProtocol()).iloc[0]
    assert found["blanket"] == "cause effect"
    assert (found["false_positives"], found["false_negatives"], found["agreeing"]) == (0, 1, 2)
    assert found["f_measure"] == pytest.approx(2 * (1 * 2 / 3) / (1 + 2 / 3))


def test_summary_takes_targets_first_then_trials() -> None:
    """Trials of means 1 and 3: mean 2, half-width t(0.975, 1) * sqrt(2) / sqrt(2) = 12.706."""
    named = {"dataset": "n", "at": 10.0, "condition": "full", "method": "iamb", "measure": "false_positives"}
    rows = [named | {"repeat": trial, "value": v} for trial, values in ((0, (0, 2)), (1, (3, 3))) for v in values]
    found = summary(pd.DataFrame(rows))
    assert found["n", 10, "full", "iamb", "false_positives"] == pytest.approx((2, 12.706), abs=1e-3)
    table = tables(found)
    assert "| n | 10 | 2.00 ± 12.71 |  |" in table  # nothing was run on Y0
    assert summary(pd.DataFrame(columns=list(COLUMNS))) == {}


def test_a_unit_is_one_sample_with_all_its_targets(tmp_path: Path) -> None:
    one = study(tmp_path)
    units = one.units()
    assert [unit["repeat"] for unit in units] == [0, 1]
    found = pd.DataFrame(one.run(units[1]))
    alone = frame_of(Unit("alarm", 400, 80, 1, "y"), BlanketProtocol(draws=2, alpha=0.01))
    assert len(found) == len(alone) * len(MEASURES) == 9 * 3
    for measure in MEASURES:
        assert found[found["measure"] == measure]["value"].tolist() == alone[measure].tolist()
    assert found["message"][0] == f"y: {alone['blanket'][0]}"


@pytest.mark.spark
def test_the_job_writes_its_tables_and_picture(spark: SparkSession, tmp_path: Path) -> None:
    study(tmp_path)
    section = {"networks": ["alarm"], "sizes": [[400, 80]], "repeats": 2, "draws": 2, "alpha": 0.01}
    plain = {"run": {"data": str(tmp_path)}, "markov_blankets": section, "output": {"path": str(tmp_path / "out")}}
    told = run_reproduce(ReproduceConfig.model_validate(plain))
    assert all(f"Fig. {figure.number}: {figure.title}" in told for figure in FIGURES)
    written = pd.read_parquet(tmp_path / "out" / "results.parquet")
    assert tables(summary(written)) == (tmp_path / "out" / "markov_blankets.md").read_text()
    assert (tmp_path / "out" / "markov_blankets.png").read_bytes()[1:4] == b"PNG"


def test_an_absent_network_is_told(tmp_path: Path) -> None:
    one, unit = study(tmp_path, networks=("barley",)), {"dataset": "barley", "rows": 10, "labelled": 2, "repeat": 0}
    with pytest.raises(DataError, match=r"Network 'barley': cannot be read: .*Check run\.data\."):
        one.run(unit)
    (tmp_path / "bayes_nets" / "barley.bif.gz").write_bytes(gzip.compress(BIF.encode())[:60] + b"\xff" * 60)
    with pytest.raises(DataError, match="Network 'barley': cannot be read: damaged: Error -3 while decompressing"):
        one.run(unit)


def test_an_unknown_network_is_told_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'alarm'"):
        study(tmp_path, networks=("alram",)).units()


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"alpha": 2}, "less than 1"),
        ({"draws": 0}, "greater than or equal to 1"),
        ({"repeats": 0}, "greater than or equal to 1"),
        ({"pu_share": 0.9}, "less than 0.15"),
    ],
)
def test_settings_out_of_range(setting: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        TypeAdapter(MarkovBlankets).validate_python(setting)


def test_more_labels_than_rows() -> None:
    with pytest.raises(ConfigError, match="250 of 100 rows cannot be labelled"):
        MarkovBlankets(sizes=((100, 250),)).units()
