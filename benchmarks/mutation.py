"""Small faults put into core/ one by one: do the tests of the module see them?

    python benchmarks/mutation.py --per-module 10 --out mutation.json
    python benchmarks/mutation.py --module information/gtest --per-module 0  # one module, all its mutants

Works in a copy of the tree. A process that has numpy, scipy and scikit-learn loaded forks for every mutant, so that a
run costs the tests and little more. A module is judged by the test file that mirrors it, else by those that import it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = "spark_pufs/core"
# What is judged by tests of its callers, or by them too.
CALLERS = {
    "counting/hashing": ["core/counting/test_row_sample.py", "core/counting/test_profile.py"],
    "clusters/mixture_sample": ["core/clusters/test_mixture.py"],
    "search/main_effects": ["core/search/test_searches.py"],
    "search/compact_ga": ["core/search/test_searches.py"],
    "search/mask_regression": ["core/search/test_mask_regression.py", "core/search/test_searches.py"],
    "evidence/classifier": ["core/evidence/test_classifier.py", "selectors/evidence/test_comparison.py"],
    "baselines/sklearn_peers": ["core/baselines/test_sklearn_peers.py", "selectors/rows/test_library.py"],
}
BINARY = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.Mod: ast.Mult,
    ast.FloorDiv: ast.Div, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift, ast.BitXor: ast.BitOr,
}  # fmt: skip
BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OPPOSITE = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
TWINS = {"min": "max", "minimum": "maximum", "zeros": "ones", "floor": "ceil", "any": "all", "argmin": "argmax",
         "sum": "max", "mean": "sum", "left": "right"}  # fmt: skip
TWINS |= {other: name for name, other in TWINS.items() if name not in ("sum", "mean")}


@dataclass(frozen=True)
class Mutant:
    module: str
    line: int
    column: int
    operator: str
    before: str
    after: str
    source: str


def replacements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Each fault that can stand in the place of a node."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in BINARY:
        yield "arithmetic", changed(node, op=BINARY[type(node.op)]())
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        if type(node.ops[0]) in BOUNDARY:
            yield "boundary", changed(node, ops=[BOUNDARY[type(node.ops[0])]()])
        if type(node.ops[0]) in OPPOSITE:
            yield "comparison", changed(node, ops=[OPPOSITE[type(node.ops[0])]()])
    if isinstance(node, ast.BoolOp):
        yield "boolean", changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield "boolean" if isinstance(node.op, ast.Not) else "sign", node.operand
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "condition", changed(node, test=ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.Constant):
        yield from constants(node)
    if isinstance(node, ast.Return) and node.value is not None and not is_none(node.value):
        yield "return", changed(node, value=ast.Constant(None))
    if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield "dropped", ast.Pass()
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        yield "dropped", ast.Pass()
    if isinstance(node, ast.Attribute) and node.attr in TWINS:
        yield "function", changed(node, attr=TWINS[node.attr])
    if isinstance(node, ast.Name) and node.id in ("min", "max", "any", "all"):
        yield "function", changed(node, id=TWINS[node.id])


def constants(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.value, bool):
        yield "constant", ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield "constant", ast.Constant(node.value + 1)
        yield "constant", ast.Constant(node.value - 1)
    elif node.value in TWINS:
        yield "constant", ast.Constant(TWINS[node.value])


def changed(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every place of a node that runs: not annotations, decorators, docstrings, texts or what is raised."""
    skipped = {"annotation", "returns", "decorator_list", "type_comment"}
    for name, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        for number, child in enumerate(children):
            if name in skipped or not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr | ast.Raise):
                continue
            if isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING":
                continue
            yield node, name, number if isinstance(value, list) else None
            yield from places(child)


def mutants(module: str, text: str) -> list[Mutant]:
    """All of a module's."""
    tree = ast.parse(text)
    found = []
    for parent, name, number in list(places(tree)):
        whole = getattr(parent, name)
        node = whole if number is None else whole[number]
        for operator, other in list(replacements(node)):
            put(parent, name, number, other)
            before, after = (ast.unparse(ast.fix_missing_locations(one)).split("\n")[0][:100] for one in (node, other))
            source = ast.unparse(ast.fix_missing_locations(tree))
            found.append(Mutant(module, *place(node), operator, before, after, source))
            put(parent, name, number, node)
    return found


def place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def put(parent: ast.AST, name: str, number: int | None, node: ast.AST) -> None:
    if number is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[number] = node


