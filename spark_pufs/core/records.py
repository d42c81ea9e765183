"""Records, frozen dataclasses of plain values and arrays, as JSON and as bytes: the one border that all of them cross.

Reading goes by the annotations of the class: what is not as they say is an error that names the place.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from spark_pufs.types import Json

__all__ = ["from_bytes", "like", "read", "to_bytes", "written"]

Record = TypeVar("Record")
Arrays = list[np.ndarray[Any, Any]]
_PLAIN = "json"
_ARRAY = "\0"  # the one key of what stands for an array; keys of mappings that begin so begin with two


def written(record: object) -> Json:
    """A record as JSON has it: a mapping of its fields, sequences as lists.

    >>> from spark_pufs.types import Column
    >>> written((Column("a", "text", "string"),))
    [{'name': 'a', 'kind': 'text', 'type': 'string'}]
    """
    return cast(Json, _apart(record, None))


def read(kind: type[Record], value: Json, where: str) -> Record:
    """The record of ``kind`` behind plain values; fields without a default have to be there, others may not be known.

    >>> from spark_pufs.types import Column
    >>> read(Column, {"name": "a", "kind": "text", "type": "string"}, "column")
    Column(name='a', kind='text', type='string')
    """
    return cast(Record, _value(kind, value, where))


def to_bytes(record: object) -> bytes:
    """A record with its arrays as bytes, without pickle.

    >>> from spark_pufs.core.counting.counts import CountTable
    >>> from_bytes(CountTable, to_bytes(CountTable(np.arange(3)))).counts.tolist()
    [0, 1, 2]
    """
    arrays: Arrays = []
    plain = json.dumps(_apart(record, arrays)).encode()
    file = io.BytesIO()
    parts: dict[str, Any] = {str(i): array for i, array in enumerate(arrays)}
    np.savez(file, **parts, **{_PLAIN: np.frombuffer(plain, np.uint8)})  # type: ignore[arg-type]
    return file.getvalue()


def from_bytes(kind: type[Record], data: bytes) -> Record:
    """The record of ``kind`` behind ``to_bytes``."""
    return cast(Record, _value(kind, _opened(data), kind.__name__))


def like(record: Record, data: bytes) -> Record:
    """The record behind ``to_bytes``, of the class of another one, and so the records in it.

    >>> from spark_pufs.core.counting.counts import CountTable
    >>> like(CountTable(np.zeros(3, np.int64)), to_bytes(CountTable(np.arange(3)))).counts.tolist()
    [0, 1, 2]
    """
    return cast(Record, _alike(record, _opened(data)))


def _opened(data: bytes) -> Any:
    with np.load(io.BytesIO(data), allow_pickle=False) as parts:
        return _together(json.loads(parts[_PLAIN].tobytes()), parts)


def _together(value: Any, arrays: Mapping[str, Any]) -> Any:
    """Plain values with the arrays in their places."""
    if isinstance(value, list):
        return [_together(one, arrays) for one in value]
    if not isinstance(value, dict):
        return value
    if _ARRAY in value:
        return arrays[value[_ARRAY]]
    return {name.removeprefix(_ARRAY): _together(one, arrays) for name, one in value.items()}


def _own(record: Any) -> list[Field[Any]]:
    """The fields that a record is made of.

    A class of a notebook travels whole. With Spark 3.5 it then has marks of its own, by which ``dataclasses.fields``
    finds none: they are told by their names.
    """
    every: dict[str, Any] = record.__dataclass_fields__
    return [one for one in every.values() if one.init and one._field_type.name == "_FIELD"]


def _alike(example: Any, value: Any) -> Any:
    if is_dataclass(example):
        own = [one.name for one in _own(example)]
        return cast(Any, type(example))(**{name: _alike(getattr(example, name), value[name]) for name in own})
    return tuple(value) if isinstance(example, tuple) else value


def _apart(value: Any, arrays: Arrays | None) -> Any:
    """Plain values; arrays go to ``arrays`` where they can, and leave their number."""
    if is_dataclass(value):
        return {one.name: _apart(getattr(value, one.name), arrays) for one in _own(value)}
    if isinstance(value, Mapping):
        mark = _ARRAY if arrays is not None else ""
        return {f"{mark if name.startswith(_ARRAY) else ''}{name}": _apart(one, arrays) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_apart(one, arrays) for one in value]
    if isinstance(value, np.ndarray) and arrays is not None:
        if value.dtype.hasobject:  # numpy would pickle it
            raise ValueError("an array holds Python objects")
        arrays.append(value)
        return {_ARRAY: str(len(arrays) - 1)}
    return value.item() if isinstance(value, np.generic) else value


@cache
def _hints(kind: Any) -> dict[str, Any]:
    own = {one.name: one.type for one in _own(kind)}
    try:
        hints = get_type_hints(kind, localns={"Json": object})
    except NameError:  # a class of a notebook, on a worker: the names in its annotations are not there
        return {name: Any if isinstance(hint, str) else hint for name, hint in own.items()}
    return {name: hints[name] for name in own}


@cache
def _needed(kind: Any) -> list[str]:
    return [one.name for one in _own(kind) if one.default is MISSING and one.default_factory is MISSING]


def _value(kind: Any, value: Any, where: str) -> Any:
    """One value, checked against an annotation."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(inner, value, where)
    if origin in (tuple, list, Sequence):
        return _sequence(list if origin is list else tuple, inner[0], value, where)
    if origin in (Mapping, dict):
        return _mapping(inner[1], value, where)
    if is_dataclass(kind):
        return _record(kind, value, where)
    if origin is np.ndarray and isinstance(value, np.ndarray):
        return value
    return _scalar(kind, value, where)


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and NoneType in kinds:
        return None
    *others, last = (one for one in kinds if one is not NoneType)
    for kind in others:
        with suppress(ValueError):
            return _value(kind, value, where)
    return _value(last, value, where)


def _record(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise ValueError(f"{where}: expected a mapping, found {value!r:.80}")
    absent = [name for name in _needed(kind) if name not in value]
    if absent:
        raise ValueError(f"{where}: {', '.join(absent)} not found")
    hints = {name: hint for name, hint in _hints(kind).items() if name in value}
    return kind(**{name: _value(hint, value[name], f"{where}.{name}") for name, hint in hints.items()})


def _sequence(kind: Any, inner: Any, value: Any, where: str) -> Any:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise _unfit(kind, value, where)
    if inner is float and all(isinstance(one, int | float) for one in value):
        return kind(map(float, value))
    return kind(_value(inner, one, where) for one in value)


def _mapping(inner: Any, value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise _unfit(dict, value, where)
    if inner in (int, str) and all(type(one) is inner for one in value.values()):
        return dict(value)
    return {name: _value(inner, one, f"{where}.{name}") for name, one in value.items()}


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if kind is float and isinstance(value, int | float):
        return float(value)
    if kind in (object, Any) or (get_origin(kind) is Literal and value in get_args(kind)):
        return value
    if isinstance(kind, type) and get_origin(kind) is None and isinstance(value, kind):
        return value
    raise _unfit(kind, value, where)


def _unfit(kind: Any, value: Any, where: str) -> ValueError:
    return ValueError(f"{where}: expected {getattr(kind, '__name__', kind)}, found {value!r:.80}")
