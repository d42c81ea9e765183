"""The configuration that one line stands for: a table, its label and a few settings, without a YAML file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

import yaml
from pydantic import BaseModel

from spark_pufs.errors import ConfigError, DataError, Fault, did_you_mean
from spark_pufs.jobs.config import settings_from, with_overrides
from spark_pufs.masking.texts import gist, masked_texts
from spark_pufs.request import DEFAULT_METHOD
from spark_pufs.rundir.atomic import write_file
from spark_pufs.selectors.registry import method_named
from spark_pufs.types import Json

__all__ = ["OneLine", "as_yaml", "save_config", "source_of"]

Settings = TypeVar("Settings", bound=BaseModel)

FORMATS = {
    "csv": "csv", "tsv": "csv", "parquet": "parquet", "pq": "parquet", "orc": "orc", "json": "json", "jsonl": "json",
    "ndjson": "json", "arrow": "arrow", "feather": "arrow",
}  # fmt: skip
SEPARATORS = ",;\t|"
_CATALOG = re.compile(r"[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*){1,2}")
_COMPRESSED = ("gz", "bz2", "zst", "snappy")


@dataclass(frozen=True)
class OneLine:
    """What was typed; an empty value is the default of the configuration."""

    table: str
    label: str
    positive: Sequence[str] = ()
    negative: Sequence[str] = ()
    unlabelled: Sequence[str] = ()
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    keep: Sequence[str] = ()
    categorical: Sequence[str] = ()
    k: str | None = None
    groups: Sequence[str] = ()
    weights: str | None = None
    method: str | None = None
    methods: Sequence[str] = ()
    format: str | None = None
    out: str | None = None
    overwrite: bool = False
    judge: bool = True

    def config(self, model: type[Settings], overrides: Sequence[str], example: str) -> Settings:
        """The checked configuration, with ``section.key=value`` overrides."""
        return settings_from(with_overrides(self.values(), overrides), model, example)

    def values(self) -> dict[str, Json]:
        """The settings as they would stand in a file.

        >>> OneLine("s3://lake/flows.parquet", "confirmed", exclude=["id*"], k="10").values()["output"]
        {'path': 'runs/flows-distil-k10', 'overwrite': True}
        """
        label: dict[str, Json] = {
            "positive": [_plain(one) for one in self.positive],
            "negative": [_plain(one) for one in self.negative],
            "unlabelled": [_plain(one) for one in self.unlabelled],
        }
        columns: dict[str, Json] = {
            "include": list(self.include),
            "exclude": list(self.exclude),
            "keep": list(self.keep),
            "categorical": list(self.categorical),
        }
        select: dict[str, Json] = {
            "method": self.method or (None if self.methods else DEFAULT_METHOD),
            "k": _count(self.k),
            "groups": _groups(self.groups),
            "weights": self.weights,
            "judge": self._judge(),
        }
        sections: dict[str, Json] = {
            "source": source_of(self.table, self.format),
            "label": {"column": self.label, **_given(label)},
            "features": _given(columns),
            "select": _given(select),
            "compare": _given({"methods": list(self.methods)}),
            "output": self._output(),
        }
        return _given(sections)

    def _judge(self) -> bool | None:
        """A choice is judged on held-out rows unless that is not wanted; None where the method does so by itself."""
        if self.methods:
            return None
        option = method_named(self.method or DEFAULT_METHOD).options["judge"]
        return None if option.default == self.judge else self.judge

    def _output(self) -> dict[str, Json]:
        """Where results go; a folder that we name ourselves may be replaced by the same question asked again."""
        if self.out is not None:
            return {"path": self.out, **({"overwrite": True} if self.overwrite else {})}
        stem = re.sub(r"[^\w-]+", "-", _stem(self.table)).strip("-") or "table"
        how = "compare" if self.methods else self.method or DEFAULT_METHOD
        size = f"-k{self.k}" if self.k else ""
        return {"path": f"runs/{stem}-{how}{size}", "overwrite": True}


def source_of(table: str, format_: str | None = None) -> dict[str, Json]:
    """The source that a word means: a file, a folder, an address, or a table of a catalog such as lake.flows.

    >>> source_of("s3://bucket/flows.csv"), source_of("lake.flows")
    ({'path': 's3://bucket/flows.csv', 'format': 'csv'}, {'table': 'lake.flows'})
    """
    known = format_ or _format_of(table)
    if "://" in table:
        return {"path": table, "format": known or "parquet"}
    place = Path(os.path.expanduser(table))
    if not os.path.exists(place):
        if known is None and _CATALOG.fullmatch(table):
            return {"table": table}
        raise DataError(_absent(table, place))
    if known is None and place.is_dir():
        known = _format_inside(place)
    if known is None:
        fix = f"Name it: --format {', '.join(sorted(set(FORMATS.values())))}, or any that Spark knows."
        raise ConfigError(Fault(f"Table '{table}'", "its name does not tell its format", fix))
    separator = _separator(place) if known == "csv" else ","
    return {"path": str(place), "format": known, **({} if separator == "," else {"options": {"sep": separator}})}


def as_yaml(config: BaseModel) -> str:
    """The settings that were given, as a file would have them; without secrets."""
    values = masked_texts(json.loads(config.model_dump_json(exclude_unset=True)))
    text: str = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, default_flow_style=None, width=10**6)
    return text


def save_config(path: Path, config: BaseModel) -> None:
    """Write these settings to a file that is not there yet, or holds the same."""
    text = as_yaml(config).encode()
    try:
        place = Path(os.path.expanduser(path))
        if place.is_file() and place.read_bytes() != text:
            raise ConfigError(Fault(f"File '{path}'", "is there already, with other settings", "Name another file."))
        write_file(place, text)
    except ConfigError:
        raise
    except (OSError, ValueError) as error:  # ValueError: NUL in the path
        fix = "Name a file in a folder that is there and may be written."
        raise ConfigError(Fault(f"File '{path}'", f"cannot be written: {gist(error)}", fix)) from error


def _absent(table: str, place: Path) -> Fault:
    """No such file: those beside it that are tables, or what a name of a catalog looks like."""
    beside = place.parent if place.parent.is_dir() else None
    names = [one.name for one in beside.iterdir() if _format_of(one.name)] if beside else []
    if not names:
        fix = "Check the path; a table of a catalog is named with its schema, such as lake.flows."
        return Fault(f"Table '{table}'", "does not exist", fix)
    return Fault(f"Table '{table}'", "does not exist", did_you_mean(place.name, names))


def _format_of(name: str) -> str | None:
    """The format that the end of a name tells; gzip and the like are read through."""
    parts = PurePosixPath(name).name.lower().split(".")
    if parts[-1] in _COMPRESSED:
        parts.pop()
    return FORMATS.get(parts[-1]) if len(parts) > 1 else None


def _format_inside(folder: Path) -> str | None:
    """The format of a folder's files, where their names agree; a folder of partitions is looked into."""
    inside = sorted(one for one in folder.iterdir() if not one.name.startswith((".", "_")))
    if inside and inside[0].is_dir():
        return _format_inside(inside[0])
    found = {_format_of(one.name) for one in inside if one.is_file()}
    return found.pop() if len(found) == 1 else None


