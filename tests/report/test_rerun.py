from __future__ import annotations

import ast
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs import select
from spark_pufs.jobs.config import parse
from spark_pufs.report.rerun import python_call, yaml_config
from spark_pufs.request import Request
from spark_pufs.selectors.evidence import sizes
from spark_pufs.types import LabelRule
from support.configurations import load_config

TABLE = pd.DataFrame(
    {
        'it\'s "a" <b>\n': [1, 2, 3, 4] * 25,
        "b": [3, 3, 4, 4] * 25,
        "c: 1": ["x", "y"] * 50,
        "d": range(100),
        "s": [1, 0, None, -1] * 25,
    }
)
BRIEF = {"trees": 5, "judge": False}  # less work where the method plays no part
CALLS: dict[str, dict[str, Any]] = {
    "defaults": {"negative": -1},
    "all": {"negative": -1, "k": "all", "stability": 2, **BRIEF},
    "a budget": {"negative": -1, "budget": 2.5, **BRIEF},
    "a budget and a proposal": {"negative": -1, "budget": 2.5, "k": "auto", **BRIEF},
    "names": {"negative": [-1], "features": ["b", "c*", "it's*"], "must": ['it\'s "a" <b>\n'], "never": ["b"], **BRIEF},
    "bounds": {"negative": -1, "k": 2, "budget": 3.5, "costs": {"b": 0.5, "c: 1": 2}, "prior": (0.1, 0.4), **BRIEF},
    "values": {"positive": [1, -1], "unlabelled": "*", "method": "mim", "seed": 9, "bins": 3, "keep": ["d"]},
    "options": {"negative": -1, "method": "semi-iamb", "alpha": 0.2, "prior": 0.3, "binning": "equal-frequency"},
    "a search": {"unlabelled": "*", "method": "fscpu", "k": 1, "clusters": 2, "generation_size": 16, "generations": 1},
}


@pytest.mark.parametrize("name", CALLS)
def test_the_call_and_the_file_ask_for_the_same_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = partial(sizes.EvaluationProtocol, folds=4, repeats=1)  # a number is proposed twice: by few trials
    monkeypatch.setattr(sizes, "EvaluationProtocol", few)
    selection = select(TABLE, label="s", **CALLS[name])
    call = ast.parse(python_call(selection.request)).body[0].value  # type: ignore[attr-defined]
    again = select(TABLE, **{word.arg: ast.literal_eval(word.value) for word in call.keywords})
    assert again.fingerprint == selection.fingerprint
    assert again.names == selection.names
    assert ("sizes" in selection.details) == (name in ("defaults", "a budget and a proposal"))
    (tmp_path / "config.yaml").write_text(yaml_config(selection.request), encoding="utf-8")
    assert load_config(tmp_path / "config.yaml").request() == selection.request


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_any_name_survives_the_file(name: str) -> None:
    request = Request(LabelRule(name), "mim", must=(name,), costs={name: 2.0})
    assert parse(yaml.safe_load(yaml_config(request))).request() == request
