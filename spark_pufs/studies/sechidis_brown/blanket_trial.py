"""One trial of the Markov blanket study: draw rows from a network, hide labels, find the blanket, count the errors.

Sechidis & Brown 2017, section 5. A unit of work is one target of one sample; its random numbers come from its own name
and the seed of the study, so that it gives the same answer wherever and in whatever company it runs.
"""

from __future__ import annotations

import collections
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spark_pufs.core.information.surrogate import Labels, choose_surrogate, kappa_mar_c
from spark_pufs.core.synthetic.bayes_net import Network, marginal, markov_blanket, sample
from spark_pufs.engines.base import Blocks
from spark_pufs.engines.local import LocalBlocks
from spark_pufs.selectors.information.markov import Measure, iamb, on_surrogate, pairwise
from spark_pufs.studies.study import Row
from spark_pufs.table.counter import Countable, Counter, SetCounts
from spark_pufs.table.limits import Limits
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Block, Layout

__all__ = ["BlanketProtocol", "Scenario", "Unit", "run_unit"]

Scenario = Literal["full", "pu", "pu-corrected", "mcar", "mar-c"]
Label = NDArray[np.uint8]
Class = NDArray[np.bool_]


@dataclass(frozen=True)
class BlanketProtocol:
    """What all units share: label draws per sample, the test's level, the labelled share of PU data."""

    seed: int = 0
    draws: int = 30
    alpha: float = 0.05
    pu_share: float = 0.05
    pair_memory_mb: int = 64


@dataclass(frozen=True)
class Unit:
    """One target of one sample of ``rows`` rows; ``labelled`` of them keep their label where both classes have some."""

    network: str
    rows: int
    labelled: int
    trial: int
    target: str


@dataclass(frozen=True)
class NetworkSample:
    """Rows as a counter wants them: codes (D, n) of every node but the target, and its class (n,)."""

    names: tuple[str, ...]
    layout: Layout
    codes: NDArray[np.uint8]
    positive: Class

    def labelled(self, label: Label) -> LabelledSample:
        return LabelledSample(self.names, self.layout, LocalBlocks([Block(self.codes, label)], []), len(label))


@dataclass(frozen=True)
class LabelledSample:
    """A sample with one draw of its labels."""

    names: tuple[str, ...]
    layout: Layout
    blocks: Blocks
    rows: int


class Remembering(Counter):
    """Methods that are given the same draw often ask for the same sets."""

    def __init__(self, table: Countable, pair_memory_mb: int) -> None:
        super().__init__(table, pair_memory_mb)
        self._known: dict[tuple[int, ...], SetCounts] = {}

    def given(self, features: tuple[int, ...]) -> SetCounts:
        if features not in self._known:
            self._known[features] = super().given(features)
        return self._known[features]


@dataclass(frozen=True)
class TrialSetting:
    """One scenario: its sample, a draw of labels, and the methods that are given the draw, by name."""

    scenario: Scenario
    sample: NetworkSample
    draws: int
    draw: Callable[[np.random.Generator], Label]
    methods: Callable[[Labels], dict[str, Measure]]


def run_unit(network: Network, unit: Unit, protocol: BlanketProtocol) -> Iterator[Row]:
    """One result per scenario and method."""
    prior = float(marginal(network, unit.target)[0])
    truth = markov_blanket(network, unit.target)
    for number, setting in enumerate(_settings(network, unit, protocol, prior)):
        for method, votes, stopped in _blankets(setting, number, unit, protocol):
            blanket, agreeing = votes.most_common(1)[0]  # of equally frequent blankets, the first drawn
            yield {
                **{name: getattr(unit, name) for name in ("network", "rows", "trial", "target")},
                "scenario": setting.scenario,
                "method": method,
                "sample_rows": len(setting.sample.positive),
                "prior": prior,
                "draws": setting.draws,
                "agreeing": agreeing,
                "stopped": stopped,
                "blanket": " ".join(sorted(blanket)),
                **_errors(blanket, truth),
            }


def _blankets(
    setting: TrialSetting, number: int, unit: Unit, protocol: BlanketProtocol
) -> Iterator[tuple[str, collections.Counter[frozenset[str]], int]]:
    """For each method, how often each blanket was found, and how often memory stopped one."""
    votes: dict[str, collections.Counter[frozenset[str]]] = collections.defaultdict(collections.Counter)
    stopped: collections.Counter[str] = collections.Counter()
    names = setting.sample.names
    for draw in range(setting.draws):
        label = setting.draw(_random(protocol, unit, f"{unit.target} {number} {draw}"))
        counter = Remembering(setting.sample.labelled(label), protocol.pair_memory_mb)
        for method, measure in setting.methods(_labels(label)).items():
            found = iamb(counter, _unbounded(len(names)), measure, protocol.alpha)
            votes[method][frozenset(names[feature] for feature in found.blanket)] += 1
            stopped[method] += found.full
    for method, count in votes.items():
        yield method, count, stopped[method]


