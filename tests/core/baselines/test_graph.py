from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import laplacian as scipy_laplacian

from spark_pufs.core.baselines.classes import known_classes, plausible_negatives
from spark_pufs.core.baselines.graph import laplacian_score, neighbour_graph, normalised_laplacian, propagate
from spark_pufs.core.baselines.scored import Scored, canonical_order, converged, forward, settled, tied
from support.planting import Peer

PATH = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))


def test_laplacian_score_by_hand() -> None:
    # degrees 1 2 1, mean 5/4, g = -5/4 -1/4 7/4: g'Lg = 1 + 4, g'Dg = 25/16 + 2/16 + 49/16
    score = laplacian_score(np.array([[0.0, 7], [1, 7], [3, 7]]), PATH)
    assert score == pytest.approx([5 / 4.75, 2.0])  # a constant column has the worst there is
    assert laplacian_score(np.array([[0.0], [1], [3]]) / 1000, PATH) == pytest.approx([5 / 4.75])  # in any unit


def test_neighbour_graph_by_hand() -> None:
    graph = neighbour_graph(np.array([[0.0], [1], [3]]), k=1).toarray()
    near, far = np.exp(-1 / 2), np.exp(-4 / 2)  # squared distances 1 1 4, mean 2
    assert graph == pytest.approx(np.array([[0, near, 0], [near, 0, far], [0, far, 0]]))


def test_equal_rows_are_neighbours() -> None:
    assert neighbour_graph(np.zeros((4, 2)), k=2).sum() >= 8


def test_normalised_laplacian_as_scipy() -> None:
    S = neighbour_graph(np.random.default_rng(0).random((20, 3)), k=4)
    assert normalised_laplacian(S).toarray() == pytest.approx(scipy_laplacian(S, normed=True).toarray())


def test_laplacian_score_as_scikit_feature(peer: Peer) -> None:
    # scikit-feature's construct_W (heat_kernel, k=4, t=0.5: exp(-d^2 / 2t^2)) without its self-loops, and lap_score
    score = laplacian_score(peer[0], neighbour_graph(peer[0], 4, width=0.5))
    assert score == pytest.approx([0.421362, 0.387684, 0.524604, 0.354964, 0.252874], abs=1e-6)


def test_plausible_negatives_are_the_farthest() -> None:
    X = np.array([[0.0], [0.1], [0.2], [1.0], [0.9], [0.3]])
    label = np.array([1, 1, 0, 0, 0, 0], np.uint8)
    assert plausible_negatives(X, label).tolist() == [3, 4]
    assert known_classes(X, label, "plausible").tolist() == [1, 1, 0, -1, -1, 0]
    assert known_classes(X, label, "unlabelled").tolist() == [1, 1, -1, -1, -1, -1]
    assert known_classes(X, label, "none").tolist() == [1, 1, 0, 0, 0, 0]


def test_similarity_is_as_wide_as_the_groups_lie_apart() -> None:
    # squared distances to 0 and 4: of 2: 4 4, of 5: 25 1, of 10: 100 36; their mean is 85 / 3. In units of it the
    # similarities are 0.87, 0.69 and 0.16; measured too finely, 5 would be the most similar for its one near neighbour
    X = np.array([[0.0], [4], [2], [5], [10]])
    assert plausible_negatives(X, np.array([1, 1, 0, 0, 0], np.uint8)).tolist() == [3, 4]


@pytest.mark.parametrize("second", ["plausible", "unlabelled", "none"])
def test_labelled_negatives_are_the_second_class(second: str) -> None:
    label = np.array([1, 0, 2], np.uint8)
    assert known_classes(np.eye(3), label, second).tolist() == [1, 0, -1]  # type: ignore[arg-type]


def test_canonical_order_undoes_shuffling() -> None:
    rng = np.random.default_rng(3)
    X, label = rng.random((30, 6)).round(1), rng.integers(0, 2, 30).astype(np.uint8)
    rows, columns = rng.permutation(30), rng.permutation(6)
    a, b = canonical_order(X, label)
    c, d = canonical_order(X[rows][:, columns], label[rows])
    assert np.array_equal(X[a][:, b], X[rows][:, columns][c][:, d])
    assert np.array_equal(label[a], label[rows][c])


