"""A taught teacher grades the rows of its training sample as training did, and any other row by the same rule."""

from __future__ import annotations

import numpy as np
import pytest

from spark_pufs.core.records import from_bytes, to_bytes
from spark_pufs.core.soft.distillation import soft_labels, taught
from spark_pufs.core.soft.encoding import Encoding, fine_bins, fine_codes
from spark_pufs.core.soft.folds import HashedFolds
from spark_pufs.core.soft.grading import TaughtTeacher
from spark_pufs.core.soft.teacher import FoldModels
from spark_pufs.types import FULL_GRADE, LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED

HIDDEN = 0.1
BINS = fine_bins(list("abcd"), np.random.default_rng(9).normal(size=(500, 4)), [])


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    y = X[:, 0] + X[:, 1] + rng.normal(size=900) > 2
    label = np.where(y & (rng.random(900) < 0.4), LABELLED_POSITIVE, UNLABELLED)
    label[np.flatnonzero(~y)[:20]] = LABELLED_NEGATIVE
    return fine_codes(X, BINS), label.astype(np.uint8)


@pytest.fixture(scope="module")
def teacher(rows: tuple[np.ndarray, np.ndarray]) -> tuple[TaughtTeacher, np.ndarray]:
    """Taught on the first 600 rows; with the soft labels of these."""
    codes, label = rows[0][:, :600], rows[1][:600]
    positive, encoding = label == LABELLED_POSITIVE, Encoding.of(codes, BINS)
    folds = HashedFolds.of(codes, positive, 4, 0)
    teaching, models = taught(codes, positive, folds, encoding, 10, 0)
    found = TaughtTeacher.of(teaching, label, encoding.layout, folds, tuple(models), HIDDEN)
    return found, soft_labels(teaching.target, positive, label == LABELLED_NEGATIVE, HIDDEN)


def test_rows_of_the_training_sample_have_the_grades_of_their_soft_labels(rows, teacher) -> None:
    grades = teacher[0].grades(rows[0][:, :600], rows[1][:600])
    assert np.array_equal(grades, np.rint(FULL_GRADE * teacher[1]))
    assert grades[rows[1][:600] == UNLABELLED].mean() / FULL_GRADE == pytest.approx(HIDDEN, abs=0.005)


def test_known_classes_keep_their_grade(rows, teacher) -> None:
    grades = teacher[0].grades(*rows)
    assert set(grades[rows[1] == LABELLED_POSITIVE]) == {FULL_GRADE}
    assert set(grades[rows[1] == LABELLED_NEGATIVE]) == {0}


def test_a_grade_depends_on_the_row_alone(rows, teacher) -> None:
    codes, label = rows
    whole = teacher[0].grades(codes, label)
    order = np.random.default_rng(1).permutation(len(label))
    assert np.array_equal(teacher[0].grades(np.ascontiguousarray(codes[:, order]), label[order]), whole[order])
    parts = [teacher[0].grades(codes[:, i : i + 7], label[i : i + 7]) for i in range(0, len(label), 7)]
    assert np.array_equal(np.concatenate(parts), whole)


def test_models_travel_as_arrays(rows, teacher) -> None:
    model = next(one for one in teacher[0].models if one is not None)
    again = from_bytes(FoldModels, to_bytes(model))
    layout = teacher[0].layout
    assert np.array_equal(again.scores(rows[0], layout), model.scores(rows[0], layout))
