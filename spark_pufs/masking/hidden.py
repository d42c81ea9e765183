"""Secrets as values of their own: no text, log line or file that is made of one holds more than ***.

A secret is known from the moment a configuration is read. What others say about it later, in an error of Java for one,
is searched for it as it was given and as addresses write it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import quote, quote_plus, unquote

from spark_pufs.masking.addresses import MASK, Address

__all__ = ["Secret", "known_address", "revealed", "without_known"]

LEAST = 4  # characters of a secret that is searched for in the words of others; shorter ones stand in any text
MOST = 1_000  # secrets that are remembered

_WORDS = ("true", "false", "none", "null", "auto")  # values of settings that are no secrets, and words of any text
_known: dict[str, None] = {}  # in the order they came


@dataclass(frozen=True)
class Secret:
    """A value that is not shown; ``revealed`` gives it to what needs it.

    >>> print(Secret("hunter2"), [Secret(7)], f"{Secret('hunter2'):>5}")
    *** [***]   ***
    """

    value: Any

    def __post_init__(self) -> None:
        _remember(str(self.value))

    def __repr__(self) -> str:
        return MASK

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not sent or kept")


def revealed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as the place that they are meant for needs them."""
    return {name: _revealed(one) for name, one in settings.items()}


def _revealed(one: Any) -> Any:
    if isinstance(one, Secret):
        return one.value
    return one.given if isinstance(one, Address) else one


def known_address(text: str) -> Address:
    """An address whose hidden parts are secrets of this process from now on.

    >>> print(known_address("https://me:hunter2@host/x?code=abcdef"))
    https://***@host/x?***
    >>> without_known("no login with hunter2 and abcdef")
    'no login with *** and ***'
    """
    found = Address(text)
    if found.shown != text:
        login = text.partition("://")[2].rpartition("@")[0]
        asked = text[min((place for sign in "?#;" if (place := text.find(sign)) >= 0), default=len(text)) :]
        values = asked.replace("#", "&").replace(";", "&").replace("?", "&").split("&")
        for part in (*login.split(":", 1), *(one.partition("=")[2] or one for one in values)):
            _remember(part)
    return found


def without_known(text: str) -> str:
    """The text without the secrets of this process.

    >>> _ = Secret("p&ss w0rd")
    >>> without_known("login me, p&ss w0rd or p%26ss+w0rd, failed")
    'login me, *** or ***, failed'
    """
    for secret in sorted(_known, key=len, reverse=True):  # one may hold another
        text = text.replace(secret, MASK)
    return text


def _remember(text: str) -> None:
    if text.lower() in _WORDS:
        return
    encoded = [form(text, safe="", errors="replace") for form in (quote, quote_plus)]
    for form in (text, text.strip(), *encoded, unquote(text)):
        if len(form) >= LEAST and len(_known) < MOST:
            _known.setdefault(form)
