"""Secrets in addresses and settings: what is shown or kept has *** in their place.

Addresses: ``s3://key:secret@bucket``, ``jdbc:...;password=...``, ``https://...?sig=...``. Settings: a name that says
secret, password, token or access key, as Spark's own redaction has it. Only addresses and dotted names are looked at in
running text: a column may be called ``token=1``. What a terminal would obey is shown as an escape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

__all__ = ["MASK", "is_secret", "masked", "masked_settings", "masked_texts", "places_masked", "visible"]

MASK = "***"

# Control characters, line ends, marks that turn the direction of writing, halves of characters.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_WORDS = (
    r"secret|passw(?:or)?d|passphrase|pwd|token|signature|access[._-]?key|account[._-]?key|api[._-]?key"
    r"|private[._-]?key|shared[._-]?key|sas[._-]?key|fs\.azure\.sas"
)
_SECRET = re.compile(_WORDS, re.IGNORECASE)
_NO_SECRET = re.compile(r"(?:file|path|provider|class|type|enabled)$", re.IGNORECASE)  # where a secret lies, not itself
_END = r"\s'\"<>`"
_ADDRESS = re.compile(rf"\b(?:[a-z][\w+.\-]*://|jdbc:)[^{_END}]+", re.IGNORECASE)
# A secret may hold slashes, so the last @ counts. A port is none, hdfs://name:8020/user/me@home; buckets have no port.
_BUCKET = re.compile(r"(?<=://)[^/:@]*:.*@")
_USER = re.compile(r"(?<=://)[^/:@]*:(?!\d{1,5}(?:[/?#]|$)).*@")
_ORACLE = re.compile(r"(?<=:)[^/:@;?]+/[^@]+(?=@)")  # jdbc:oracle:thin:user/password@host
_PARAMETER = re.compile(
    rf"((?:^|[?&;,#])[\w.\-]*(?:{_WORDS}|credential|\bsig|\bkey)[\w.\-]*=)([^&;,#]+)", re.IGNORECASE
)
_DOTTED = re.compile(
    rf"((?:\b[\w\-]+\.)+[\w.\-]*(?:{_WORDS})[\w.\-]*)(['\"]?\s*[=:]\s*)('[^']*'|\"[^\"]*\"|[^{_END},;&}}]+)",
    re.IGNORECASE,
)
_GIVEN = re.compile(rf"{re.escape(MASK)}@|[=:]\s*{re.escape(MASK)}")  # what masking leaves


def is_secret(name: str) -> bool:
    """Whether a setting of that name holds a secret.

    >>> [is_secret(name) for name in ("spark.hadoop.fs.s3a.secret.key", "password", "sep", "fs.s3a.token.provider")]
    [True, True, False, False]
    """
    return bool(_SECRET.search(name)) and not _NO_SECRET.search(name)


def masked(text: str) -> str:
    """The text with *** for the secrets of addresses and of dotted settings in it.

    >>> masked("cannot read s3://AKIA:a/b@bucket/t and https://x/y?v=1&sig=abc%3D")
    'cannot read s3://***@bucket/t and https://x/y?v=1&sig=***'
    >>> masked("spark.hadoop.fs.s3a.secret.key=abc, hdfs://name:8020/user/me@home")
    'spark.hadoop.fs.s3a.secret.key=***, hdfs://name:8020/user/me@home'
    """
    return _DOTTED.sub(_setting, _addresses(text))


def _addresses(text: str) -> str:
    return _ADDRESS.sub(lambda found: _address(found.group()), text)


def _address(text: str) -> str:
    text = _PARAMETER.sub(rf"\1{MASK}", text)
    start = text[:12].lower()
    if start == "jdbc:oracle:":
        return _ORACLE.sub(MASK, text)
    return (_BUCKET if start.startswith("s3") else _USER).sub(f"{MASK}@", text)


def _setting(found: re.Match[str]) -> str:
    return f"{found.group(1)}{found.group(2)}{MASK}" if is_secret(found.group(1)) else found.group()


def masked_texts(values: Any) -> Any:
    """Plain values and records with the addresses in them masked; names, such as those of columns, are left alone."""
    if isinstance(values, str):
        return _addresses(values)
    if isinstance(values, Mapping):
        return {name: masked_texts(value) for name, value in values.items()}
    if is_dataclass(values) and not isinstance(values, type):
        return replace(values, **{one.name: masked_texts(getattr(values, one.name)) for one in fields(values)})
    if isinstance(values, tuple):
        return tuple(masked_texts(value) for value in values)
    return [masked_texts(value) for value in values] if isinstance(values, list) else values


def masked_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they may be kept: texts under a secret name are masked, and secrets within other texts.

    >>> masked_settings({"conf": {"spark.ssl.keyPassword": "x", "spark.a": "1"}, "costs": {"token_age": 3}})
    {'conf': {'spark.ssl.keyPassword': '***', 'spark.a': '1'}, 'costs': {'token_age': 3}}
    """
    return {name: _kept(str(name), value) for name, value in values.items()}


def _kept(name: str, value: Any) -> Any:
    if isinstance(value, str) and value and is_secret(name):
        return MASK
    if isinstance(value, Mapping):
        return masked_settings(value)
    # A setting of Spark may hold others: -Djavax.net.ssl.trustStorePassword=...
    return masked(value) if isinstance(value, str) and "." in name else masked_texts(value)


def places_masked(values: Any, path: str = "") -> Iterator[str]:
    """Where settings that were kept hold *** for a secret: 'spark.conf.spark.ssl.keyPassword'.

    >>> list(places_masked({"source": {"path": "s3://***@bucket/t"}, "features": {"include": ["***"]}}))
    ['source.path']
    """
    if isinstance(values, Mapping):
        for name, value in values.items():
            if value == MASK and is_secret(str(name)):
                yield f"{path}{name}"
            else:
                yield from places_masked(value, f"{path}{name}.")
    elif isinstance(values, list | tuple):
        for value in values:
            yield from places_masked(value, path)
    elif isinstance(values, str) and _holds_mask(values):
        yield path.removesuffix(".")


def _holds_mask(text: str) -> bool:
    return any(_GIVEN.search(found.group()) for found in (*_ADDRESS.finditer(text), *_DOTTED.finditer(text)))


def visible(text: str) -> str:
    """The text with everything that a terminal would obey shown as an escape.

    >>> print(visible("a\\x1b[31mb\\nc"))
    a\\x1b[31mb\\nc
    """
    return _UNSEEN.sub(lambda found: found.group().encode("unicode_escape", "surrogatepass").decode(), text)
