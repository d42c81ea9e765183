from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from spark_pufs.core.clusters.cluster_model import ClusterModel, VerdictKernel
from spark_pufs.core.clusters.mixture import MixtureSettings, fit_mask, make_sample
from spark_pufs.core.information.level_numbers import LevelNumbers
from spark_pufs.types import RawBatch, Text


@pytest.fixture
def model() -> ClusterModel:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (300, 2)), rng.normal(8, 1, (100, 2))])
    sample = make_sample(X, np.arange(400) >= 380)
    mixture = fit_mask(sample, np.ones(2, bool), MixtureSettings(components=2), seed=1)
    return ClusterModel(("a", "b"), np.full(2, -5.0), np.full(2, 12.0), np.zeros(2), mixture, np.array([True, False]))


def test_clusters_are_the_likeliest_components(model: ClusterModel) -> None:
    X = np.random.default_rng(1).uniform(-5, 12, (200, 2))
    mixture = model.mixture
    seen = mixture.frame.apply(X)
    density = [
        np.log(w) + multivariate_normal(m, np.diag(v)).logpdf(seen)
        for w, m, v in zip(mixture.weight, mixture.mean, mixture.covariance, strict=True)
    ]
    np.testing.assert_array_equal(model.clusters(X), np.argmax(density, axis=0))


def test_missing_and_infinite_values_have_a_cluster(model: ClusterModel) -> None:
    odd = np.array([[np.nan, np.nan], [np.inf, np.inf], [-np.inf, -np.inf]])
    plain = np.array([[0.0, 0.0], [12.0, 12.0], [-5.0, -5.0]])
    np.testing.assert_array_equal(model.clusters(odd), model.clusters(plain))


def test_counts_do_not_depend_on_batches(model: ClusterModel) -> None:
    X = np.random.default_rng(2).uniform(-5, 12, (101, 2))
    codes = np.where(np.arange(101) % 4 == 0, 0, -1).astype(np.int32)
    kernel = VerdictKernel(model, {"yes": 1})

    def counts(parts: int) -> np.ndarray:
        state = kernel.start()
        for piece in np.array_split(np.arange(101), parts):
            rows = RawBatch(X[piece], np.zeros(2, np.int64), [], Text(codes[piece], ["yes"]))
            state = state.merge(kernel.add(kernel.start(), rows))
        return state.counts

    one = counts(1)
    assert one.sum(axis=1).tolist() == [101, 26]
    for parts in (2, 7, 101):
        np.testing.assert_array_equal(counts(parts), one)


def test_text_columns_are_numbers_in_their_places(model: ClusterModel) -> None:
    """Values that the model's table did not have, and missing ones, are filled like missing numbers."""
    levels = LevelNumbers(("near", "far"), np.array([0.0, 8.0]), np.nan, np.nan)
    mixed = replace(model, text={"a": levels}, fill=np.array([8.0, 0.0]))
    words = Text(np.array([0, 1, 2, -1], np.int32), ["far", "near", "new"])
    batch = RawBatch(np.full((4, 1), 8.0), np.zeros(1, np.int64), [words], Text(np.full(4, -1, np.int32), []))
    assert (mixed.numeric, tuple(mixed.text)) == (("b",), ("a",))
    np.testing.assert_array_equal(mixed.numbers(batch), [[8, 8], [0, 8], [np.nan, 8], [np.nan, 8]])
    plain = np.array([[8.0, 8], [0, 8], [8, 8], [8, 8]])
    np.testing.assert_array_equal(mixed.clusters(mixed.numbers(batch)), model.clusters(plain))


def test_levels_survive_json(model: ClusterModel) -> None:
    levels = LevelNumbers(("near", "far"), np.array([0.0, 8.0]), 3.0, np.nan)
    again = ClusterModel.from_dict(
        json.loads(json.dumps(replace(model, text={"a": levels}).as_dict(), allow_nan=False))
    )
    words = Text(np.array([0, 1, 2, -1], np.int32), ["far", "near", "new"])
    np.testing.assert_array_equal(again.text["a"].of(words), [8, 0, 3, np.nan])


def test_model_survives_json(model: ClusterModel) -> None:
    again = ClusterModel.from_dict(json.loads(json.dumps(model.as_dict())))
    X = np.random.default_rng(3).uniform(-5, 12, (50, 2))
    np.testing.assert_array_equal(again.clusters(X), model.clusters(X))
    assert again.names == model.names


def test_clusters_that_a_batch_does_not_touch_count_nothing(model: ClusterModel) -> None:
    mixture = model.mixture
    first, weight = mixture.mean[0], np.array([0.4, 0.3, 0.3])
    means = np.array([first, first + 50, first + 90])
    three = replace(mixture, weight=weight, mean=means, covariance=np.ones((3, 2)))
    kernel = VerdictKernel(replace(model, mixture=three, positive=np.zeros(3, bool)), {"yes": 1})
    near = np.full((5, 2), 4.0)  # within reach of the first alone
    batch = RawBatch(near, np.zeros(2, np.int64), [], Text(np.array([0, -1, -1, 0, -1], np.int32), ["yes"]))
    assert kernel.add(kernel.start(), batch).counts.tolist() == [[5, 0, 0], [2, 0, 0]]
