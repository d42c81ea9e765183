"""From held-out scores to a choice: which methods are averaged, why, and what is said of the answer.

Few labels are held out, so that a winner is mostly luck: methods within one standard error of the best are averaged.
Where labelled rows gather in clusters far beyond chance almost any few columns predict them, and prediction no longer
tells who is relevant: then the search for columns that make clusters is used, with what soft labels say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spark_pufs.core.evidence.folds import corrected_error
from spark_pufs.errors import DataError, Fault
from spark_pufs.selectors.evidence.comparison import CHANCE, Comparison, Standing
from spark_pufs.selectors.evidence.trial import ALL

__all__ = ["CLUSTERING", "FLAGSHIP", "Choice", "choose"]

FLAGSHIP = "distil"  # used in any case where it is a candidate and not clearly worse; alone where labels are too few
CLUSTERING = "fscpu"  # finds the columns that make clusters
# In the mean where clusters decide: soft labels see a column that tells, whether or not it makes clusters.
CLUSTER_WEIGHTS = {CLUSTERING: 2.0, "soft-jmi": 1.0}
ALIKE = 1.0  # standard errors within which methods cannot be told apart
CLEARLY = 2.0  # standard errors that make a difference clear
FAR_AHEAD = 0.05  # of held-out AUC: a teacher that sees what the judge does not
MUCH = 0.02  # of PU-AUC: a loss against all features that is reported


@dataclass(frozen=True)
class Choice:
    """The methods to run, best first (more than one: average them), and why; the verdict in one line."""

    methods: tuple[str, ...]
    why: str
    verdict: str = ""
    warnings: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def shares(self) -> tuple[float, ...]:
        """The weight of each method in the mean: the same for all unless told."""
        return self.weights or (1.0,) * len(self.methods)


def choose(comparison: Comparison, names: Mapping[str, str], clusters: bool = False) -> Choice:
    """From the standings to a choice; ``names``: the method behind each name of a standing.

    ``clusters``: labelled rows gather in clusters far beyond chance, so that the clustering search decides unless it is
    clearly worse.
    """
    tried = [one for one in comparison.standings if one.method in names]
    ran = [one for one in tried if one.method in comparison.aucs]
    own = [one for one in ran if _heard(comparison, one.method, [other.method for other in ran])]
    if not own:
        found = f"{tried[0].method} {tried[0].note.rstrip('.')}"
        raise DataError(Fault("Option 'methods'", found, "Name a method that fits this table: see methods()."))
    own = _seeing(comparison, own)
    best = own[0]
    facts = f"{names[best.method]} has the best held-out PU-AUC, {best.auc:.3f} +- {best.auc_error:.3f}"
    by_name = {names[one.method]: one.method for one in own}
    if clusters and CLUSTERING in by_name and _within(comparison, best.method, by_name[CLUSTERING], CLEARLY):
        chosen = [by_name[name] for name in CLUSTER_WEIGHTS if name in by_name]
        how = "clusters gather the labelled rows, so that the columns which make these clusters are taken"
        weights = tuple(CLUSTER_WEIGHTS[names[name]] for name in chosen)
    else:
        chosen, weights = _alike(comparison, best.method, own, by_name.get(FLAGSHIP)), ()
        shown = " and ".join(names[name] for name in chosen)
        how = (
            f"{shown} cannot be told apart, so that their rankings are averaged"
            if len(chosen) > 1
            else "no other comes within one standard error"
        )
    verdict, warnings = _verdict(comparison, chosen)
    why = f"{verdict} {facts}; {how}.{_seen(comparison)}"
    return Choice(tuple(names[name] for name in chosen), why, verdict, warnings, weights)


def _alike(comparison: Comparison, best: str, own: list[Standing], flagship: str | None) -> list[str]:
    """The methods that cannot be told from the best; and the flagship, where it is not clearly worse."""
    alike = [one.method for one in own if _within(comparison, best, one.method, ALIKE)]
    if flagship and flagship not in alike and _within(comparison, best, flagship, CLEARLY):
        alike.append(flagship)
    return alike


def _heard(comparison: Comparison, name: str, ran: list[str]) -> bool:
    """A method that rests on clusters is used where they hold in every fold, or where it is clearly the best."""
    checks = comparison.checks.get(name, ())
    others = [other for other in ran if other != name]
    return all(check == "holds" for check in checks) or not any(
        _within(comparison, name, other, CLEARLY) for other in others
    )


def _seeing(comparison: Comparison, own: list[Standing]) -> list[Standing]:
    """The methods with a teacher alone, where it tells held-out labels far better than the judge does by all features.

    Then the judge is blind to what makes a row positive, such as to lie around all others, and its scores say little.
    """
    taught = [one for one in own if comparison.teachers.get(one.method)]
    if not taught or ALL not in comparison.aucs:
        return own
    lead = np.mean([comparison.teachers[one.method] for one in taught], axis=0) - np.array(comparison.aucs[ALL])
    return taught if lead.mean() > max(FAR_AHEAD, CLEARLY * corrected_error(lead, comparison.folds)) else own


def _seen(comparison: Comparison) -> str:
    """In how many folds clusters hold, where a method looked."""
    verdicts = next((found for found in comparison.checks.values() if found), ())
    holding = sum(verdict == "holds" for verdict in verdicts)
    return f" The cluster assumption held in {holding} of {len(verdicts)} folds." if verdicts else ""


def _verdict(comparison: Comparison, chosen: list[str]) -> tuple[str, tuple[str, ...]]:
    """Better than chance or not, worse than all features or not and by how much; and what of it is a warning."""
    aucs = np.mean([comparison.aucs[name] for name in chosen], axis=0)
    mean, error = float(aucs.mean()), corrected_error(aucs, comparison.folds)
    chance = np.array(comparison.aucs.get(CHANCE, (0.5,) * len(aucs)))
    gap, gap_error = float((aucs - chance).mean()), corrected_error(aucs - chance, comparison.folds)
    luck = mean - max(0.5, float(chance.mean())) <= CLEARLY * max(error, 0.0) or gap <= gap_error
    said = [f"{'No better' if luck else 'Better'} than chance: held-out PU-AUC {mean:.3f} +- {error:.3f}"]
    said.append(f"with labels redrawn {float(chance.mean()):.3f}")
    warnings = [f"{said[0]}, {said[1]}. The ranking may be noise: label more rows."] if luck else []
    if ALL in comparison.aucs:
        loss = np.array(comparison.aucs[ALL]) - aucs
        lost, loss_error = float(loss.mean()), corrected_error(loss, comparison.folds)
        said.append(
            f"all features {float(np.mean(comparison.aucs[ALL])):.3f} (difference {-lost:+.3f} +- {loss_error:.3f})"
        )
        if lost > MUCH:
            warnings.append(
                f"Worse than all features by {lost:.3f} +- {loss_error:.3f} of held-out PU-AUC: choose more features, "
                "or keep them all."
            )
    return f"{', '.join(said)}.", tuple(warnings)


def _within(comparison: Comparison, best: str, other: str, errors: float) -> bool:
    """Whether ``other`` comes within so many standard errors of ``best``."""
    gap, error = comparison.gap(best, other)
    return gap <= errors * error
