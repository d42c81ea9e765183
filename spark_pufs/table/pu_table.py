"""The PU table: from columns of any engine to checked, binned, packed blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from spark_pufs.core.counting.bins import categories_by_count, equal_width_edges
from spark_pufs.core.counting.equal_frequency import equal_frequency_edges, separating_edges
from spark_pufs.core.counting.profile import MOST_VALUES, Profile, ProfileKernel
from spark_pufs.core.counting.sentinels import sentinels
from spark_pufs.core.information.surrogate import Labels
from spark_pufs.core.schema import Schema, label_states, match, patterns, resolve
from spark_pufs.engines.base import Blocks, Engine, Grader, Packer, Source
from spark_pufs.errors import DataError, Fault, did_you_mean
from spark_pufs.request import Binning, Request
from spark_pufs.table.limits import Limits, limits_of
from spark_pufs.types import LABELLED_NEGATIVE, LABELLED_POSITIVE, UNLABELLED, Bins, Column, Layout

__all__ = ["Frozen", "NearCopy", "PUTable", "Plan", "bins_of", "inspect", "narrowed", "pack", "packer"]

IDENTIFIER_ROWS = 100  # below this, all-distinct integers are nothing remarkable


@dataclass(frozen=True)
class NearCopy:
    """A column that nearly repeats feature ``of``: how far they agree, 1 being the same order of all rows."""

    of: str
    agreement: float


@dataclass(frozen=True)
class Frozen:
    """Cut points and near copies that were settled before, by rows that are no longer read."""

    bins: tuple[Bins, ...]
    near_copies: Mapping[str, NearCopy]
    digest: str


@dataclass(frozen=True)
class Plan:
    """A table that was read once and found fit: what will be packed, what is left out, what to look at."""

    schema: Schema
    profile: Profile
    labels: Labels
    states: Mapping[str, int]
    features: tuple[str, ...]
    dropped: Mapping[str, str]
    warnings: tuple[str, ...]
    source: Source
    binning: Binning
    limits: Limits  # of ``columns``
    copies: Mapping[str, str] = field(default_factory=dict)  # columns equal to a feature that stands for them
    near_copies: Mapping[str, NearCopy] = field(default_factory=dict)  # columns that nearly repeat a feature
    frozen: Frozen | None = None
    drawn_from: Labels | None = None  # rows that can still be drawn, where not all can

    @property
    def columns(self) -> tuple[str, ...]:
        """The features, their copies and near copies, in table order."""
        own = {*self.features, *self.copies, *self.near_copies}
        return tuple(name for name in self.schema.order if name in own)

    def limits_on(self, features: Iterable[str]) -> Limits:
        """The limits on some of the columns."""
        place = {name: i for i, name in enumerate(self.columns)}
        return self.limits.of([place[name] for name in features])


@dataclass(frozen=True)
class PUTable:
    """Packed rows and everything known of them; feature i has ``bins[i]`` and stands i-th in ``layout``."""

    plan: Plan
    bins: tuple[Bins, ...]
    layout: Layout
    blocks: Blocks

    @property
    def names(self) -> tuple[str, ...]:
        return self.plan.features

    @property
    def rows(self) -> int:
        return self.plan.profile.rows


def inspect(
    engine: Engine,
    request: Request,
    own_binning: Binning = "equal-frequency",
    known: Plan | None = None,
    frozen: Frozen | None = None,
) -> Plan:
    """Resolve the columns, read the table once, and raise all faults together.

    ``own_binning`` is the method's: what ``auto`` means to it. Rows behind a ``known`` plan of the same columns are not
    read again. With ``frozen`` bins, columns without some are left out.
    """
    columns = engine.columns()
    schema, faults = resolve(
        columns, request.label.column, request.include, request.exclude, request.keep, request.categorical
    )
    names = [column.name for column in columns]
    if schema.label not in names or not schema.order or len(set(names)) < len(names):
        raise DataError(faults)
    same = known is not None and known.schema == schema
    source, profile = (known.source, known.profile) if known and same else _profiled(engine, schema)
    states, label_faults = _labels(profile, request)
    dropped = dict(schema.skipped) | _uncut(schema, frozen) | _dropped(schema, profile, request.max_categories)
    features = tuple(name for name in schema.order if name not in dropped)
    faults += label_faults + _named_features(request, features, dropped, names)
    faults += _missing_faults(schema, profile, request)
    if profile.rows and not features and not label_faults:
        faults.append(_nothing_left(dropped))
    if faults:
        raise DataError(faults)
    labels = Labels(*_by_state(profile, states))
    return Plan(
        schema,
        profile,
        labels,
        states,
        features,
        dropped,
        _warnings(schema, profile, labels, request, features, _moments(columns)),
        source,
        request.binning_or(own_binning),
        limits_of(request, features, schema.table),
        frozen=frozen,
    )


def _uncut(schema: Schema, frozen: Frozen | None) -> dict[str, str]:
    """Columns that could not be cut when the others were."""
    if frozen is None:
        return {}
    cut = {one.name for one in frozen.bins if one.levels > 1}
    return {name: "one level when the cut points were made" for name in schema.order if name not in cut}


def _profiled(engine: Engine, schema: Schema) -> tuple[Source, Profile]:
    source = engine.source(schema.numeric, schema.text, schema.label)
    kernel = ProfileKernel(len(schema.numeric), len(schema.text))
    return source, kernel.read(source.scan(kernel, "profile"))


def narrowed(plan: Plan, engine: Engine, features: tuple[str, ...]) -> Plan:
    """The plan of some features, in table order; its source reads no other column."""
    numeric, text = (tuple(n for n in features if n in kind) for kind in (plan.schema.numeric, plan.schema.text))
    schema = replace(plan.schema, numeric=numeric, text=text, order=features)
    places = [plan.schema.numeric.index(name) for name in numeric], [plan.schema.text.index(name) for name in text]
    profile = plan.profile.of(*places)
    source = engine.source(numeric, text, schema.label)
    limits = plan.limits_on(features)
    return replace(plan, schema=schema, profile=profile, features=features, source=source, limits=limits)


def pack(
    plan: Plan, request: Request, known: Iterable[Bins] = (), grader: Grader | None = None, grouped: bool = False
) -> PUTable:
    """Bin every feature, unless all bins are ``known``, and pack the rows; none is read before the first count.

    With a ``grader`` blocks hold soft labels; ``grouped`` blocks say which group each row is in.
    """
    settled = plan.frozen.bins if plan.frozen else ()
    bins = {one.name: one for one in (*settled, *known)} or bins_of(plan, request)
    ordered = tuple(bins[name] for name in plan.features)
    blocks = plan.source.pack(replace(packer(plan, ordered), grader=grader, grouped=grouped))
    return PUTable(plan, ordered, Layout(tuple(b.levels for b in ordered)), blocks)


def packer(plan: Plan, bins: Iterable[Bins]) -> Packer:
    """What turns rows of the plan's source into codes, the feature of the first bins first."""
    own = {one.name: (row, one) for row, one in enumerate(bins)}
    numeric, text = (
        tuple((column, *own[name]) for column, name in enumerate(columns) if name in own)
        for columns in (plan.schema.numeric, plan.schema.text)
    )
    return Packer(numeric, text, plan.states)


