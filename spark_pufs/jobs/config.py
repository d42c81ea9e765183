"""YAML to a checked run configuration; an unknown key is an error with a suggestion."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from spark_pufs.errors import ConfigError, Fault, did_you_mean
from spark_pufs.jobs.plain_yaml import MOST_BYTES, NotPlain, read_yaml
from spark_pufs.jobs.settings_shown import (
    Setting,
    address_read,
    conf_read,
    is_harmless,
    options_read,
    places_masked,
    shown_settings,
)
from spark_pufs.masking.addresses import MASK, Address
from spark_pufs.masking.texts import gist, masked, masked_texts
from spark_pufs.memory.settings import MemorySettings, Refit
from spark_pufs.request import DEFAULT_METHOD, Request
from spark_pufs.types import LabelRule, column_name
from spark_pufs.values import shown

__all__ = [
    "OutputConfig",
    "RunConfig",
    "Section",
    "SelectionOutput",
    "SparkConfig",
    "load_settings",
    "overrides_in",
    "resolved",
    "settings_from",
    "settings_of",
    "with_overrides",
]

Settings = TypeVar("Settings", bound=BaseModel)
# What may hold secrets is hidden by its type: a configuration that is written or printed does not show it.
Place = Annotated[Address, PlainValidator(address_read), PlainSerializer(lambda place: place.shown)]
Conf = Annotated[Mapping[str, Setting], PlainValidator(conf_read), PlainSerializer(shown_settings)]
Options = Annotated[Mapping[str, Setting], PlainValidator(options_read), PlainSerializer(shown_settings)]
EXAMPLE = "conf/select_features.yaml"


def _overwrite_read(value: object) -> bool | Literal["changed"]:
    """One message for both kinds of values."""
    if value == "changed":
        return "changed"
    try:
        return TypeAdapter(bool).validate_python(value)
    except ValidationError:
        raise ValueError("must be true, false or changed") from None


def _moment_read(value: object) -> str:
    """A moment as Spark reads it; YAML may have made a date of it."""
    try:
        datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError("must be a time such as 2026-03-02 12:00:00") from None
    return str(value)


Moment = Annotated[str, PlainValidator(_moment_read)]
Overwrite = Annotated[bool | Literal["changed"], PlainValidator(_overwrite_read)]


class Section(BaseModel):
    """Part of a configuration file: a key it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceConfig(Section):
    """Where the table is: a path with a format, a catalog table, or a format that its options are enough for.

    ``version``, ``timestamp``: the state of a table of Delta or Iceberg that is read; else the newest.
    """

    path: Place | None = None
    table: str | None = None
    format: str = "parquet"
    version: int | str | None = None
    timestamp: Moment | None = None
    options: Options = Field(default_factory=dict)

    @property
    def shown(self) -> str:
        """The table as it is shown to users."""
        if self.path is None and self.table is None:
            return f"{self.format} {self.options.get('url', '')}".strip()
        return self.path.shown if self.path is not None else masked(str(self.table))

    @property
    def keeps_states(self) -> bool:
        """Whether earlier states of the table may be there; of a catalog's table only the catalog knows."""
        asked = self.version is not None or self.timestamp is not None
        return asked or self.table is not None or self.format.lower() in ("delta", "iceberg")

    @model_validator(mode="after")
    def _one_of(self) -> SourceConfig:
        given = sum(one is not None for one in (self.path, self.table))
        if given != 1 and (given or self.format.lower() != "jdbc"):
            raise ValueError("give either path or table")
        if self.version is not None and self.timestamp is not None:
            raise ValueError("give either version or timestamp")
        return self


class LabelConfig(Section):
    """The label column and what its values mean."""

    column: str
    positive: list[Any] = [1]
    negative: list[Any] = []
    unlabelled: list[Any] = [0]


class FeaturesConfig(Section):
    """Names or globs."""

    include: list[str] = ["*"]
    exclude: list[str] = []
    keep: list[str] = []
    categorical: list[str] = []


class SelectConfig(BaseModel):
    """The method, the common options, and under any other name the method's own options."""

    model_config = ConfigDict(extra="allow", frozen=True)

    method: str = DEFAULT_METHOD


class OutputConfig(Section):
    """The run directory."""

    path: Place
    overwrite: bool = False
    likely_positives: bool = False


class MlflowConfig(Section):
    """Where a selection is logged; None: as MLFLOW_EXPERIMENT_NAME and MLFLOW_TRACKING_URI say."""

    experiment: str | None = None
    tracking_uri: Place | None = None


