"""A field of a request reaches every front door and every trial: none can be forgotten in one of them."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spark_pufs
from spark_pufs import api
from spark_pufs.engines.local import LocalEngine
from spark_pufs.jobs.compare_job import CompareSection
from spark_pufs.jobs.config import parse
from spark_pufs.local import PUSelector
from spark_pufs.request import DEFAULT_METHOD, Request
from spark_pufs.run.execution import IN_PROCESS, prepare
from spark_pufs.selectors.evidence import trial
from spark_pufs.selectors.evidence.comparison import EvaluationProtocol
from spark_pufs.selectors.registry import METHODS
from spark_pufs.selectors.task import make_task
from spark_pufs.spark import PUFeatureSelector
from spark_pufs.spark.ml.params import _FIELDS
from spark_pufs.types import LabelRule

LABEL = LabelRule("label")
# Every field with a value that is not its default.
GIVEN: dict[str, Any] = {
    "method": "mrmr",
    "include": ("a", "b"),
    "exclude": ("c",),
    "keep": ("d",),
    "categorical": ("b",),
    "k": 1,
    "budget": 7.0,
    "costs": {"a": 2.0},
    "must": ("a",),
    "never": ("b",),
    "groups": {"device": ("c",)},
    "weights": "w",
    "prior": (0.1, 0.2),
    "seed": 3,
    "bins": 4,
    "binning": "equal-width",
    "max_categories": 9,
    "missing": "error",
    "copies": "all",
    "pair_memory_mb": 77,
    "stability": 5,
    "check_labels": True,
    "labelled_by": ("a",),
    "options": {"criterion": "miq"},
}
# What the sample or the unit of a trial decides; a new field is taken over unless it is named here.
DECIDED_BY_TRIALS = ("label", "method", "include", "exclude", "keep", "categorical", "k", "propose_k", "budget",
                     "stability", "check_labels", "labelled_by", "options")  # fmt: skip
RATES: dict[str, Any] = {"fdr": 0.1, "expected_false": 2.0}  # each in place of k and budget
WITH_RATE: dict[str, Any] = {"distinct": True}  # beside one of them
DECIDED_BY_OTHERS = {"label", "propose_k", "estimate_prior"}  # values of the label column, k and prior


def wanted(**more: Any) -> Request:
    return Request(**{"label": LABEL, **GIVEN, **more})


def defaults(function: Any) -> dict[str, Any]:
    return {name: one.default for name, one in inspect.signature(function).parameters.items()}


def test_the_values_of_this_test_are_complete_and_no_defaults() -> None:
    assert {*GIVEN} == {field.name for field in fields(Request)} - DECIDED_BY_OTHERS - {*RATES, *WITH_RATE}
    plain = Request(LABEL, DEFAULT_METHOD)
    assert not [name for name, value in GIVEN.items() if getattr(plain, name) == value]


def test_select_hands_on_every_field(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []

    def remember(engine: Any, request: Request, checkpoint: Any) -> Any:
        asked.append(request)
        return spark_pufs.Selection("mim", (), {}, {}, {}, (), {}, {}, "", {}, {})

    monkeypatch.setattr(api, "select_with", remember)
    own = {"features" if name == "include" else name: value for name, value in GIVEN.items()}
    spark_pufs.select(pd.DataFrame({"a": [1], "w": [1]}), label="label", **own.pop("options"), **own)
    spark_pufs.select(pd.DataFrame({"a": [1]}), label="label")
    assert asked == [wanted(), Request.of(LABEL, method=DEFAULT_METHOD)]


def test_the_scikit_learn_transformer_hands_on_every_field() -> None:
    taken = {*inspect.signature(PUSelector).parameters} - {*RATES, *WITH_RATE}
    names = {field.name for field in fields(Request)} & taken
    assert {*GIVEN} - names == {"include", "exclude", "keep", "weights"}  # columns are those of X, weights go to fit
    request = PUSelector(unlabelled=0, **{name: GIVEN[name] for name in names})._request("label")
    assert request == wanted(include=("*",), exclude=(), keep=(), weights=None)
    assert PUSelector(unlabelled=0, k=None)._request("label") == Request.of(LABEL, method=DEFAULT_METHOD)


def test_the_estimator_has_a_param_for_every_field() -> None:
    known = {param.name for param in PUFeatureSelector().params}
    assert {*_FIELDS} <= known
    given = {name: GIVEN[field.name] for name, field in _FIELDS.items() if field.name not in {*RATES, *WITH_RATE}}
    request = PUFeatureSelector(categorical=["b"], **given)._request(["a", "b"], [])
    assert request == wanted(exclude=(), keep=())
    assert PUFeatureSelector()._request(["*"], []) == Request.of(LABEL, method=DEFAULT_METHOD)


def test_a_configuration_file_has_a_key_for_every_field() -> None:
    columns = {name: list(GIVEN[name]) for name in ("include", "exclude", "keep", "categorical")}
    chosen = {name: value for name, value in GIVEN.items() if name not in {*columns, "options"}}
    places = {"source": {"path": "in"}, "label": {"column": "label"}, "output": {"path": "out"}}
    request = parse({**places, "features": columns, "select": {**chosen, **GIVEN["options"]}}).request()
    assert request == wanted()
    assert parse(places).request() == Request.of(LABEL, method=DEFAULT_METHOD)


@pytest.mark.parametrize(("name", "value"), RATES.items())
def test_every_door_takes_an_error_rate(name: str, value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {name: value, **WITH_RATE}
    asked = Request.of(LABEL, method=DEFAULT_METHOD, **given)
    assert all(getattr(asked, option) == own for option, own in given.items())
    assert not asked.propose_k
    places = {"source": {"path": "in"}, "label": {"column": "label"}, "output": {"path": "out"}}
    assert parse({**places, "select": given}).request() == asked
    assert PUSelector(unlabelled=0, **given)._request("label") == asked
    param = {"expected_false": "expectedFalse"}.get(name, name)
    assert PUFeatureSelector(**{param: value}, **WITH_RATE)._request(["*"], []) == asked
    handed: list[Request] = []

    def remember(engine: Any, request: Request, checkpoint: Any) -> Any:
        handed.append(request)
        return spark_pufs.Selection("mim", (), {}, {}, {}, (), {}, {}, "", {}, {})

    monkeypatch.setattr(api, "select_with", remember)
    spark_pufs.select(pd.DataFrame({"a": [1]}), label="label", **given)
    assert handed == [asked]


def test_a_trial_takes_over_what_it_does_not_decide() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"]).assign(label=np.arange(60) % 3 == 0)
    request = wanted(label=LabelRule("label", (True,), (), (False,)), include=("*",), exclude=(), keep=(), budget=None,
                     labelled_by=())  # fmt: skip  # mrmr ranks given no column
    engine = LocalEngine(table)
    task = make_task(engine, prepare(engine, request), METHODS["mrmr"], request, IN_PROCESS)
    found = trial._request(trial.trial_sample(task, 50).rows, trial.Trial("mim", k=2))
    same = {name for name in GIVEN if getattr(found, name) == GIVEN[name]}
    assert {*GIVEN} - same == {*DECIDED_BY_TRIALS} - DECIDED_BY_OTHERS
    assert (found.method, found.k, found.propose_k, found.stability) == ("mim", 2, False, 0)


def test_how_methods_are_judged_has_the_same_defaults_everywhere() -> None:
    protocol = {field.name: field.default for field in fields(EvaluationProtocol)}
    assert CompareSection().model_dump(exclude={"methods"}) == protocol
    assert protocol.items() <= defaults(spark_pufs.compare).items()
