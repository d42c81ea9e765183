"""Records as plain values and back: the border to JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from spark_pufs.types import Json

__all__ = ["read", "written"]

Record = TypeVar("Record")


def written(value: Any) -> Json:
    """A record as JSON has it: a mapping of its fields, sequences as lists.

    >>> from spark_pufs.findings.parts import CopyGroup
    >>> written((CopyGroup("a", ("b", "c")),))
    [{'representative': 'a', 'copies': ['b', 'c']}]
    """
    if is_dataclass(value):
        return {field.name: written(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): written(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [written(one) for one in value]
    return cast(Json, value)


def read(kind: type[Record], value: Json, where: str) -> Record:
    """The record of ``kind`` behind plain values; fields without a default have to be there, others may not be known.

    >>> from spark_pufs.findings.parts import CopyGroup
    >>> read(CopyGroup, {"representative": "a", "copies": ["b"]}, "copies")
    CopyGroup(representative='a', copies=('b',))
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"{where}: expected a mapping, found {value!r:.80}")
    hints = _hints(cast(Any, kind))
    needed = [one.name for one in fields(cast(Any, kind)) if one.default is MISSING and one.default_factory is MISSING]
    absent = [name for name in needed if name not in value]
    if absent:
        raise ValueError(f"{where}: {', '.join(absent)} not found")
    return kind(**{name: _value(hint, value[name], f"{where}.{name}") for name, hint in hints.items() if name in value})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, localns={"Json": object})


def _value(kind: Any, value: Json, where: str) -> Any:
    """One value, checked against an annotation."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if value is None and NoneType in inner:
            return None
        return _value(next(one for one in inner if one is not NoneType), value, where)
    if origin is Literal and value in inner:
        return value
    if origin is tuple and isinstance(value, Sequence) and not isinstance(value, str):
        if inner[0] is float and all(isinstance(one, int | float) for one in value):
            return tuple(float(cast(float, one)) for one in value)
        return tuple(_value(inner[0], one, where) for one in value)
    if origin is Mapping and isinstance(value, Mapping):
        return {name: _value(inner[1], one, f"{where}.{name}") for name, one in value.items()}
    if is_dataclass(kind):
        return read(cast(type, kind), value, where)
    if kind is float and isinstance(value, int | float):
        return float(value)
    if isinstance(kind, type) and isinstance(value, kind):
        return value
    raise ValueError(f"{where}: expected {getattr(kind, '__name__', kind)}, found {value!r:.80}")
