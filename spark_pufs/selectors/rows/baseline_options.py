"""Options of the papers' baselines: all but ``rows`` are keywords of the function in ``core.baselines``."""

from __future__ import annotations

from dataclasses import dataclass

from spark_pufs.core.baselines.classes import SECOND_CLASSES, SecondClass
from spark_pufs.selectors.options import Options, number, one_of, whole

__all__ = [
    "BaselineOptions",
    "ClsOptions",
    "EsMcrfsOptions",
    "FwSemifsOptions",
    "JelsrOptions",
    "JsfsOptions",
    "MrmrUfsOptions",
    "NdfsOptions",
    "RfsOptions",
    "RrpcOptions",
    "SemifsOptions",
    "SselectOptions",
]


@dataclass(frozen=True)
class BaselineOptions(Options):
    """The option of every baseline: how many rows it is given at most."""

    rows: int = whole(4000, 2)


@dataclass(frozen=True)
class MrmrUfsOptions(BaselineOptions):
    """Options of mrmr-ufs."""

    neighbours: int = whole(5)


@dataclass(frozen=True)
class SselectOptions(BaselineOptions):
    """Options of sselect."""

    neighbours: int = whole(5)
    smoothness: float = number(0.1, 0, 1, open_low=False)
    second_class: SecondClass = one_of("plausible", *SECOND_CLASSES)


@dataclass(frozen=True)
class JsfsOptions(BaselineOptions):
    """Options of jsfs."""

    neighbours: int = whole(5)
    mu: float = number(9.95e-3, open_low=False)
    gamma: float = number(1e-11, open_low=False)
    second_class: SecondClass = one_of("plausible", *SECOND_CLASSES)
    iterations: int = whole(100)


@dataclass(frozen=True)
class EsMcrfsOptions(BaselineOptions):
    """Options of es-mcrfs."""

    rows: int = whole(1000, 2)
    steps: int = whole(6000)
    trees: int = whole(100)
    reward: str = one_of("accuracy", "accuracy", "auc")
    answer: str = one_of("last", "last", "policy")
    explore: float = number(0.5, 0, 1)


@dataclass(frozen=True)
class RfsOptions(BaselineOptions):
    """Options of rfs."""

    gamma: float = number(0.1)
    second_class: SecondClass = one_of("plausible", *SECOND_CLASSES)
    iterations: int = whole(100)


@dataclass(frozen=True)
class JelsrOptions(BaselineOptions):
    """Options of jelsr."""

    rows: int = whole(1000, 2)
    neighbours: int = whole(10)
    dimensions: int = whole(5)
    alpha: float = number(0.1)
    beta: float = number(0.1)
    iterations: int = whole(20)


@dataclass(frozen=True)
class NdfsOptions(BaselineOptions):
    """Options of ndfs."""

    rows: int = whole(1000, 2)
    neighbours: int = whole(10)
    clusters: int = whole(5)
    alpha: float = number(1.0)
    beta: float = number(0.1)
    gamma: float = number(1e8)
    iterations: int = whole(50)


@dataclass(frozen=True)
class RrpcOptions(BaselineOptions):
    """Options of rrpc."""

    rows: int = whole(20_000, 2)
    second_class: SecondClass = one_of("unlabelled", *SECOND_CLASSES)
    correlation: str = one_of("absolute", "absolute", "signed")


@dataclass(frozen=True)
class ClsOptions(BaselineOptions):
    """Options of cls."""

    neighbours: int = whole(5)
    second_class: SecondClass = one_of("plausible", *SECOND_CLASSES)


@dataclass(frozen=True)
class SemifsOptions(BaselineOptions):
    """Options of semifs."""

    neighbours: int = whole(5)
    reach: float = number(0.99, 0, 0.999999)


@dataclass(frozen=True)
class FwSemifsOptions(BaselineOptions):
    """Options of fw-semifs."""

    rows: int = whole(1000, 2)
    voters: int = whole(3)
    samplings: int = whole(10)
    sampling_rate: float = number(0.5, 0, 1)
    second_class: SecondClass = one_of("plausible", *SECOND_CLASSES)
