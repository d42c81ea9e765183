"""Figs 6 to 10 of Sechidis & Brown 2017: Markov blankets of hidden labels, on samples of Bayesian networks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar

import pandas as pd
from pydantic import Field

from spark_pufs.core.synthetic.bayes_net import Network, read_bif, targets
from spark_pufs.errors import ConfigError, DataError, Fault
from spark_pufs.masking.texts import gist
from spark_pufs.studies.sechidis_brown import blanket_trial
from spark_pufs.studies.sechidis_brown.blanket_summary import MEASURES, picture, summary, tables
from spark_pufs.studies.settings import check_known
from spark_pufs.studies.study import Row, Unit, chooses

__all__ = ["NETWORKS", "MarkovBlankets"]

NETWORKS = ("hailfinder", "barley", "insurance", "alarm")  # of the paper's Table 2, the longest to run first


@dataclass(frozen=True)
class MarkovBlankets:
    """The paper: ten trials, thirty draws of the labels; it does not state its alpha."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    name: ClassVar[str] = "markov_blankets"

    data: str | None = None
    seed: int = 0
    draws: Annotated[int, Field(ge=1)] = 10
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    pu_share: Annotated[float, Field(gt=0, lt=0.15)] = 0.05  # targets have at least 0.15 positives
    repeats: Annotated[int, Field(ge=1)] = chooses(10)
    networks: tuple[str, ...] = chooses(NETWORKS)
    sizes: tuple[tuple[int, int], ...] = chooses(((5000, 250), (2000, 200)))  # rows, and how many of them are labelled

    def units(self) -> list[Unit]:
        check_known("markov_blankets.networks", self.networks, NETWORKS)
        for rows, labelled in self.sizes:
            if not 2 <= labelled <= rows:
                found = f"{labelled} of {rows} rows cannot be labelled"
                raise ConfigError(
                    Fault("Setting 'markov_blankets.sizes'", found, "Give [rows, labelled], as [2000, 200].")
                )
        return [
            {"dataset": network, "rows": rows, "labelled": labelled, "repeat": repeat}
            for repeat in range(self.repeats)
            for rows, labelled in self.sizes
            for network in self.networks
        ]

    def run(self, unit: Unit) -> list[Row]:
        """All targets of one sample; a row's message is its target and the blanket found."""
        network = _network(str(self.data), unit["dataset"])
        protocol = blanket_trial.BlanketProtocol(self.seed, self.draws, self.alpha, self.pu_share)
        named = {"dataset": unit["dataset"], "repeat": unit["repeat"], "at": unit["rows"]}
        rows: list[Row] = []
        for target in targets(network):
            one = blanket_trial.Unit(unit["dataset"], unit["rows"], unit["labelled"], unit["repeat"], target)
            for found in blanket_trial.run_unit(network, one, protocol):
                told = {
                    "condition": found["scenario"],
                    "method": found["method"],
                    "message": f"{target}: {found['blanket']}" + _cut_short(found["stopped"]),
                }
                rows += [named | told | {"measure": measure, "value": found[measure]} for measure in MEASURES]
        return rows

    def tables(self, results: pd.DataFrame) -> dict[str, str]:
        return {"markov_blankets.md": tables(summary(results))}

    def pictures(self, results: pd.DataFrame) -> dict[str, bytes]:
        return picture(summary(results))


def _cut_short(stopped: int) -> str:
    return f" (memory stopped {stopped} of the draws)" if stopped else ""


@lru_cache(maxsize=len(NETWORKS))
def _network(data: str, name: str) -> Network:
    path = Path(data) / "bayes_nets" / f"{name}.bif.gz"
    try:
        return read_bif(path.read_bytes())
    except OSError as error:
        raise DataError(Fault(f"Network '{name}'", f"cannot be read: {gist(error)}", "Check run.data.")) from error
