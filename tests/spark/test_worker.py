"""What a Python worker does once."""

from __future__ import annotations

import gc

from spark_pufs.spark.worker import freeze_loaded


def test_what_is_loaded_is_frozen_once() -> None:
    freeze_loaded.cache_clear()
    gc.unfreeze()
    try:
        freeze_loaded()
        frozen = gc.get_freeze_count()
        assert frozen > 10_000  # pytest and numpy alone
        later = [[] for _ in range(1000)]
        freeze_loaded()
        assert gc.get_freeze_count() <= frozen
        assert len(later) == 1000
    finally:
        gc.unfreeze()
