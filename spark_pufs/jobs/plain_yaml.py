"""YAML of plain values: no code, no key twice, no file that grows without bounds when its aliases are followed."""

from __future__ import annotations

from typing import Any

import yaml

__all__ = ["MOST_BYTES", "MOST_VALUES", "NotPlain", "read_yaml"]

MOST_BYTES = 2**20  # of a file
MOST_VALUES = 50_000  # values in a file, each alias counted as what it stands for; reading takes some 50 us for each
DEEPEST = 100  # values within values

_PLAIN = ("str", "int", "float", "bool", "null", "seq", "map", "merge", "value")
LONGEST_NUMBER = 100  # digits; Python neither shows nor keeps numbers of thousands


class NotPlain(ValueError):
    """Why a text is not YAML that we read, in one line and without the text itself: it may hold secrets."""


def read_yaml(text: str) -> Any:
    """The values of one YAML document.

    >>> read_yaml("k: [1, two]")
    {'k': [1, 'two']}
    """
    try:
        return _values(text)
    except yaml.MarkedYAMLError as error:
        raise NotPlain(_words(error)) from error
    except yaml.reader.ReaderError as error:  # names one character, no value
        raise NotPlain(str(error).splitlines()[0]) from error
    except NotPlain:
        raise
    except RecursionError as error:
        raise NotPlain("it is nested too deeply") from error
    except (yaml.YAMLError, ValueError, OverflowError, TypeError, AttributeError) as error:
        # Not all that the library cannot read is an error of its own; its text may hold the value.
        raise NotPlain("it holds a value that cannot be read") from error


def _values(text: str) -> Any:
    if len(text) > MOST_BYTES:
        raise NotPlain(f"it holds over {MOST_BYTES:,} characters")
    loader = Bounded(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _size(node, {})
        return loader.construct_document(node)
    finally:
        loader.dispose()


class Bounded(yaml.SafeLoader):
    """Stops at a file that is too large or too deep while it is read, not after."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._values = self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._values += 1
        if self._values > MOST_VALUES:
            raise NotPlain(f"it holds over {MOST_VALUES:,} values")
        if self._depth >= DEEPEST:
            raise NotPlain("it is nested too deeply")
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """Values below a node; one that is reached again counts again, within itself it is refused."""
    if id(node) in known:
        if not known[id(node)]:
            raise NotPlain(f"an alias refers to a node that contains it{_at(node.start_mark)}")
        return known[id(node)]
    _check_tag(node)
    known[id(node)] = 0
    total = 1
    for inner in _inner(node):
        total += _size(inner, known)
        if total > MOST_VALUES:
            raise NotPlain(f"it holds over {MOST_VALUES:,} values")
    known[id(node)] = total
    return total


def _check_tag(node: yaml.Node) -> None:
    """Plain values only, those that JSON can keep; a date is the text that was written, as in a table."""
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if kind == "timestamp":
        node.tag = "tag:yaml.org,2002:str"
    elif kind not in _PLAIN:
        raise NotPlain(f"'{kind}' is not a plain value{_at(node.start_mark)}")
    if kind == "int" and len(node.value) > LONGEST_NUMBER:
        raise NotPlain(f"a number of {len(node.value):,} digits{_at(node.start_mark)}")
    if isinstance(node.value, str) and any("\ud800" <= letter <= "\udfff" for letter in node.value):
        raise NotPlain(
            f"an unpaired surrogate, which no file can hold{_at(node.start_mark)}"
        )  # an escape such as "\ud800"


def _inner(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    if not isinstance(node, yaml.MappingNode):
        return []
    seen: set[tuple[str, Any]] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            if (key.tag, key.value) in seen and key.value != "<<":
                raise NotPlain(f"key '{key.value}' occurs twice{_at(key.start_mark)}")
            seen.add((key.tag, key.value))
    return [part for pair in node.value for part in pair]


def _words(error: yaml.MarkedYAMLError) -> str:
    words = " ".join(part for part in (error.context, error.problem) if part)
    return f"{words}{_at(error.problem_mark or error.context_mark)}"


def _at(mark: yaml.Mark | None) -> str:
    return f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