def _settings(network: Network, unit: Unit, protocol: BlanketProtocol, prior: float) -> Iterator[TrialSetting]:
    rows = sample(network, unit.rows, _random(protocol, unit, "rows"))
    first = _sample(network, rows, unit.target)
    # Theorem 7: as many rows more as the surrogate takes to test like the class itself.
    larger = round(unit.rows / kappa_mar_c("y0", prior, protocol.pu_share))
    more = sample(network, larger - unit.rows, _random(protocol, unit, f"{unit.target} more rows"))
    wide = _sample(network, np.vstack([rows, more]), unit.target)
    yield TrialSetting("full", first, 1, lambda rng: _all_labels(first.positive), lambda labels: _IAMB)
    for name, data in (("pu", first), ("pu-corrected", wide)):
        positives = round(protocol.pu_share * len(data.positive))
        yield TrialSetting(name, data, protocol.draws, _drawing(data.positive, positives, 0), lambda labels: _IAMB_Y0)  # type: ignore[arg-type]
    for name, share in (("mcar", prior), ("mar-c", 1 - prior)):
        positives = round(share * unit.labelled)
        draw = _drawing(first.positive, positives, unit.labelled - positives)
        yield TrialSetting(name, first, protocol.draws, draw, lambda labels: _semi_supervised(labels, prior))  # type: ignore[arg-type]


_IAMB = {"iamb": on_surrogate("labelled")}
_IAMB_Y0 = {"iamb-y0": on_surrogate("y0")}


def _semi_supervised(labels: Labels, prior: float) -> dict[str, Measure]:
    return {
        "semi-iamb": on_surrogate(choose_surrogate(labels, prior).name),
        "listwise-iamb": on_surrogate("labelled"),
        "pairwise-iamb": pairwise,
    }


def _sample(network: Network, rows: NDArray[np.uint8], target: str) -> NetworkSample:
    """The first state of the target is the positive class (see ``bayes_net.targets``)."""
    place = network.names.index(target)
    names = tuple(name for name in network.names if name != target)
    codes = np.ascontiguousarray(np.delete(rows, place, axis=1).T)
    return NetworkSample(
        names, Layout(tuple(len(network.nodes[name].states) for name in names)), codes, rows[:, place] == 0
    )


def _all_labels(positive: Class) -> Label:
    return np.where(positive, LABELLED_POSITIVE, LABELLED_NEGATIVE).astype(np.uint8)


def _drawing(positive: Class, positives: int, negatives: int) -> Callable[[np.random.Generator], Label]:
    """Labels kept for so many rows of each class, drawn at random; all of a class where it has fewer."""

    def draw(rng: np.random.Generator) -> Label:
        label = np.full(len(positive), UNLABELLED, np.uint8)
        for state, rows, count in (
            (LABELLED_POSITIVE, np.flatnonzero(positive), positives),
            (LABELLED_NEGATIVE, np.flatnonzero(~positive), negatives),
        ):
            label[rng.choice(rows, min(count, len(rows)), replace=False)] = state
        return label

    return draw


def _labels(label: Label) -> Labels:
    counts = np.bincount(label, minlength=3)
    return Labels(int(counts[LABELLED_POSITIVE]), int(counts[LABELLED_NEGATIVE]), int(counts[UNLABELLED]))


def _random(protocol: BlanketProtocol, unit: Unit, use: str) -> np.random.Generator:
    words = (zlib.crc32(word.encode()) for word in (unit.network, use))
    return np.random.default_rng([protocol.seed, unit.rows, unit.trial, *words])


def _unbounded(features: int) -> Limits:
    return Limits(features, np.ones(features), np.inf, (), np.zeros(features, bool))


def _errors(found: frozenset[str], truth: set[str]) -> dict[str, float]:
    """Nodes falsely in and falsely out; F is the harmonic mean of precision and recall, 0 for an empty blanket."""
    wrong, missed = len(found - truth), len(truth - found)
    hits = len(found & truth)
    return {"false_positives": wrong, "false_negatives": missed, "f_measure": 2 * hits / (2 * hits + wrong + missed)}