def _separator(place: Path) -> str:
    """What separates the names in the first line of a file, or of a folder's first file."""
    inside = sorted(place.iterdir()) if place.is_dir() else [place]
    file = next((one for one in inside if _format_of(one.name)), place)
    if file.name.lower().endswith(_COMPRESSED) or not file.is_file():
        return ","
    try:
        with file.open("rb") as lines:
            head = lines.readline(2**20).decode("utf-8-sig", "replace")
    except OSError:
        return ","
    found = max(SEPARATORS, key=head.count)
    return found if head.count(found) else ","


def _stem(table: str) -> str:
    name = PurePosixPath(table.rstrip("/")).name
    return name if "." not in name or _format_of(name) is None else name.split(".")[0]


def _count(k: str | None) -> int | str | None:
    return int(k) if k is not None and re.fullmatch(r"\d{1,18}", k) else k


def _groups(texts: Sequence[str]) -> dict[str, Json]:
    """Patterns by the name of their group; the name may be given more than once.

    >>> _groups(["device=a_*", "device=b_1", "c_*"])
    {'device': ['a_*', 'b_1'], 'c_*': ['c_*']}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, pattern = text.partition("=")
        found.setdefault(name, []).append(pattern if equals else text)
    return dict(found)


def _plain(value: str) -> int | str:
    """A label value as a file would hold it: whole numbers as numbers, all else as the text that was typed."""
    return int(value) if re.fullmatch(r"0|-?[1-9]\d{0,17}", value) else value


def _given(values: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in values.items() if value not in (None, [], {})}
