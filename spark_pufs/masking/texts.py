"""What is written for people: no secret in it, nothing that a terminal would obey.

Settings and addresses hide their secrets by type (``hidden``, ``addresses``). What is left are texts. In our own,
``masked`` takes the addresses apart; names of columns stay as they are, a column may be called ``token=1``. In those of
others, ``gist`` and ``foreign``, whatever follows a name that may be that of a secret is masked to the end of its line.
All is done in one pass over the text, with no pattern that goes back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from spark_pufs.masking.addresses import MASK, address_shown
from spark_pufs.masking.hidden import without_known

__all__ = ["MASK", "foreign", "gist", "is_secret", "masked", "masked_texts", "visible", "visible_lines"]

MOST_SHOWN = 200  # characters of an error of others

# Control characters, line ends, marks that turn the direction of writing, halves of characters.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_START = re.compile("://|jdbc:", re.IGNORECASE)
_END = re.compile(r"[\s'\"<>`]")
_WORD = re.compile(r"[\w.]+(?:-[\w.]+)*|[^\w.]+")
_GIVEN = re.compile(r"[\"'\])}]*\s*(?:->|=>|[=:])[ \t]*")
_PART = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_QUOTES = "'\"`"
LONGEST, QUOTES = 1_000, 8  # characters of an address in quotes, and quotes in it
MOST_READ = 20_000  # characters of an error of others; below the first lines Java puts its stack

# Parts of names: whole words, and what makes a secret of any name that holds it.
_SECRET_WORDS = {
    "accesskey", "apikey", "auth", "authorization", "bearer", "cookie", "cred", "creds", "jaas", "key", "keys",
    "pass", "pin", "psk", "pw", "pwd", "sas", "sig", "userinfo",
}  # fmt: skip
_SECRET_PARTS = ("secret", "passw", "passphrase", "pwd", "token", "credential", "signature", "apikey", "accesskey",
                 "accountkey", "privatekey", "sharedkey", "jaas", "bearer")  # fmt: skip


def is_secret(name: str) -> bool:
    """Whether what is called so may be a secret.

    >>> names = ("es.net.http.auth.pass", "spark.ssl.keyPassword", "encryption.key", "AccountKey", "sep", "keep")
    >>> [is_secret(name) for name in names]
    [True, True, True, True, False, False]
    """
    lower = name.lower()
    joined = lower.replace(".", "").replace("_", "").replace("-", "")
    if lower.endswith("key") or any(part in joined for part in _SECRET_PARTS):
        return True
    return any(part.lower() in _SECRET_WORDS for part in _PART.findall(name)) or lower in _SECRET_WORDS


def masked(text: str) -> str:
    """The text with *** for the secrets of addresses in it.

    >>> masked("cannot read s3://AKIA:a/b@bucket/t and https://x/y?v=1&sig=abc%3D")
    'cannot read s3://***@bucket/t and https://x/y?***'
    >>> masked("Column 'user.token': is constant, hdfs://name:8020/user/me@home is not")
    "Column 'user.token': is constant, hdfs://name:8020/user/me@home is not"
    """
    if "://" not in text and "jdbc:" not in text.lower():
        return text
    return "".join("".join(_line(line)) for line in text.splitlines(keepends=True))


def _line(line: str) -> Iterator[str]:
    """A line in pieces, its addresses without secrets."""
    done, last_at = 0, line.rfind("@")
    while found := _START.search(line, done):
        start = _scheme_start(line, done, found.start())
        end = _address_end(line, start, found.end(), last_at)
        yield line[done:start]
        yield address_shown(line[start:end])
        done = end
    yield line[done:]


def _scheme_start(line: str, done: int, mark: int) -> int:
    start = mark
    while start > done and (line[start - 1].isalnum() or line[start - 1] in "+.-"):
        start -= 1
    return start


def _address_end(line: str, start: int, after: int, last_at: int) -> int:
    """Where an address ends: at a white space or quote, unless the quote it stands in closes later, or a login does."""
    quote = line[start - 1] if start and line[start - 1] in _QUOTES else ""
    found = _END.search(line, after)
    end = found.start() if found else len(line)
    if quote:
        end = max(end, _closing(line, quote, after))
    # A login may hold white space and quotes: what has begun like one goes on to the last @ of the line.
    if MASK in address_shown(line[start:end]) and end <= last_at:
        found = _END.search(line, last_at)
        end = found.start() if found else len(line)
    return end


def _closing(line: str, quote: str, after: int) -> int:
    """The quote that closes, with the end of a word behind it; 0 where there is none."""
    place = after - 1
    for _ in range(QUOTES):
        place = line.find(quote, place + 1, after + LONGEST)
        following = line[place + 1 : place + 2]
        if place < 0 or not following.strip() or following in ",.:;)]}?!":
            return place
    return 0


def foreign(text: str) -> str:
    """A text of others, such as an error of Java: also the values of settings that may be secrets go.

    >>> foreign('PlainLoginModule required username="me" password="my pass";')
    'PlainLoginModule required username="me" password=***'
    >>> foreign("fs.s3a.secret.key -> abc, header -> true"), foreign("sent Bearer abc")
    ('fs.s3a.secret.key -> ***', 'sent Bearer ***')
    """
    clear, begun, _ = without_known(text).partition("-----BEGIN ")  # a key or a certificate
    told, open_ended = [], False
    for line in masked(clear).splitlines(keepends=True):
        shown = MASK + line[len(line.rstrip("\r\n")) :] if open_ended else _without_values(line)
        open_ended = shown is not line and shown.rstrip("\r\n") == line.rstrip() + MASK  # its value is on the next line
        told.append(shown)
    return "".join(told) + (MASK if begun else "")


def _without_values(line: str) -> str:
    """A line up to the first value of a name that may be that of a secret."""
    done, pieces = 0, _WORD.findall(line)
    for word, gap in zip(pieces, [*pieces[1:], ""], strict=True):
        done += len(word)
        given = _GIVEN.match(gap)
        told = given is None and word.lower() == "bearer" and gap.isspace()
        if told or (given is not None and is_secret(word)):
            end = done + (given.end() if given else len(gap))
            return f"{line[:end]}{MASK}{line[len(line.rstrip(chr(13) + chr(10))) :]}"
    return line


def gist(error: BaseException) -> str:
    """What an error of others says, as one short line without secrets."""
    try:
        text = str(error)
    except Exception:  # objects of users may do anything when they are shown
        text = ""
    words = visible(foreign(" ".join(text[:MOST_READ].split()))) or type(error).__name__
    return words if len(words) <= MOST_SHOWN else f"{words[:MOST_SHOWN]}..."


def masked_texts(values: Any) -> Any:
    """Plain values and records with the addresses in them masked; names, such as those of columns, are left alone."""
    if isinstance(values, str):
        return masked(values)
    if isinstance(values, Mapping):
        return {name: masked_texts(value) for name, value in values.items()}
    if is_dataclass(values) and not isinstance(values, type):
        return replace(values, **{one.name: masked_texts(getattr(values, one.name)) for one in fields(values)})
    if isinstance(values, tuple):
        return tuple(masked_texts(value) for value in values)
    return [masked_texts(value) for value in values] if isinstance(values, list) else values


def visible(text: str) -> str:
    """The text with everything that a terminal would obey shown as an escape.

    >>> print(visible("a\\x1b[31mb\\nc"))
    a\\x1b[31mb\\nc
    """
    return _UNSEEN.sub(lambda found: found.group().encode("unicode_escape", "surrogatepass").decode(), text)


def visible_lines(text: str) -> str:
    """Several lines, each ``visible``."""
    return "\n".join(map(visible, text.split("\n")))