def test_equal_columns_stay_in_order() -> None:
    X = np.array([[0.5, 0.1, 0.5], [0.2, 0.3, 0.2]])
    columns = canonical_order(X, np.zeros(2, np.uint8))[1].tolist()
    assert columns.index(0) < columns.index(2)


def test_settled_makes_ties_of_rounding() -> None:
    assert len(set(settled(np.array([1.0, 1 + 1e-13, 1 - 1e-13])))) == 1
    assert len(set(settled(np.array([1.0, 1.001])))) == 2
    assert settled(np.zeros(2)).tolist() == [0, 0]


def test_converged() -> None:
    assert not converged([1.0], 0.1)
    assert not converged([1.0, 0.5], 0.1)
    assert converged([1.0, 0.95], 0.1)
    # the last gain against a tenth of the last value, whatever came before
    assert converged([0.0, 1000, 10, 9.5], 0.1)
    assert not converged([0.0, 1000, 10, 8.5], 0.1)
    assert not converged([0.0, 1000, 10, 9.05], 0.1)


def test_equal_columns_share_the_mean_of_their_scores() -> None:
    X = np.array([[0.5, 0.1, 0.5], [0.2, 0.3, 0.2]])
    assert tied(np.array([1.0, 5, 3]), X).tolist() == [2, 5, 2]


def test_forward_keeps_the_score_of_the_choice() -> None:
    def score(chosen: list[int]) -> NDArray[np.float64]:
        return np.array([3.0, 2.0, 2.0]) - len(chosen)

    def two(chosen: list[int]) -> NDArray[np.bool_]:
        return np.array([i not in chosen and len(chosen) < 2 for i in range(3)])

    found = forward(score, two)
    assert isinstance(found, Scored)
    assert found.order == (0, 1)
    assert found.scores.tolist() == pytest.approx([3, 1, 1])


def test_propagation_by_hand() -> None:
    # row 1 hangs on labelled row 0 alone and gives up with probability 1/4; row 2 hangs on row 1 alone
    S = sp.csr_array(np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    F = propagate(S, np.array([[True], [False], [False]]), reach=0.75)
    # f1 = 3/8 (1 + f2), f2 = 3/4 f1
    f1 = 0.375 / (1 - 0.375 * 0.75)
    assert pytest.approx(np.array([[1, 0], [f1, 1 - f1], [0.75 * f1, 1 - 0.75 * f1]])) == F


def test_propagation_is_the_inverse_it_stands_for() -> None:
    rng = np.random.default_rng(1)
    S = neighbour_graph(rng.random((25, 3)), 4)
    labelled = np.zeros((25, 2), bool)
    labelled[:3, 0] = labelled[3:7, 1] = True
    known = labelled.any(axis=1)
    A, P = np.diag(np.where(known, 0.0, 0.9)), S.toarray() / S.toarray().sum(axis=1)[:, None]
    Y = np.column_stack([labelled, ~known]).astype(float)
    expected = np.linalg.solve(np.eye(25) - A @ P, (np.eye(25) - A) @ Y)
    assert propagate(S, labelled, 0.9) == pytest.approx(expected, abs=1e-8)


def test_a_row_far_from_all_others_still_hangs_on_its_neighbours() -> None:
    # copies make the mean squared distance small: the far row's heat weights would be 0, and its label undefined
    X = np.vstack([np.repeat(np.random.default_rng(0).random((20, 2)), 6, axis=0), [[1e3, 1e3]]])
    S = neighbour_graph(X, 5)
    assert (S.sum(axis=1) > 0).all()
    F = propagate(S, (np.arange(121) < 12)[:, None], 0.99)
    assert ((F >= -1e-9) & (F <= 1 + 1e-9)).all()
    assert F.sum(axis=1) == pytest.approx(np.ones(121))


def test_where_steps_do_not_lead_to_the_solution_it_is_found_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    labelled = np.array([[True], [False], [False]])
    expected = propagate(PATH, labelled, 0.75)
    monkeypatch.setattr("scipy.sparse.linalg.cg", lambda A, b, **_: (np.full(len(b), np.nan), 1))
    assert propagate(PATH, labelled, 0.75) == pytest.approx(expected)
