"""Two selections beside each other: what is told of tables whose difference is known."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs import Selection
from spark_pufs.cli import run
from spark_pufs.selection import Feature

ANSWER = {"label": "label", "method": "semi-mim", "k": 2}


def day(seed: int) -> pd.DataFrame:
    """Columns a and b tell of the class, c to f do not."""
    rng = np.random.default_rng(seed)
    positive = rng.random(3000) < 0.2
    table = pd.DataFrame(rng.normal(size=(3000, 6)), columns=list("abcdef"))
    table["a"] += 2 * positive
    table["b"] += 1.5 * positive
    return table.assign(label=(positive & (rng.random(3000) < 0.3)).astype(int))


@lru_cache
def monday() -> Selection:
    return spark_pufs.select(day(1), **ANSWER)


def after(table: pd.DataFrame, **options: object) -> spark_pufs.Selection:
    return spark_pufs.select(table, **{**ANSWER, **options})


def test_still_days_are_unchanged() -> None:
    verdicts = [spark_pufs.diff(monday(), after(day(seed))).verdict for seed in range(2, 12)]
    assert set(verdicts) == {"unchanged"}


def test_a_tie_among_noise_is_within_error() -> None:
    verdicts = {
        spark_pufs.diff(after(day(1), method=method, k=4), after(day(seed), method=method, k=4)).verdict
        for seed in (2, 3, 4)
        for method in ("semi-mim", "semi-jmi", "mrmr")
    }
    assert "changed within error" in verdicts
    assert verdicts <= {"unchanged", "changed within error"}


def test_a_unit_that_changes_needs_a_refit_and_is_named() -> None:
    found = spark_pufs.diff(monday(), after(day(2).assign(a=lambda t: 1000 * t["a"])))
    assert found.verdict == "refit needed"
    assert found.reasons[0].startswith("far drift of a (chosen): ")
    assert [one.name for one in found.drift if one.drifted] == ["a"]


def test_a_unit_is_seen_where_half_of_the_values_keep_their_sign() -> None:
    # Of a column around 0 a fifth of the rows passes each outer cut point: the least that five bins can show.
    found = spark_pufs.diff(monday(), after(day(2).assign(b=lambda t: 1000 * (t["b"] - t["b"].median()))))
    assert found.verdict == "refit needed"
    assert [one.name for one in found.drift if one.far] == ["b"]


def test_a_dead_sensor_and_a_column_that_is_gone_need_a_refit() -> None:
    dead = spark_pufs.diff(monday(), after(day(2).assign(a=0.0)))
    assert (dead.verdict, dead.reasons[0]) == ("refit needed", "a was chosen and is gone: left out after: constant")
    gone = spark_pufs.diff(monday(), after(day(2).drop(columns="a")))
    assert gone.reasons[0] == "a was chosen and is gone: no such column after"
    assert gone.lost_columns == ("a",)


def test_a_feature_that_tells_no_more_went_beyond_the_errors() -> None:
    table = day(2)
    table["c"], table["b"] = table["b"].copy(), table["c"].copy()
    found = spark_pufs.diff(monday(), after(table))
    assert ([one.name for one in found.came], [one.name for one in found.went]) == (["c"], ["b"])
    assert all(one.beyond_error for one in (*found.came, *found.went))
    assert found.verdict in ("changed", "refit needed")


def test_another_share_of_labels_is_a_change() -> None:
    table = day(2)
    table.loc[table.index % 2 == 0, "label"] = 0
    found = spark_pufs.diff(monday(), after(table))
    assert found.verdict == "changed"
    assert found.label_share.beyond_error
    assert found.label_share.before == (day(1)["label"] == 1).mean()


def test_settings_and_versions_are_told_and_do_not_decide() -> None:
    other = replace(after(day(2), seed=3), versions={**monday().versions, "numpy": "1.0"})
    found = spark_pufs.diff(monday(), other)
    assert [(s.name, s.before, s.after) for s in found.settings] == [("seed", 0, 3)]
    assert [s.name for s in found.versions] == ["numpy"]
    assert found.verdict == "unchanged"


def test_selections_of_earlier_versions_have_no_counts_and_no_errors() -> None:
    old = [Feature("a", 1, 1.0, 0.0, True, 1.0, ""), Feature("b", 2, 0.5, 0.0, False, 1.0, "")]
    before = replace(monday(), features=tuple(old), columns=())
    found = spark_pufs.diff(before, monday())
    assert found.drift == ()
    assert (found.came[0].name, found.came[0].beyond_error, found.verdict) == ("b", None, "changed")


def test_counts_of_columns_are_those_of_the_table_and_survive_json() -> None:
    selection = monday()
    read = Selection.from_dict(json.loads(selection.to_json()))
    assert read.columns == selection.columns
    labelled = int((day(1)["label"] == 1).sum())
    assert [(sum(c.counts[0]), sum(c.counts[1])) for c in read.columns] == [(3000 - labelled, labelled)] * 6


def test_the_command_gives_verdict_and_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monday().write(tmp_path / "monday")
    after(day(2).assign(a=0.0)).write(tmp_path / "tuesday")
    arguments = ["diff", str(tmp_path / "monday")]
    assert run([*arguments, str(tmp_path / "monday")]) == 0
    assert capsys.readouterr().out.startswith("Verdict: unchanged\n")
    assert run([*arguments, str(tmp_path / "tuesday"), "--json", "--html", str(tmp_path / "page.html")]) == 12
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["exit_code"]) == ("refit needed", 12)
    page = (tmp_path / "page.html").read_text()
    assert "refit needed" in page
    assert "http" not in page.replace("http-equiv", "")


def test_what_is_no_finished_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monday().write(tmp_path / "monday")
    assert run(["diff", str(tmp_path / "monday"), str(tmp_path / "nowhere")]) == 2
    assert "holds no finished selection" in capsys.readouterr().err
    (tmp_path / "monday" / "selection.json").write_text("{}")
    assert run(["diff", str(tmp_path / "monday"), str(tmp_path / "monday")]) == 1
    assert "is not the one its manifest names" in capsys.readouterr().err


def test_names_are_escaped_on_the_page() -> None:
    table = day(2).rename(columns={"a": "<script>alert(1)</script>"})
    assert "<script>" not in spark_pufs.diff(monday(), after(table)).to_html()
