"""The Markov blanket study on a network small enough to know by heart."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from spark_pufs.core.bayes_net import parse_bif
from spark_pufs.core.surrogate import kappa_mar_c
from spark_pufs.errors import ConfigError, DataError
from spark_pufs.studies import blanket_trial
from spark_pufs.studies.blanket_summary import FIGURES, markdown, picture, summary
from spark_pufs.studies.blanket_trial import Protocol, Unit, run_unit
from spark_pufs.studies.markov_blankets import StudyConfig, results, run_study, units_of

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


def study(path: Path, **changes: Any) -> StudyConfig:
    (path / "tiny.bif").write_text(BIF)
    sizes = [{"rows": 400, "labelled": 80}]
    plain = {"networks": [str(path / "tiny.bif")], "sizes": sizes, "trials": 2, "draws": 2, "alpha": 0.01}
    return StudyConfig.model_validate({"study": plain | changes, "output": {"path": str(path / "out")}})


def frame_of(unit: Unit, protocol: Protocol) -> pd.DataFrame:
    return pd.DataFrame(list(run_unit(parse_bif(BIF), unit, protocol)))


def test_with_many_rows_the_known_blanket_is_found_in_every_scenario() -> None:
    found = frame_of(Unit("tiny", 20_000, 4_000, 0, "y"), Protocol(draws=3, alpha=0.001)).set_index("method")
    sure = found.drop(index="pairwise-iamb")  # its statistic is no chi-square
    assert sure["blanket"].tolist() == [BLANKET] * 7
    assert (sure[["false_positives", "false_negatives"]].to_numpy() == 0).all()
    assert (sure["f_measure"] == 1).all()
    assert found["prior"].unique() == pytest.approx([0.3])


def test_the_corrected_sample_has_as_many_rows_as_theorem_7_asks_for() -> None:
    found = frame_of(Unit("tiny", 500, 50, 0, "y"), Protocol(draws=1)).set_index("scenario")
    assert found["sample_rows"]["pu"] == 500
    assert found["sample_rows"]["pu-corrected"] == round(500 / kappa_mar_c("y0", 0.3, 0.05)) == 4071


def test_labels_are_drawn_with_the_classes_in_the_ratio_of_the_scenario() -> None:
    """80 labels, p(y=1) = 0.3: 24 positives under MCAR, 56 under MAR-C with the ratio turned round."""
    network, unit, rng = parse_bif(BIF), Unit("tiny", 1_000, 80, 0, "y"), np.random.default_rng(1)
    seen = {}
    for setting in blanket_trial._settings(network, unit, Protocol(), 0.3):
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
    found = frame_of(Unit("tiny", 500, 50, 0, "y"), Protocol()).iloc[0]
    assert found["blanket"] == "cause effect"
    assert (found["false_positives"], found["false_negatives"], found["agreeing"]) == (0, 1, 2)
    assert found["f_measure"] == pytest.approx(2 * (1 * 2 / 3) / (1 + 2 / 3))


def test_summary_takes_targets_first_then_trials() -> None:
    """Trials of means 1 and 3: mean 2, half-width t(0.975, 1) * sqrt(2) / sqrt(2) = 12.706."""
    rows = [("n", 10, "full", "iamb", trial, v) for trial, values in ((0, (0, 2)), (1, (3, 3))) for v in values]
    frame = pd.DataFrame(rows, columns=["network", "rows", "scenario", "method", "trial", "false_positives"])
    table = summary(frame.assign(false_negatives=0, f_measure=0.5))
    first = table[table["measure"] == "false_positives"].iloc[0]
    assert first["mean"] == 2
    assert first["half_width"] == pytest.approx(12.706, abs=1e-3)
    assert first["trials"] == 2


@pytest.mark.spark
def test_same_results_for_any_partitioning(spark: SparkSession, tmp_path: Path) -> None:
    config = study(tmp_path)
    networks = {"tiny": parse_bif(BIF)}
    units = units_of(networks, config.study)
    assert [(unit.target, unit.trial) for unit in units] == [("y", 0), ("y", 1)]
    protocol = config.study.protocol()
    one, three = (results(spark, networks, units, protocol, partitions) for partitions in (1, 3))
    pd.testing.assert_frame_equal(one, three)
    assert len(one) == len(units) * 9
    alone = pd.concat([frame_of(unit, protocol) for unit in units])
    assert sorted(alone["blanket"]) == sorted(one["blanket"])


@pytest.mark.spark
def test_the_job_writes_its_tables_and_picture_once(spark: SparkSession, tmp_path: Path) -> None:
    config = study(tmp_path)
    told = run_study(config)
    out = tmp_path / "out"
    assert all(f"Fig. {figure.number}: {figure.title}" in told for figure in FIGURES)
    manifest = json.loads((out / "manifest.json").read_text())
    assert set(manifest["files"]) == {
        "results.parquet", "results.csv", "summary.csv", "summary.md", "config.yaml", "markov_blankets.png",
    }  # fmt: skip
    written = pd.read_parquet(out / "results.parquet")
    assert markdown(summary(written)) == (out / "summary.md").read_text()
    assert (out / "markov_blankets.png").read_bytes()[1:4] == b"PNG"
    assert run_study(config) == f"Already done: {out} holds this study."
    with pytest.raises(ConfigError, match="another table, request or version"):
        run_study(study(tmp_path, seed=1))


def test_a_network_without_targets_is_told(tmp_path: Path) -> None:
    config = study(tmp_path)
    (tmp_path / "tiny.bif").write_text("variable a { type discrete [ 2 ] { t, f }; } probability ( a ) { table 1, 0; }")
    with pytest.raises(DataError, match="none has a node with a parent"):
        run_study(config)


def test_an_absent_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Network '.*none\.bif': cannot be read"):
        run_study(study(tmp_path, networks=[str(tmp_path / "none.bif")]))


def test_without_matplotlib_there_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert picture(pd.DataFrame()) is None
