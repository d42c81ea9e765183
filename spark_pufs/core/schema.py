"""Which columns are features, and which label value means what: decided from names and values, no rows needed."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spark_pufs.errors import Fault, did_you_mean
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Column, LabelRule

__all__ = ["Schema", "canonical_label", "label_states", "match", "resolve"]

OTHERS = "*"


@dataclass(frozen=True)
class Schema:
    """The columns a selection reads, features in table order."""

    label: str
    numeric: tuple[str, ...]
    text: tuple[str, ...]
    order: tuple[str, ...]
    skipped: Mapping[str, str]


def resolve(
    columns: Sequence[Column],
    label: str,
    include: Sequence[str] = ("*",),
    exclude: Sequence[str] = (),
    keep: Sequence[str] = (),
    categorical: Sequence[str] = (),
) -> tuple[Schema, list[Fault]]:
    """Features = included, less excluded, kept and label columns; unsupported types are passed over unless named."""
    names = [column.name for column in columns]
    faults = _repeated(names)
    if label not in names:
        faults.append(_no_column(label, names))
    for option, patterns in (
        ("features", include),
        ("exclude", exclude),
        ("keep", keep),
        ("categorical", categorical),
    ):
        faults += [_no_match(option, pattern, names) for pattern in patterns if not match(names, [pattern])]
    if label in include:
        faults.append(Fault(f"Column '{label}'", "is the label and cannot be a feature", "Take it out of features."))
    chosen = set(match(names, include)) - set(match(names, [*exclude, *keep])) - {label}
    as_text = set(match(names, categorical))
    usable = [column for column in columns if column.name in chosen]
    skipped = {c.name: f"type {c.type} is not supported" for c in usable if c.kind == "unsupported"}
    faults += [
        Fault(f"Column '{name}'", why, "Leave it out, or turn it into numbers or text first.")
        for name, why in skipped.items()
        if name in include
    ]
    usable = [column for column in usable if column.kind != "unsupported"]
    if not usable:
        faults.append(Fault("Option 'features'", "no feature is left", f"The table has {_some(names)}; include more."))
    text = tuple(c.name for c in usable if c.kind == "text" or c.name in as_text)
    numeric = tuple(c.name for c in usable if c.name not in text)
    return Schema(label, numeric, text, tuple(c.name for c in usable), skipped), faults


def free_name(name: str, taken: Iterable[str]) -> str:
    """``name``, with underscores if something is called so already.

    >>> free_name("label", ["a", "label"])
    'label_'
    """
    names = set(taken)
    while name in names:
        name += "_"
    return name


def match(names: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """Names that equal a pattern or fit it as a glob, in the order of the names.

    >>> match(["a.x", "b[1]", "b1"], ["b[1]"])
    ['b[1]', 'b1']
    """
    wanted = set(patterns)
    globs = [re.compile(fnmatch.translate(p)) for p in wanted if any(mark in p for mark in "*?[")]
    return [name for name in names if name in wanted or any(glob.match(name) for glob in globs)]


def canonical_label(value: Any) -> str | None:
    """One text for a label value however it is typed: 1, 1.0, True, "1" and "true" are the same.

    >>> [canonical_label(v) for v in (1, 1.0, True, "1.0", "true", "01", "spam", None)]
    ['1', '1', '1', '1', '1', '01', 'spam', None]
    """
    if value is None or value != value:
        return None
    text = str(int(value)) if isinstance(value, bool) else str(value)
    if text.lower() in ("true", "false"):
        return str(int(text.lower() == "true"))
    return re.sub(r"\.0+$", "", text) if re.fullmatch(r"-?(0|[1-9]\d*)\.0+", text) else text


def label_states(found: Mapping[str | None, int], rule: LabelRule) -> tuple[dict[str, int], list[Fault]]:
    """The state of each label value found, and a fault for values that nobody declared."""
    positive = {canonical_label(v) for v in rule.positive}
    negative = {canonical_label(v) for v in rule.negative}
    # Whatever is declared positive or negative is no longer unlabelled by default.
    unlabelled = {canonical_label(v) for v in rule.unlabelled} - positive - negative
    states, strange = {}, {}
    for value, rows in found.items():
        key = canonical_label(value)
        if key is None or value is None:
            continue
        if key in positive:
            states[value] = LABELLED_POSITIVE
        elif key in negative:
            states[value] = LABELLED_NEGATIVE
        elif key in unlabelled or OTHERS in unlabelled:
            states[value] = UNLABELLED
        else:
            strange[value] = rows
    faults = _overlap(rule, positive & negative)
    if strange:
        faults.append(_undeclared(rule.column, strange, positive | negative | unlabelled))
    return states, faults


def _undeclared(column: str, strange: Mapping[str, int], declared: set[str | None]) -> Fault:
    expected = ", ".join(sorted(str(value) for value in declared if value is not None))
    values = ", ".join(f"{value!r}" for value in sorted(strange)[:5]) + (", ..." if len(strange) > 5 else "")
    return Fault(
        f"Column '{column}'",
        f"expected {expected} or null, found {values} in {sum(strange.values()):,} rows",
        'Add the values to label.positive, label.negative or label.unlabelled ("*" there means all others).',
    )


def _overlap(rule: LabelRule, both: set[str | None]) -> list[Fault]:
    if not both:
        return []
    values = ", ".join(sorted(str(value) for value in both))
    return [Fault("Option 'label'", f"{values} is declared positive and negative", "Declare each value once.")]


def _repeated(names: Sequence[str]) -> list[Fault]:
    seen: set[str] = set()
    twice = {name for name in names if name in seen or seen.add(name)}  # type: ignore[func-returns-value]
    return [Fault(f"Column '{name}'", "stands twice in the table", "Rename one of them.") for name in sorted(twice)]


def _no_column(name: str, names: Sequence[str]) -> Fault:
    return Fault(f"Column '{name}'", f"not found among {len(names)} columns", did_you_mean(name, names))


def _no_match(option: str, pattern: str, names: Sequence[str]) -> Fault:
    return Fault(
        f"Option '{option}'",
        f"'{pattern}' matches none of {len(names)} columns",
        did_you_mean(pattern, names),
    )


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{len(names)} columns ({shown}{', ...' if len(names) > 5 else ''})"
