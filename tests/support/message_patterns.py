"""Every place in the package that makes a Fault, as a pattern of the messages it can give."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "spark_pufs"
OPEN = "\0"  # stands for a value known only when the fault is made


@dataclass(frozen=True)
class FaultPlace:
    """``where`` and ``found`` as written, values open; ``module`` and ``line`` say where."""

    module: str
    line: int
    where: str
    found: str

    def says(self, message: str) -> bool:
        """Whether this place can give the message ``where: found``."""
        pattern = ".+".join(re.escape(part) for part in f"{self.where}: {self.found}".split(OPEN))
        return self.tells and re.fullmatch(pattern, message) is not None

    @property
    def tells(self) -> bool:
        """Whether enough of the message is written here to know it by."""
        return _letters(self.found) >= 4 or _letters(self.where) >= 12


def _letters(text: str) -> int:
    return len(re.sub(r"\W", "", text.replace(OPEN, "")))


def fault_places() -> list[FaultPlace]:
    """All of them, in the order of files and lines."""
    found = [place for path in sorted(PACKAGE.rglob("*.py")) for place in _in_file(path)]
    return sorted(found, key=lambda place: (place.module, place.line))


def _in_file(path: Path) -> Iterator[FaultPlace]:
    module = str(path.relative_to(PACKAGE).with_suffix("")).replace("/", ".")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    scopes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for scope in scopes:
        known = _assigned(scope)
        for node in ast.walk(scope):
            if isinstance(node, ast.Call) and _name(node.func) in ("Fault", "_fault") and len(node.args) == 3:
                for where in _texts(node.args[0], known):
                    for found in _texts(node.args[1], known):
                        yield FaultPlace(module, node.lineno, where, found)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _assigned(scope: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """Names and what the function gives them; one name may be given several things."""
    known: dict[str, list[ast.expr]] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known.setdefault(node.targets[0].id, []).append(node.value)
    return known


def _texts(node: ast.expr, known: dict[str, list[ast.expr]]) -> list[str]:
    """What an expression can say, with OPEN for what is not written there."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.JoinedStr):
        return ["".join(str(v.value) if isinstance(v, ast.Constant) else OPEN for v in node.values)]
    if isinstance(node, ast.Name) and node.id in known:
        values = [value for value in known[node.id] if not isinstance(value, ast.Name)]
        return [text for value in values for text in _texts(value, {})]
    if isinstance(node, ast.IfExp):
        return _texts(node.body, known) + _texts(node.orelse, known)
    return [OPEN]
