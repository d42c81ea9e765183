"""Docstrings as Markdown: examples become blocks of their own, which they are not unless fenced."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

# An example: lines from a prompt up to the next empty line.
_EXAMPLE = re.compile(r"(?P<lines>^>>> .*(?:\n(?!\s*$).+)*)", re.MULTILINE)


def fenced(text: str) -> str:
    """Examples between fences.

    >>> fenced("Adds.\\n\\n>>> 1 + 1\\n2\\n\\nMore.").split("\\n")
    ['Adds.', '', '```pycon', '>>> 1 + 1', '2', '```', '', 'More.']
    """
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found['lines']}\n```", text)


class Examples(Extension):
    """Fences the examples in the docstring of every module, class, function and attribute."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
