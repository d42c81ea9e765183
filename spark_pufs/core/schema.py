"""Which columns are features, and which label value means what: decided from names and values, no rows needed."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spark_pufs.errors import Fault, did_you_mean
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Column, LabelRule
from spark_pufs.values import number_text

__all__ = [
    "Glob",
    "Name",
    "Pattern",
    "Schema",
    "canonical_label",
    "label_states",
    "match",
    "patterns",
    "repeated",
    "resolve",
]

OTHERS = "*"
EVERY = "*"


@dataclass(frozen=True)
class Name:
    """A column of the table, by its whole name."""

    text: str


@dataclass(frozen=True)
class Glob:
    """Every column that fits; ``*``, ``?`` and ``[...]`` as in file names."""

    text: str

    def fits(self, name: str) -> bool:
        return fnmatch.fnmatchcase(name, self.text)


Pattern = Name | Glob


@dataclass(frozen=True)
class Schema:
    """The columns a selection reads, features in table order; ``table`` has all names, read or not."""

    label: str
    numeric: tuple[str, ...]
    text: tuple[str, ...]
    order: tuple[str, ...]
    skipped: Mapping[str, str]
    table: tuple[str, ...]


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
    faults = repeated(names) + _unwritable(names)
    if label not in names:
        faults.append(_no_column(label, names))
    included, left_out, as_text = (patterns(texts, names) for texts in (include, [*exclude, *keep], categorical))
    for option, texts in (("features", include), ("exclude", exclude), ("keep", keep), ("categorical", categorical)):
        faults += [_no_match(option, one.text, names) for one in patterns(texts, names) if not match(names, [one])]
    if label in include:
        faults.append(Fault(f"Column '{label}'", "is the label and cannot be a feature", "Take it out of features."))
    chosen = set(match(names, included)) - set(match(names, left_out)) - {label}
    categories = set(match(names, as_text))
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
    text = tuple(c.name for c in usable if c.kind == "text" or c.name in categories)
    numeric = tuple(c.name for c in usable if c.name not in text)
    return Schema(label, numeric, text, tuple(c.name for c in usable), skipped, tuple(names)), faults


def free_name(name: str, taken: Iterable[str]) -> str:
    """``name``, with underscores if something is called so already.

    >>> free_name("label", ["a", "label"])
    'label_'
    """
    names = set(taken)
    while name in names:
        name += "_"
    return name


def patterns(texts: Iterable[str], columns: Iterable[str]) -> list[Pattern]:
    """What users wrote, read against all ``columns`` of the table: the name of one is that name, whatever it holds.

    ``*`` alone is always every column, as where nothing is asked for; ``[*]`` is the one of that name.

    >>> patterns(["b[1]", "b*", "b1"], ["b[1]", "b1"])
    [Name(text='b[1]'), Glob(text='b*'), Name(text='b1')]
    """
    known = set(columns) - {EVERY}
    return [Glob(text) if text not in known and any(mark in text for mark in "*?[") else Name(text) for text in texts]


def match(names: Iterable[str], wanted: Iterable[Pattern]) -> list[str]:
    """The names that one of the patterns means, in the order of the names.

    >>> match(["a.x", "b[1]", "b1"], [Name("b[1]")]), match(["a.x", "b[1]", "b1"], [Glob("b*")])
    (['b[1]'], ['b[1]', 'b1'])
    """
    every = list(wanted)
    named, globs = {one.text for one in every if isinstance(one, Name)}, [one for one in every if isinstance(one, Glob)]
    return [name for name in names if name in named or any(glob.fits(name) for glob in globs)]


def canonical_label(value: object) -> str | None:
    """One text for a label value however it is typed: 1, 1.0, True, "1" and "true" are the same.

    >>> [canonical_label(v) for v in (1, 1.0, True, "1.0", "true", "01", "spam", None)]
    ['1', '1', '1', '1', '1', '01', 'spam', None]
    """
    if value is None or value != value:
        return None
    text = value if isinstance(value, str) else number_text(value)
    if text.lower() in ("true", "false"):
        return str(int(text.lower() == "true"))
    return re.sub(r"\.0+$", "", text) if re.fullmatch(r"-?(0|[1-9]\d*)\.0+", text) else text


def _declared(values: Iterable[object], found: set[str | None]) -> set[str | None]:
    """The keys of declared values; a text that stands in no row is also read as the number that it writes."""
    keys = {canonical_label(value) for value in values}
    absent = [key for key in keys if key is not None and key not in found and _NUMBER.fullmatch(key)]
    return keys | {number_text(float(key)) for key in absent}


_NUMBER = re.compile(r"[+-]?(0|[1-9]\d{0,40})(\.\d{1,40})?([eE][+-]?\d{1,3})?")  # 01 is a text


def label_states(found: Mapping[str | None, int], rule: LabelRule) -> tuple[dict[str, int], list[Fault]]:
    """The state of each label value found, and a fault for values that nobody declared."""
    keys = {canonical_label(value) for value in found}
    positive, negative = _declared(rule.positive, keys), _declared(rule.negative, keys)
    # Whatever is declared positive or negative is no longer unlabelled by default.
    unlabelled = _declared(rule.unlabelled, keys) - positive - negative
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
        'Add the values to `positive`, `negative` or `unlabelled` ("*" there means all others).',
    )


def _overlap(rule: LabelRule, both: set[str | None]) -> list[Fault]:
    if not both:
        return []
    values = ", ".join(sorted(str(value) for value in both))
    return [Fault("Option 'label'", f"{values} is declared positive and negative", "Declare each value once.")]


def repeated(names: Sequence[str]) -> list[Fault]:
    """A fault for each name that more than one column has."""
    seen: set[str] = set()
    twice = {name for name in names if name in seen or seen.add(name)}  # type: ignore[func-returns-value]
    return [Fault(f"Column '{name}'", "occurs twice in the table", "Rename one of them.") for name in sorted(twice)]


def _unwritable(names: Sequence[str]) -> list[Fault]:
    """Names with halves of characters, which no file, no message and no other engine can hold."""
    halves = [name for name in names if any("\ud800" <= sign <= "\udfff" for sign in name)]
    return [Fault(f"Column '{name}'", "its name holds an unpaired surrogate", "Rename it.") for name in halves]


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