def bins_of(plan: Plan, request: Request) -> dict[str, Bins]:
    """How every column of the table becomes levels."""
    profile, schema = plan.profile, plan.schema
    edges = _edges(plan, request)
    bins = {}
    for i, name in enumerate(schema.numeric):
        missing = bool(profile.nulls[i] + profile.nans[i])
        bins[name] = Bins(name, "numeric", edges=edges[i], missing=missing)
    for i, name in enumerate(schema.text):
        counts = profile.text_counts[i]
        if counts is not None:
            categories, pooled = categories_by_count(counts, request.max_categories)
            bins[name] = Bins(name, "text", categories=categories, pooled=pooled, missing=bool(profile.text_nulls[i]))
    return bins


def _edges(plan: Plan, request: Request) -> list[tuple[float, ...]]:
    profile = plan.profile
    if plan.binning == "equal-width":
        spans = zip(profile.low, profile.high, strict=True)
        return [equal_width_edges(low, high, request.bins) if low < high else () for low, high in spans]
    return [_quantile_edges(profile, column, request.bins) for column in range(len(profile.low))]


def _quantile_edges(profile: Profile, column: int, bins: int) -> tuple[float, ...]:
    """Edges of equal frequency in the profile's sample."""
    ends = [float(e) for e in (profile.low[column], profile.lowest.next[column], profile.high[column])]
    if not ends[0] < ends[2]:
        return ()
    values = profile.sample[:, column]
    edges = equal_frequency_edges(values, profile.sample_weight, bins)
    if edges or np.isnan(values).all():
        return edges
    return separating_edges(float(np.nanmin(values)), *ends)


def _labels(profile: Profile, request: Request) -> tuple[dict[str, int], list[Fault]]:
    column = f"Column '{request.label.column}'"
    if not profile.rows:
        return {}, [Fault("Table", "has no rows", "Check the path, the date or the filter.")]
    if profile.too_many_labels:
        found = f"has over {MOST_VALUES:,} distinct values"
        return {}, [Fault(column, found, "A label has a few values: name another column.")]
    states, faults = label_states(profile.labels, request.label)
    if faults:
        return states, faults
    positive = _by_state(profile, states)[0]
    if not positive:
        wanted = ", ".join(map(repr, request.label.positive))
        found = ", ".join(repr(value) for value in list(profile.labels)[:5])
        faults.append(
            Fault(
                column,
                f"no row is labelled positive ({wanted}); found {found}",
                "Name the value in `positive`.",
            )
        )
    elif positive == profile.rows:
        fix = "Add unlabelled rows: nothing can be learnt from positives alone."
        faults.append(Fault(column, f"all {profile.rows:,} rows are labelled positive", fix))
    return states, faults


