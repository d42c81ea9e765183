"""sSelect and CLS: the Laplacian score, with labels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spark_pufs.core.baselines.classes import SecondClass, known_classes
from spark_pufs.core.baselines.graph import (
    Sparse,
    degrees,
    heat_width,
    laplacian,
    laplacian_score,
    neighbour_graph,
    ratio,
)
from spark_pufs.core.baselines.scored import Bools, Floats, Labels, Scored

__all__ = ["cls", "constrained_laplacian_score", "normalised_information", "sselect"]


def sselect(
    X: Floats,
    label: Labels,
    rng: np.random.Generator,
    *,
    neighbours: int = 5,
    smoothness: float = 0.1,
    second_class: SecondClass = "plausible",
) -> Scored:
    """-(lambda g'Lg / g'Dg + (1 - lambda) (1 - NMI(sign g, y))), lambda = ``smoothness`` (Zhao & Liu 2007).

    g is the column less its degree-weighted mean: a cut of the rows in two by its sign. The first term asks the cut to
    respect the graph, the second to agree with y on the rows of known class. With one class only (``second_class``
    "none") the second term is the same for all features.
    """
    S = neighbour_graph(X, neighbours)
    d = degrees(S)
    sign = known_classes(X, label, second_class)
    mean = d @ X / d.sum()
    above = mean <= X
    agreement = normalised_information(above[sign != 0], sign[sign != 0] == 1)
    return Scored(-(smoothness * laplacian_score(X, S) + (1 - smoothness) * (1 - agreement)))


def normalised_information(cuts: Bools, y: Bools) -> Floats:
    """I(cut; y) / mean(H(cut), H(y)) for every column of ``cuts`` (n, D); 0 where both are constant."""
    n = max(len(y), 1)
    joint = np.stack([(cuts == a)[y == b].sum(axis=0) for a in (False, True) for b in (False, True)]) / n  # (4, D)
    of_cut, of_y = joint[[0, 2]] + joint[[1, 3]], joint[[0, 1]] + joint[[2, 3]]
    h_cut, h_y, h_joint = (_entropy(p) for p in (of_cut, of_y, joint))
    return ratio(h_cut + h_y - h_joint, (h_cut + h_y) / 2, otherwise=0.0)


def _entropy(p: Floats) -> Floats:
    entropy: Floats = -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=0)
    return entropy


def cls(
    X: Floats,
    label: Labels,
    rng: np.random.Generator,
    *,
    neighbours: int = 5,
    second_class: SecondClass = "plausible",
) -> Scored:
    """Less the constrained Laplacian score (Benabdeslem & Hindawi 2011)."""
    sign = known_classes(X, label, second_class)
    return Scored(-constrained_laplacian_score(X, sign, _linked_graph(X, sign, neighbours)))


def constrained_laplacian_score(X: Floats, sign: NDArray[np.int8], S: Sparse) -> Floats:
    """sum_ij (fi - fj)^2 S_ij / (sum_i,j cannot-link (fi - fj)^2 D_i + sum_i unlabelled (fi - mean)^2 D_i) per column.

    Without any label it is twice the Laplacian score: mean weighted by degree, as there.
    """
    d = degrees(S)
    rough = 2 * np.einsum("ij,ij->j", X, laplacian(S) @ X)
    free = sign == 0
    spread = d[free] @ (X - d @ X / d.sum())[free] ** 2
    one, other = sign == 1, sign == -1
    apart = _squared_gaps(X[one], d[one], X[other]) + _squared_gaps(X[other], d[other], X[one])
    return ratio(rough, spread + apart, otherwise=4.0)


def _squared_gaps(A: Floats, weight: Floats, B: Floats) -> Floats:
    """sum_i weight_i sum_j (a_i - b_j)^2 per column."""
    gaps: Floats = len(B) * (weight @ A**2) - 2 * (weight @ A) * B.sum(axis=0) + weight.sum() * (B**2).sum(axis=0)
    return gaps


def _linked_graph(X: Floats, sign: NDArray[np.int8], neighbours: int) -> Sparse:
    """The neighbour graph, and heat weights between all rows of one class: must-links."""
    from scipy.spatial.distance import cdist
    from sklearn.neighbors import kneighbors_graph

    near = kneighbors_graph(X, min(neighbours, len(X) - 1), mode="distance").data
    width = heat_width(near**2)
    S = neighbour_graph(X, neighbours, width)
    for value in (1, -1):
        members = np.flatnonzero(sign == value)
        weights = np.exp(-cdist(X[members], X[members], "sqeuclidean") / width)
        np.fill_diagonal(weights, 0.0)
        rows, columns = np.meshgrid(members, members, indexing="ij")
        links = sp.csr_array((weights.ravel(), (rows.ravel(), columns.ravel())), shape=S.shape)
        S = sp.csr_array(S.maximum(links))
    return S
