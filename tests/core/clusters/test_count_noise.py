"""The error of counting clusters on a part of the rows, against drawing parts again and again."""

from __future__ import annotations

import numpy as np
import pytest

from spark_pufs.core.clusters.count_noise import FIRST_ROWS, Rows
from spark_pufs.core.clusters.mixture_sample import make_sample, part_sizes


def test_the_error_is_that_of_drawing_parts() -> None:
    """600 of 800 labelled rows in a positive cluster of 2,000 rows; of all 8,000 rows 2,000 are used."""
    rng = np.random.default_rng(0)
    labelled = np.zeros(8000, bool)
    labelled[:800] = True
    inside = np.zeros(8000, bool)
    inside[:600] = inside[800:2200] = True
    few, others = part_sizes(800, 7200, 2000)
    logs = []
    for _ in range(3000):
        rows = np.r_[rng.choice(800, few, replace=False), 800 + rng.choice(7200, others, replace=False)]
        weight = np.where(labelled[rows], 800 / few, 7200 / others)
        hit = weight[inside[rows] & labelled[rows]].sum()
        logs.append(np.log(hit**2 / weight[inside[rows]].sum()))
    counts = np.array([[600.0, 200.0]]), np.array([[2000.0, 6000.0]])
    error = Rows(800, 7200, 2000)._error(np.array([600.0]), np.array([2000.0]), *counts)
    assert error[0] == pytest.approx(np.var(logs), rel=0.1)


def counts_of(effect: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """One cluster with 60 labelled rows of 100, and so many rows, beside a second one."""
    taken = 1000 * np.array(effect)
    return np.tile([60.0, 40.0], (len(effect), 1)), np.stack([taken, 10_000 - taken], axis=1)


def test_rows_are_doubled_where_masks_hardly_differ_and_kept_where_they_do() -> None:
    masks, rows = np.eye(6, dtype=bool), Rows.first(100, 9900, few=True)
    assert rows.used == FIRST_ROWS
    assert rows.after(masks, *counts_of([0.1, 0.3, 0.9, 1.5, 2.5, 4.0])).used == FIRST_ROWS
    alike = counts_of([1.0, 1.01, 0.99, 1.0, 1.01, 0.99])
    used = [rows.used]
    for _ in range(4):
        rows = rows.after(masks, *alike)
        used.append(rows.used)
    assert used == [1536, 3072, 6144, 10_000, 10_000]


def test_no_labelled_row_in_any_cluster_asks_for_nothing() -> None:
    rows = Rows.first(10, 5000, few=True)
    assert rows.after(np.eye(4, dtype=bool), np.zeros((4, 2)), np.full((4, 2), 2505.0)) == rows


def test_all_rows_where_few_are_not_wanted_or_all_fit() -> None:
    assert Rows.first(100, 9900, few=False).used == 10_000
    assert Rows.first(10, 90, few=True).used == 100


def test_a_part_of_a_sample_keeps_its_sums_and_its_frame() -> None:
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 4, 3000).astype(float)
    weight[7] = 5000.0  # one row that fills much of the table
    sample = make_sample(rng.normal(size=(3000, 4)), np.arange(3000) % 10 == 0, weight)
    part = sample.part(500)
    assert len(part.weight) <= 500
    assert part.total_labelled == pytest.approx(sample.total_labelled)
    assert part.weight.sum() == pytest.approx(weight.sum())
    assert part.weight.max() == pytest.approx(5000, rel=0.1)
    assert part.frame is sample.frame
    assert sample.part(3000) is sample
    assert sample.part(500).Z.tobytes() == part.Z.tobytes()
