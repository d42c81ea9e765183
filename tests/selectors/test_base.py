"""Limits, options and the registry of methods."""

from __future__ import annotations

import inspect
import re
from dataclasses import asdict, dataclass, replace
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from spark_pufs import methods, select
from spark_pufs.errors import ConfigError, DataError
from spark_pufs.selectors.base import COMMON, Task, read_options
from spark_pufs.selectors.information.surrogates import SurrogateOptions
from spark_pufs.selectors.options import Options
from spark_pufs.selectors.registry import METHODS, method_named


def test_options_have_defaults() -> None:
    assert asdict(read_options(METHODS["semi-iamb"], {})) == {"judge": False, "alpha": 0.05, "surrogate": "auto"}
    assert asdict(read_options(METHODS["semi-iamb"], {"alpha": 0.01}))["alpha"] == 0.01


def test_every_option_has_a_rule_and_is_read_as_the_class_it_belongs_to() -> None:
    @dataclass(frozen=True)
    class Bare(Options):
        trees: int = 5

    with pytest.raises(TypeError, match="Bare: no rule for trees"):
        replace(METHODS["mim"], options_class=Bare)
    wrong = SimpleNamespace(options=read_options(METHODS["prfs"], {}))
    with pytest.raises(TypeError, match="expected options of SurrogateOptions, got PrfsOptions"):
        Task.options_as(wrong, SurrogateOptions)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("method", "given_options", "message"),
    [
        (
            "semi-iamb",
            {"alhpa": 0.1},
            "Option 'alhpa': is not an option of method 'semi-iamb'. Did you mean 'alpha'?",
        ),
        (
            "mim",
            {"include": ["a"]},
            "Option 'include': is not an option of method 'mim'. Did you mean 'features'?",
        ),
        (
            "mim",
            {"random_state": 0},
            "Option 'random_state': is not an option of method 'mim'. Did you mean 'seed'?",
        ),
        (
            "fscpu",
            {"generation": 64},
            "Option 'generation': is not an option of method 'fscpu'. Did you mean 'generation_size'?",
        ),
        (
            "semi-iamb",
            {"alpha": 2.0},
            "Option 'alpha': must be a number between 0 and 1, got 2.0. The default is 0.05.",
        ),
        (
            "mint",
            {"prioor": 0.1},
            "Option 'prioor': is not an option of method 'mint'. Did you mean 'prior'?",
        ),
        (
            "mim",
            {"surrogate": "y2"},
            "Option 'surrogate': must be one of auto, y0, y1, labelled, got 'y2'. The default is 'auto'.",
        ),
    ],
)
def test_options_that_cannot_be(method: str, given_options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_options(METHODS[method], given_options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "fix"),
    [("feature", "Did you mean 'features'?"), ("Alpha", "Did you mean 'alpha'?"), ("K", "Did you mean 'k'?")],
)
def test_advice_names_what_a_user_can_give(name: str, fix: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(fix)):
        read_options(METHODS["semi-iamb"], {name: 1})


def test_common_options_are_the_keywords_of_select() -> None:
    of_memory = {"memory", "partition", "window", "until", "refit", "late_labels"}
    assert {*COMMON} == set(inspect.signature(select).parameters) - {"table", "checkpoint", "options"} - of_memory


def test_an_unknown_method_suggests_one() -> None:
    with pytest.raises(ConfigError, match=r"'semi-jm' is not a method. Did you mean 'semi-jmi'\?"):
        method_named("semi-jm")


def test_every_method_says_what_a_user_needs() -> None:
    table = methods()
    assert {"semi-mim", "semi-jmi", "semi-iamb", "mim", "mrmr", "jmi", "cmim", "mint", "iamb"} <= set(table["name"])
    assert (table.map(len) > 0).all(axis=None)


@pytest.mark.parametrize("method", ["mint", "listwise-iamb", "pairwise-iamb"])
def test_methods_that_compare_classes_want_negatives(method: str) -> None:
    table = pd.DataFrame({"a": [0, 1] * 4, "s": [1, 0, 0, 0] * 2})
    with pytest.raises(DataError, match=f"method '{method}' needs rows labelled negative, found none"):
        select(table, label="s", method=method)
