"""Addresses by their parts: scheme, host or bucket, and path are shown; who logs in and what is asked for never are.

An address is taken apart by hand, in one pass: secrets may hold any sign, so that what is not surely a host, a bucket
or a path counts as a secret.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MASK", "Address", "address_shown"]

MASK = "***"

# Stores whose paths may hold @, since users' passwords do not come before them: buckets have no port, name nodes have.
_BUCKETS = ("s3", "s3a", "s3n", "gs", "gcs", "oss", "cos", "cosn", "obs", "dbfs", "file")
_NAME_NODES = ("hdfs", "viewfs", "webhdfs", "swebhdfs", "ofs", "o3fs", "alluxio")
_CONTAINERS = ("abfs", "abfss", "wasb", "wasbs", "adl")  # container@account.dfs.core.windows.net
_AROUND = ("k8s", "view-source")  # schemes that stand before another address
_ENDS = "?#;"  # where the path ends; what follows may be a signature, a password, a token


@dataclass(frozen=True)
class Address:
    """A path or address as users gave it, ``given``, which only what opens it may use; any text of it is ``shown``.

    >>> one = Address("s3://AKIA:a/b@bucket/t")
    >>> print(one, [one])
    s3://***@bucket/t [Address('s3://***@bucket/t')]
    """

    given: str

    @property
    def shown(self) -> str:
        return address_shown(self.given)

    def __str__(self) -> str:
        return self.shown

    def __format__(self, spec: str) -> str:
        return format(self.shown, spec)

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"


def address_shown(text: str) -> str:
    """One path or address without its secrets.

    >>> address_shown("https://me@corp:pw@host:8443/a?code=1#x"), address_shown("jdbc:oracle:thin:scott/tiger@h:1521/x")
    ('https://***@host:8443/a?***', 'jdbc:oracle:***')
    >>> address_shown("hdfs://name:8020/user/me@home"), address_shown("data/day=1/part-?.csv")
    ('hdfs://name:8020/user/me@home', 'data/day=1/part-?.csv')
    """
    scheme, mark, rest = text.partition("://")
    if not mark:
        return _unschemed(text)
    if scheme.lower() in _AROUND and rest:
        return f"{scheme}://{address_shown(rest)}"
    *before, last = scheme.split(":")
    known = all(map(_is_scheme, (*before, last))) and before[:1] in ([], ["jdbc"], ["JDBC"], ["jar"])
    return f"{scheme if known else MASK}://{_located(last.lower(), rest)}"


def _unschemed(text: str) -> str:
    """A path, or what looks like one of the forms that hold passwords without a scheme."""
    if text[:5].lower() == "jdbc:":
        return f"{text[:5]}{text[5:].partition(':')[0]}:{MASK}" if _is_scheme(text[5:].partition(":")[0]) else MASK
    if ";" in text and "=" in text:  # AccountName=me;AccountKey=...
        return MASK
    before, at, after = text.rpartition("@")
    if at and before.find(":") > 1:  # me:secret@host; a drive is one letter
        return f"{MASK}@{_cut(after)}"
    asked = text.find("?")
    return f"{text[:asked]}?{MASK}" if asked >= 0 and "=" in text[asked:] else text


def _located(scheme: str, rest: str) -> str:
    """What follows ``scheme://``."""
    host = rest[: _first(rest, "/\\" + _ENDS)]
    if _is_plain(scheme, host) and ("@" not in rest or scheme in (*_BUCKETS, *_NAME_NODES, *_CONTAINERS)):
        return host + _cut(rest[len(host) :])
    before, at, after = rest.rpartition("@")
    if not at or any(end in before for end in _ENDS):
        return MASK  # not a host, or it cannot be told where the secret ends
    host = after[: _first(after, "/\\" + _ENDS)]
    return f"{MASK}@{host}{_cut(after[len(host) :])}" if _is_host(host, port=True) else f"{MASK}@{MASK}"


def _is_plain(scheme: str, host: str) -> bool:
    """Whether what stands before the path is a host or a bucket, whatever the path holds."""
    if scheme in _CONTAINERS and host.count("@") == 1:
        container, _, account = host.partition("@")
        return _is_host(container) and _is_host(account)
    return all(_is_host(one, port=scheme not in _BUCKETS) for one in host.split(","))


def _is_host(text: str, port: bool = False) -> bool:
    name, colon, number = text.rpartition(":")
    if not colon or not port or text.endswith("]"):
        name = text
    elif not (number.isdecimal() and len(number) <= 5):
        return False
    if name[:1] == "[" and name[-1:] == "]":
        return all(sign in "0123456789abcdefABCDEF:." for sign in name[1:-1])
    return all(sign.isalnum() or sign in "-._~$*" for sign in name)


def _is_scheme(text: str) -> bool:
    return len(text) <= 40 and all(sign.isalnum() or sign in "+.-" for sign in text)


def _cut(path: str) -> str:
    """A path without what is asked of it."""
    end = _first(path, _ENDS)
    return path if end == len(path) else f"{path[: end + 1]}{MASK}"


def _first(text: str, signs: str) -> int:
    return min((place for sign in signs if (place := text.find(sign)) >= 0), default=len(text))
