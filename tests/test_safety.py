"""No code comes from data: the syntax trees of the package and of the jobs hold no way to run what was read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted([*(ROOT / "spark_pufs").rglob("*.py"), *(ROOT / "jobs").rglob("*.py")])

# Modules whose reading runs code, or that exist to run commands given as text.
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "joblib", "jsonpickle", "code", "codeop"}
CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "read_pickle", "to_pickle"}
YAML_READERS = {"load", "load_all", "unsafe_load", "unsafe_load_all", "full_load", "full_load_all"}
YAML_SAFE = {"SafeLoader", "CSafeLoader"}


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def faults(tree: ast.AST) -> Iterator[str]:
    """What a file must not do, by line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call):
            yield from (f"line {node.lineno}: {why}" for why in call_faults(node))
            continue
        else:
            continue
        wrong = [name for name in names if name.split(".")[0] in MODULES or name in CALLS or bad_yaml_name(name)]
        yield from (f"line {node.lineno}: imports {name}" for name in wrong)


def bad_yaml_name(name: str) -> bool:
    return name.startswith("yaml.") and name.rsplit(".", 1)[-1] in YAML_READERS


def call_faults(node: ast.Call) -> Iterator[str]:
    name = dotted(node.func)
    last = name.rsplit(".", 1)[-1]
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if name in CALLS or last in ("read_pickle", "to_pickle"):
        yield f"calls {name}"
    if "allow_pickle" in given and ast.unparse(given["allow_pickle"]) != "False":
        yield f"{name} allows pickle"
    if name in ("np.load", "numpy.load") and "allow_pickle" not in given:
        yield f"{name} does not say allow_pickle=False"
    if name.startswith("yaml.") and last in (*YAML_READERS, "compose", "parse", "scan"):
        loader = given.get("Loader", node.args[1] if len(node.args) > 1 else None)
        if loader is None or dotted(loader).rsplit(".", 1)[-1] not in YAML_SAFE:
            yield f"{name} without SafeLoader"
    if "shell" in given and ast.unparse(given["shell"]) != "False":
        yield f"{name} runs a shell"


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "from joblib import load",
        "pd.read_pickle(path)",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "numpy.load(path, allow_pickle=flag)",
        "yaml.load(text)",
        "yaml.load(text, Loader=yaml.FullLoader)",
        "yaml.unsafe_load(text)",
        "from yaml import full_load",
        "eval(text)",
        "exec(text)",
        "os.system(text)",
        "subprocess.run(text, shell=True)",
    ],
)
def test_the_walk_sees_it(source: str) -> None:
    assert list(faults(ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        "np.load(file, allow_pickle=False)",
        "yaml.safe_load(t)",
        "yaml.compose(t, Loader=yaml.SafeLoader)",
        "re.compile(p)",
    ],
)
def test_the_walk_lets_safe_calls_pass(source: str) -> None:
    assert not list(faults(ast.parse(source)))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_code_comes_from_data(path: Path) -> None:
    assert not list(faults(ast.parse(path.read_text(encoding="utf-8"))))


def test_jobs_and_package_are_both_walked() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in SOURCES} == {"spark_pufs", "jobs"}


WAYS_OUT = {"click.echo", "click.secho", "print", "errors.print", "sys.stdout.write", "sys.stderr.write"}


def test_the_command_prints_in_one_place_where_nothing_a_terminal_obeys_gets_through() -> None:
    printing = {
        path.name
        for path in (ROOT / "spark_pufs" / "cli").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and dotted(node.func) in WAYS_OUT
    }
    assert printing == {"terminal.py"}