class TablesOutput(Section):
    """Tables of a catalog that the results are written to, besides the run directory.

    ``partition``: columns that are added to the rows, with their values; rows of the same values are replaced. Without
    it the column is ``run``, the fingerprint of the selection: every run adds its rows, once.
    """

    ranking: str | None = None
    likely_positives: str | None = None
    format: Literal["delta", "iceberg"] = "delta"
    partition: dict[str, Annotated[str, BeforeValidator(str)]] = Field(default_factory=dict)


class SelectionOutput(Section):
    """The run directory of a selection, the run it is compared with, and whether it is logged to MLflow too.

    ``overwrite``: whether what is there is replaced; "changed": if it is of another table or request.
    ``recall``: the share of the positives that a list of likely positives is to hold, of any method; None: those in the
    clusters of fscpu, where ``likely_positives`` asks for them.
    ``previous``: a run directory, or "latest" for the last one beside ``path``.
    """

    path: Place
    overwrite: Overwrite = False
    likely_positives: bool = False
    recall: float | None = Field(default=None, gt=0, lt=1)
    previous: Place | None = None
    mlflow: MlflowConfig | None = None
    tables: TablesOutput | None = None

    @property
    def lists(self) -> str | None:
        """The name of the table of likely positives, where one is wanted; a list with another recall has another."""
        if self.recall is not None:
            return f"likely_positives_{self.recall:g}.parquet"
        return "likely_positives.parquet" if self.likely_positives else None


class MemoryConfig(Section):
    """Where counts are kept between runs, by which column the table is cut, and how many partitions are looked at.

    ``late_labels``: a Parquet, CSV or JSON file of labels that came after their rows.
    """

    path: Place
    partition: str
    window: int | None = None
    refit: Refit = "propose"
    until: str | int | date | None = None
    late_labels: Place | None = None

    @property
    def settings(self) -> MemorySettings:
        return MemorySettings.of(self.path.given, self.partition, self.window, self.refit, self.until)


class SparkConfig(Section):
    """Session settings; ``master`` is ignored under spark-submit, which has its own.

    ``reader``: who reads Parquet files, the tasks themselves (arrow) or Spark; auto: the tasks where they can.
    """

    master: Place = Address("local[*]")
    reader: Literal["auto", "arrow", "spark"] = "auto"
    conf: Conf = Field(default_factory=dict)


class RunConfig(Section):
    """One file, one run."""

    source: SourceConfig
    label: LabelConfig
    features: FeaturesConfig = FeaturesConfig()
    select: SelectConfig = SelectConfig()
    output: SelectionOutput
    memory: MemoryConfig | None = None
    engine: Literal["auto", "spark", "memory"] = "auto"
    spark: SparkConfig = SparkConfig()

    def on(self, engine: str | None) -> Self:
        """The same run where a command line says, if it says."""
        return self if engine is None else self.model_copy(update={"engine": engine})

    @property
    def weights(self) -> str | None:
        """The column that says how often rows count."""
        given = (self.select.model_extra or {}).get("weights")
        return None if given is None else str(column_name(given))

    def request(self) -> Request:
        """The part that decides the answer."""
        given = {"method": self.select.method, **(self.select.model_extra or {})}
        common = {name: _tuples(given.pop(name)) for name in _COMMON if name in given}
        rule = LabelRule(
            self.label.column, tuple(self.label.positive), tuple(self.label.negative), tuple(self.label.unlabelled)
        )
        columns: dict[str, Any] = {name: tuple(value) for name, value in self.features.model_dump().items()}
        return Request.of(rule, **columns, **common, options=given)


# Fields of a request that are keys of ``select``: all that no other section holds and users give by that name.
_COMMON = {field.name for field in fields(Request)} - {
    "label",
    "options",
    "propose_k",
    "estimate_prior",
    *FeaturesConfig.model_fields,
}


def load_settings(path: str | Path, model: type[Settings], overrides: Sequence[str], example: str) -> Settings:
    """Read a YAML file, apply overrides, check it; all faults come as one error that names the ``example`` file."""
    return settings_of(_bytes(path, "Configuration"), str(path), model, overrides, example)


def overrides_in(path: str) -> tuple[str, ...]:
    """The overrides in a file, one a line, or from standard input for "-"; neither shows to other users."""
    where = f"Overrides '{path}'"
    try:
        text = (sys.stdin.buffer.read(MOST_BYTES + 1) if path == "-" else _bytes(path, "Overrides")).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(Fault(where, "are not text in UTF-8", "Write the file again.")) from error
    if len(text) > MOST_BYTES:
        raise ConfigError(Fault(where, f"hold over {MOST_BYTES:,} characters", "Put them into the configuration."))
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def _bytes(path: str | Path, what: str) -> bytes:
    """A file, not much more than as much as may be in it."""
    try:
        with Path(path).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or gist(error)
        raise ConfigError(Fault(f"{what} '{path}'", f"cannot be read: {why}", "Check the path.")) from error


