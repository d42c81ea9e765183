"""How to get the same answer again: the Python call and the configuration of the command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import yaml

from spark_pufs.masking.texts import masked_texts
from spark_pufs.request import Request
from spark_pufs.types import LabelRule

__all__ = ["python_call", "yaml_config"]

Values = Mapping[str, Any]


def python_call(request: Request) -> str:
    """``spark_pufs.select(...)`` with every setting that is not the default, and the seed; secrets are masked.

    >>> print(python_call(Request(LabelRule("s"), "fscpu", k=3)))
    selection = spark_pufs.select(
        table,
        label='s',
        method='fscpu',
        k=3,
        seed=0,
    )
    """
    values = masked_texts(request.as_dict())
    label, common = _changed_label(values["label"]), _changed(values)
    if "include" in common:
        common["features"] = common.pop("include")
    settings = {"label": values["label"]["column"], "method": values["method"], **label, **common}
    lines = [f"    {name}={_literal(value)}," for name, value in (settings | values["options"]).items()]
    return "\n".join(["selection = spark_pufs.select(", "    table,", *lines, ")"])


def yaml_config(request: Request) -> str:
    """The configuration file of the same selection; where the table lies and where results go is not part of it."""
    asked = masked_texts(request.as_dict())
    common = _changed(asked)
    columns = {name: common.pop(name) for name in ("include", "exclude", "keep", "categorical") if name in common}
    values = {
        "source": {"path": "path/to/table"},
        "label": {"column": asked["label"]["column"], **_changed_label(asked["label"])},
        **({"features": columns} if columns else {}),
        "select": {"method": asked["method"], **common, **asked["options"]},
        "output": {"path": "runs/again"},
    }
    text: str = yaml.dump(_plain(values), Dumper=_OneLine, sort_keys=False, allow_unicode=True, width=10**6)
    return text.rstrip()


class _OneLine(yaml.SafeDumper):
    """Text with line ends, of which YAML knows five, stays on one line, in quotes."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


_OneLine.add_representer(str, _text)


def _changed(request: Values) -> dict[str, Any]:
    """Settings that are not the default, and the seed."""
    apart = ("label", "method", "options", "k", "propose_k", "estimate_prior")
    estimated = {"prior": "estimate"} if request["estimate_prior"] else {}
    return (
        _how_many(request)
        | estimated
        | {
            field.name: request[field.name]
            for field in fields(Request)
            if field.name not in apart
            if field.name == "seed" or _plain(request[field.name]) != _plain(_default(field))
        }
    )


def _how_many(request: Values) -> dict[str, Any]:
    """``k`` as a user writes it; where nothing says how many a number is proposed, so "all" must be said."""
    if request["k"] is not None:
        return {"k": request["k"]}
    if request["propose_k"]:
        return {"k": "auto"}
    told = any(request[name] is not None for name in ("budget", "fdr", "expected_false"))
    return {} if told else {"k": "all"}


def _changed_label(label: Values) -> dict[str, Any]:
    return {
        field.name: label[field.name]
        for field in fields(LabelRule)
        if field.name != "column"
        if _plain(label[field.name]) != _plain(field.default)
    }


def _default(field: Any) -> Any:
    return field.default if field.default is not MISSING else field.default_factory()


def _plain(value: Any) -> Any:
    """Lists, dicts and plain values only, which is what YAML and a literal can say."""
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def _literal(value: Any) -> str:
    return repr(_plain(value))