def tests_of(module: str) -> list[str]:
    """The test file that mirrors a module, else those beside it that import it."""
    if module in CALLERS:
        return [f"tests/{path}" for path in CALLERS[module]]
    tests, place = ROOT / "tests", Path("core", module)
    mirror = tests / place.parent / f"test_{place.name}.py"
    uses = re.compile(rf"spark_pufs\.core\.{module.replace('/', '.')}\b")
    callers = [path for path in sorted((tests / "core").rglob("test_*.py")) if uses.search(path.read_text())]
    found = [mirror] if mirror.exists() else callers
    return [str(path.relative_to(ROOT)) for path in found]


def forked(folder: Path, tests: list[str], seconds: int) -> tuple[str, float]:
    """Run tests in a child that may use so many seconds of CPU: how it ended and what it used."""
    child = os.fork()
    if child == 0:
        # a mutant that makes an endless loop or an endless array must not take the machine along
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        os._exit(run_tests(folder, tests))
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    stopped = {0: "survived", -signal.SIGXCPU: "timeout", -signal.SIGKILL: "timeout"}
    return stopped.get(code, "killed"), used.ru_utime + used.ru_stime


def run_tests(folder: Path, tests: list[str]) -> int:
    import pytest

    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    return int(pytest.main([*tests, "-x", "-q", "-p", "no:cacheprovider", "-W", "ignore"]))


def preload() -> None:
    """What all tests import and no mutant changes."""
    import hypothesis  # noqa: F401
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import pytest  # noqa: F401
    import scipy.optimize
    import scipy.special
    import scipy.stats  # noqa: F401
    import sklearn.ensemble
    import sklearn.linear_model
    import sklearn.mixture  # noqa: F401


def described(mutant: Mutant) -> dict[str, object]:
    return {"ended": "", **{name: value for name, value in asdict(mutant).items() if name != "source"}}


def judge(module: str, folder: Path, sample: list[Mutant], say: Callable[[str], None]) -> dict[str, object]:
    """Every mutant of a sample, after a run without any that must pass."""
    path, tests = folder / CORE / f"{module}.py", tests_of(module)
    whole = path.read_text()
    ended, usual = forked(folder, tests, 600)
    if not tests or ended != "survived":
        raise SystemExit(f"{module}: {tests or 'no test file'} {ended} without a mutant")
    rows, cpu = [], usual
    for mutant in sample:
        path.write_text(mutant.source)
        ended, used = forked(folder, tests, int(5 + 3 * usual))
        cpu += used
        rows.append({**described(mutant), "ended": ended})
    path.write_text(whole)
    seen = sum(row["ended"] != "survived" for row in rows)
    say(f"{module:28}{seen:4} of {len(rows):3} seen  {usual:6.1f} s without one  {cpu:7.1f} s in all")
    return {"module": module, "tests": tests, "cpu": round(cpu, 1), "mutants": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutation testing of core/")
    parser.add_argument("--per-module", type=int, default=10, help="mutants drawn per module; 0: all")
    parser.add_argument("--module", action="append", help="for example information/gtest; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", type=Path, help="only the mutants that survived in this earlier --out")
    parser.add_argument("--out", type=Path, help="every mutant and how it ended, as JSON")
    arguments = parser.parse_args()
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # two mutants of one second and size would share a cached file
    sys.dont_write_bytecode = True
    preload()
    files = sorted((ROOT / CORE).rglob("*.py"))
    names = arguments.module or [
        str(p.relative_to(ROOT / CORE).with_suffix("")) for p in files if p.name != "__init__.py"
    ]
    earlier = json.loads(arguments.again.read_text()) if arguments.again else []
    rows = [row for result in earlier for row in result["mutants"]]
    left = [{**row, "ended": ""} for row in rows if row["ended"] == "survived"]
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "tree")
        for part in ("spark_pufs", "tests", "pyproject.toml", "conf"):
            source = ROOT / part
            if source.is_file():
                shutil.copy(source, folder / part)
            else:
                shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        for module in names:
            every = mutants(module, (ROOT / CORE / f"{module}.py").read_text())
            if arguments.again:
                sample = [mutant for mutant in every if described(mutant) in left]
            else:
                chance = random.Random(f"{arguments.seed} {module}")
                sample = chance.sample(every, min(arguments.per_module or len(every), len(every)))
            if not sample:
                continue
            results.append(judge(module, folder, sample, lambda line: print(line, flush=True)))
            results[-1]["possible"] = len(every)
            if arguments.out:
                arguments.out.write_text(json.dumps(results, indent=1))
    rows = [row for result in results for row in result["mutants"]]  # type: ignore[attr-defined]
    print(f"{sum(row['ended'] != 'survived' for row in rows)} of {len(rows)} mutants were seen")


if __name__ == "__main__":
    main()