def _by_state(profile: Profile, states: Mapping[str, int]) -> tuple[int, int, int]:
    """Rows labelled positive, labelled negative, unlabelled."""
    rows = [0, 0, 0]
    for value, count in profile.labels.items():
        rows[UNLABELLED if value is None else states[value]] += count
    return rows[LABELLED_POSITIVE], rows[LABELLED_NEGATIVE], rows[UNLABELLED]


def _dropped(schema: Schema, profile: Profile, max_categories: int) -> dict[str, str]:
    """Constant columns, text columns with too many values to count, and those that no level would be left of."""
    dropped = {}
    for i, name in enumerate(schema.numeric):
        absent = profile.nulls[i] + profile.nans[i]
        if profile.distinct[i] + (absent > 0) <= 1:
            dropped[name] = "constant"
        elif not profile.low[i] < profile.high[i] and not absent:
            dropped[name] = "constant but for infinities"
    for i, name in enumerate(schema.text):
        counts = profile.text_counts[i]
        if counts is None:
            dropped[name] = f"text with over {MOST_VALUES:,} distinct values, likely an identifier"
        elif len(counts) + (profile.text_nulls[i] > 0) <= 1:
            dropped[name] = "constant"
        elif categories_by_count(counts, max_categories) == ((), True) and not profile.text_nulls[i]:
            dropped[name] = "text, all values different, likely an identifier"
    return dropped


def _named_features(
    request: Request, features: tuple[str, ...], dropped: Mapping[str, str], table: Sequence[str]
) -> list[Fault]:
    """Features that options name one by one must be there."""
    faults = []
    for option, texts in (
        ("must", request.must),
        ("never", request.never),
        ("costs", tuple(name for name in request.costs if name not in request.groups)),
        ("groups", tuple(text for own in request.groups.values() for text in own)),
        ("labelled_by", request.labelled_by),
    ):
        for one in patterns(texts, table):
            if not match([*features, *dropped], [one]):
                found = f"'{one.text}' is not a feature"
                faults.append(Fault(f"Option '{option}'", found, did_you_mean(one.text, features)))
            elif option in ("must", "labelled_by") and not match(features, [one]):
                why = dropped[match(dropped, [one])[0]]
                fix = f"Take it out of {option}."
                faults.append(Fault(f"Option '{option}'", f"'{one.text}' was left out ({why})", fix))
    return faults


def _missing_faults(schema: Schema, profile: Profile, request: Request) -> list[Fault]:
    if request.missing != "error":
        return []
    counts = [*(profile.nulls + profile.nans), *profile.text_nulls]
    return [
        Fault(
            f"Column '{name}'",
            f"{count:,} of {profile.rows:,} values are missing",
            "Fill them, or set missing: value.",
        )
        for name, count in zip([*schema.numeric, *schema.text], counts, strict=True)
        if count
    ]


def _nothing_left(dropped: Mapping[str, str]) -> Fault:
    few = "; ".join(f"'{name}' {why}" for name, why in list(dropped.items())[:3])
    return Fault("Option 'features'", f"all {len(dropped)} features were left out ({few})", "Include others.")


def _warnings(
    schema: Schema, profile: Profile, labels: Labels, request: Request, features: tuple[str, ...], moments: set[str]
) -> tuple[str, ...]:
    notes = [
        f"Column '{name}': {kind}, nearly all different: an identifier? Put it into keep or exclude."
        for name, kind in _identifiers(schema, profile).items()
        if name in features and name not in moments
    ]
    for i, name in enumerate(schema.numeric):
        if profile.infinite[i]:
            notes.append(f"Column '{name}': {profile.infinite[i]:,} infinite values, counted in the outer bins.")
    notes += [f"Column '{name}': {found}" for name, found in sentinels(schema.numeric, profile) if name in features]
    if request.label.negative and not labels.negative:
        notes.append(f"Column '{schema.label}': no row has a value that means negative.")
    return tuple(notes)


def _moments(columns: Sequence[Column]) -> set[str]:
    """Times and days, which are nearly all different and number no rows."""
    return {column.name for column in columns if column.type.startswith(("timestamp", "datetime", "date"))}


def _identifiers(schema: Schema, profile: Profile) -> dict[str, str]:
    """Columns that may number the rows, and what they hold."""
    if profile.rows <= IDENTIFIER_ROWS:
        return {}
    many = 0.9 * profile.rows
    numbers = zip(schema.numeric, profile.distinct, profile.whole, strict=True)
    texts = zip(schema.text, profile.text_counts, strict=True)
    return {
        **{name: "whole numbers" for name, distinct, whole in numbers if whole and distinct > many},
        **{name: "text" for name, counts in texts if len(counts or ()) > many},
    }
