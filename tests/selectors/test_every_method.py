"""What every method owes, whatever it computes. A method that is registered is tested here by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from spark_pufs.selectors.registry import METHODS
from spark_pufs.testing import CHECKS, Subject
from spark_pufs.testing.subject import example_table, scores_of
from support.quick_options import quick

# Their own tests or merits decide how many features there are; k is then the most.
DECIDES = {"semi-iamb", "iamb", "listwise-iamb", "pairwise-iamb"}
# Chance enters by the place of a column: masks are drawn by place, and so are the folds of a comparison.
BY_PLACE = {"auto", "fscpu", "fscpu-mi", "lgbm-opt"}
# Chance enters by the values of rows too: folds and starts are drawn from them.
BY_VALUE = {"auto", "fscpu", "fscpu-mi"}
COARSE = {"pufs": 1e-3}  # a descent that stops before its end


@cache
def subject(method: str) -> Subject:
    own = {"prior": 0.5} if method == "pucfs" else {}
    return Subject(
        METHODS[method],
        {**quick(method), **own},
        may_choose_fewer=method in DECIDES,
        draws_by_column=method in BY_PLACE,
        draws_by_value=method in BY_VALUE,
        tolerance=COARSE.get(method, 1e-9),
    )


@pytest.mark.parametrize("method", list(METHODS))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it(check: Callable[[Subject], None], method: str) -> None:
    check(subject(method))


@pytest.mark.parametrize("method", ["rrpc", "fw-semifs", "es-mcrfs", "mrmr-ufs", "dt-rfe", "ndfs", "lasso"])
def test_flags_of_equal_counts_in_any_order_of_columns(method: str) -> None:
    """Two flags are set in as many labelled and as many other rows: sorted by their values they are the same."""
    rng = np.random.default_rng(5)
    frame = example_table(negatives=0)[["c", "label"]]
    for name in ("p", "q"):
        frame[name] = frame.groupby("label")["c"].transform(lambda c: rng.permutation(np.arange(len(c)) % 2))
    first, turned = (subject(method).run(frame[[*order, "label"]], k=2) for order in ("cpq", "qcp"))
    assert scores_of(turned) == pytest.approx(scores_of(first), rel=1e-9)
    assert set(turned.names) == set(first.names)
