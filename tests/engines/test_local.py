"""The local engine's threads."""

from __future__ import annotations

import pandas as pd
import sklearn.ensemble  # noqa: F401  (loads OpenMP)
from threadpoolctl import threadpool_info, threadpool_limits

from spark_pufs.core.search.kept_state import State
from spark_pufs.engines.local import LocalEngine


def pools(shared: State, unit: State) -> State:
    return {pool["user_api"]: pool["num_threads"] for pool in threadpool_info()}


def test_work_that_runs_side_by_side_does_not_start_threads_of_its_own() -> None:
    with threadpool_limits(3):
        found = LocalEngine(pd.DataFrame(), threads=2).each(pools, {}, [{}] * 4)
        assert set(pools({}, {}).values()) == {3}  # as before
    assert found == [{"blas": 1, "openmp": 1}] * 4
