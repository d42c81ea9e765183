"""The local engine's threads."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import sklearn.ensemble  # noqa: F401  (loads OpenMP)
from threadpoolctl import threadpool_info, threadpool_limits

from spark_pufs.engines.local import LocalEngine


@dataclass(frozen=True)
class Pools:
    threads: dict[str, int]


def pools(shared: None, unit: None) -> Pools:
    return Pools({pool["user_api"]: pool["num_threads"] for pool in threadpool_info()})


def test_work_that_runs_side_by_side_does_not_start_threads_of_its_own() -> None:
    with threadpool_limits(3):
        found = LocalEngine(pd.DataFrame(), threads=2).each(pools, None, [None] * 4, Pools)
        assert set(pools(None, None).threads.values()) == {3}  # as before
    assert found == [Pools({"blas": 1, "openmp": 1})] * 4