def settings_of(data: bytes, name: str, model: type[Settings], overrides: Sequence[str], example: str) -> Settings:
    """The settings in the bytes of a YAML file; ``name`` is what users know it by."""
    try:
        loaded = read_yaml(data.decode("utf-8-sig"))
    except (NotPlain, UnicodeDecodeError) as error:
        raise ConfigError(Fault(f"Configuration '{name}'", f"is not YAML: {error}", "Fix the file.")) from error
    if not isinstance(loaded, dict):
        some = " and ".join(list(model.model_fields)[:2])
        found = f"expected sections such as {some}, found {type(loaded).__name__}"
        raise ConfigError(Fault(f"Configuration '{name}'", found, f"See {example}."))
    return settings_from(with_overrides(loaded, overrides), model, example)


def _with_secrets(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values, unless one is the mask of a secret: files that we leave behind do not hold it."""
    found = f"{MASK} stands for a secret, which is not kept"
    fix = "Give it again: --set-file or --set with this name and the value."
    faults = [Fault(f"Setting '{place}'", found, fix) for place in places_masked(values)]
    if faults:
        raise ConfigError(faults)
    return values


def resolved(config: BaseModel) -> bytes:
    """The configuration with every default filled in and without secrets, as YAML."""
    values = masked_texts(json.loads(config.model_dump_json()))
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True).encode()


def parse(values: Mapping[str, Any]) -> RunConfig:
    """Check plain values against the model."""
    return _checked(values, RunConfig, EXAMPLE)


def settings_from(values: Mapping[str, Any], model: type[Settings], example: str) -> Settings:
    """Plain values as settings, without a mask in place of a secret; all faults come as one error."""
    return _checked(_with_secrets(values), model, example)


def _checked(values: Mapping[str, Any], model: type[Settings], example: str) -> Settings:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigError([_fault(detail, model, example) for detail in error.errors()]) from error


def with_overrides(values: Mapping[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """``select.k=10`` replaces one value, ``spark.conf.spark.ui.enabled=true`` one of a mapping; the right is YAML.

    >>> with_overrides({"select": {"k": 5}}, ["select.k=10", "label.positive=[1, 2]", "select.costs.age=3"])
    {'select': {'k': 10, 'costs': {'age': 3}}, 'label': {'positive': [1, 2]}}
    """
    result = {key: dict(value) if isinstance(value, dict) else value for key, value in values.items()}
    for number, override in enumerate(overrides, 1):
        name, equals, text = override.partition("=")
        section, dot, key = name.partition(".")
        if not (equals and dot and key):
            known = f"'{name}'" if text.strip("=") else f"number {number}"  # a value alone may be a secret
            raise ConfigError(Fault(f"Override {known}", "expected section.key=value", "For example select.k=10."))
        key, dot, rest = key.partition(".")
        inner = _section(result, section, name)
        if dot:
            inner[key] = dict(_section(inner, key, name))
            inner, key = inner[key], rest
        try:
            inner[key] = read_yaml(text)
        except NotPlain as error:
            raise ConfigError(Fault(f"Override '{name}'", "its value is not YAML", "Quote it.")) from error
    return result


def _section(values: dict[Any, Any], name: str, override: str) -> dict[Any, Any]:
    inner = values.setdefault(name, {})
    if not isinstance(inner, dict):
        raise ConfigError(Fault(f"Override '{override}'", f"'{name}' is not a section", "Fix the file first."))
    return inner


def _fault(detail: Any, model: type[BaseModel], example: str) -> Fault:
    where = ".".join(str(part) for part in detail["loc"]) or "the file"
    if detail["type"] == "extra_forbidden":
        known = _known(detail["loc"], model)
        return Fault(f"Setting '{where}'", "is not known", did_you_mean(str(detail["loc"][-1]), known))
    if detail["type"] == "missing":
        return Fault(f"Setting '{where}'", "is missing", f"Add it; {example} explains every key.")
    got = f", got {shown(detail['input'])}" if is_harmless(where, detail["input"]) else ""
    message = detail["msg"].removeprefix("Value error, ")
    return Fault(f"Setting '{where}'", message[0].lower() + message[1:] + got, f"See {example}.")


def _known(location: Sequence[Any], model: type[BaseModel]) -> Iterable[str]:
    for part in location[:-1]:
        field = model.model_fields.get(str(part))
        kinds = (field.annotation, *get_args(field.annotation)) if field else ()  # a section, or a section or None
        inner = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]
        if not inner:
            break
        model = inner[0]
    return model.model_fields


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
