"""Write docs/api.md: python docs/make_api.py

The site fills in signatures and docstrings (mkdocstrings); what it cannot know is written here: the methods and their
options, the Params of the estimator, the errors' exit codes, the command line.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

import spark_pufs
from spark_pufs.cli import app
from spark_pufs.core.clusters.cluster_check import ClusterCheck
from spark_pufs.core.evidence.label_rate import Beta
from spark_pufs.core.evidence.pu_scores import Estimate, PUScores
from spark_pufs.core.information.power import Power, PowerReport, SampleSize
from spark_pufs.findings import Findings
from spark_pufs.history.difference import ColumnDrift, Difference, FeatureChange
from spark_pufs.local import PUSelector
from spark_pufs.selection import Feature
from spark_pufs.selectors.evidence.comparison import Comparison, Standing
from spark_pufs.selectors.registry import METHODS
from spark_pufs.spark import PUFeatureSelector, PUFeatureSelectorModel

PAGE = Path(__file__).parent / "api.md"

HEAD = """# API reference

Written by `python docs/make_api.py`; do not edit by hand. Lines with `:::` become signatures and docstrings on the site
(`mkdocs serve`); in Python, `help(spark_pufs.select)` shows the same. The examples in them run as tests.
Configuration files are explained key by key in [conf/select_features.yaml](../conf/select_features.yaml); error
messages in [troubleshooting](troubleshooting.md).
"""

# What the functions return or take: not names of the package itself, but users hold them in their hands.
PARTS = (
    Feature,
    Findings,
    Comparison,
    Standing,
    Difference,
    FeatureChange,
    ColumnDrift,
    ClusterCheck,
    PUScores,
    Estimate,
    Beta,
    Power,
    SampleSize,
    PowerReport,
)


def page() -> str:
    """The whole reference as Markdown."""
    names = [name for name in spark_pufs.__all__ if name != "__version__"]
    public = {name: getattr(spark_pufs, name) for name in names}
    functions = {name: thing for name, thing in public.items() if inspect.isfunction(thing)}
    errors = {n: t for n, t in public.items() if inspect.isclass(t) and issubclass(t, spark_pufs.PufsError)}
    sections = [
        ("Functions", [_entry(f"spark_pufs.{name}", thing) for name, thing in functions.items()]),
        ("Selection", [_entry("spark_pufs.Selection", spark_pufs.Selection)]),
        ("What the functions give and take", [_entry(thing.__name__, thing) for thing in PARTS]),
        ("scikit-learn", [_entry("spark_pufs.local.PUSelector", PUSelector)]),
        ("pyspark.ml", [_estimator(), _entry("spark_pufs.spark.PUFeatureSelectorModel", PUFeatureSelectorModel)]),
        ("Errors", [_errors(errors)]),
        ("Warnings", [_entry("spark_pufs.PufsWarning", spark_pufs.PufsWarning)]),
        ("Methods", [_methods()]),
        ("Options of the methods", [_method_options()]),
        ("Command line", list(_commands("spark-pufs", app))),
    ]
    contents = "\n".join(f"- [{title}](#{_anchor(title)})" for title, _ in sections)
    body = "\n".join(f"## {title}\n\n" + "\n".join(parts) for title, parts in sections)
    version = "`spark_pufs.__version__` is the version as text.\n"
    return f"{HEAD}\n{contents}\n\n{version}\n{body}".rstrip() + "\n"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w-]", "", title.lower().replace(" ", "-"))


def _entry(name: str, thing: Any, **options: Any) -> str:
    """A heading, and the line that becomes signature and docstring: by the public name where there is one."""
    place = name if "." in name else f"{thing.__module__}.{name}"
    told = "".join(f"      {option}: {json.dumps(value)}\n" for option, value in options.items())
    return f"### {name}\n\n::: {place}\n" + (f"    options:\n{told}" if told else "")


def _text(thing: Any) -> str:
    """A docstring as Markdown."""
    return inspect.cleandoc(thing.__doc__ or "").replace("``", "`")


def _estimator() -> str:
    instance = PUFeatureSelector()
    rows = "".join(
        f"| `{param.name}` | {_cell(param.doc)} | {_default(instance, param)} |\n" for param in instance.params
    )
    head = _entry("spark_pufs.spark.PUFeatureSelector", PUFeatureSelector, members=[])
    return f"{head}\n| Param | meaning | default |\n|---|---|---|\n{rows}"


def _default(instance: PUFeatureSelector, param: Any) -> str:
    value = instance.getOrDefault(param) if instance.hasDefault(param) else None
    # A made-up name that differs in every process is no default to rely on.
    return "" if value is None or str(value).startswith(instance.uid) else f"`{value!r}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").strip()


def _errors(errors: dict[str, Any]) -> str:
    rows = "".join(
        f"| `spark_pufs.{name}` | {error.exit_code} | {_cell(_text(error))} |\n"
        for name, error in sorted(errors.items(), key=lambda item: item[1].exit_code)
    )
    text = "Each holds `faults`: where, what was found, and what to do. "
    text += "`ConfigError` and `DataError` are `ValueError`s too.\n"
    return f"{text}\n| error | exit code | meaning |\n|---|---|---|\n{rows}"


def _methods() -> str:
    text = "What `spark_pufs.methods()` says. How to choose: [choosing a method](choosing.md).\n"
    rows = "".join(
        f"| `{m.name}` | {_cell(m.summary)} | {_cell(m.assumes)} | {_cell(m.cost)} | {_cell(m.use_when)} |\n"
        for m in METHODS.values()
    )
    return f"{text}\n| method | what it does | assumes | costs | use it for |\n|---|---|---|---|---|\n{rows}"


def _method_options() -> str:
    text = "Keywords of `select` beside the common ones, keys of `select:` in a configuration file.\n"
    rows = "".join(
        f"| `{method.name}` | `{name}` | {_cell(option.what)} | `{option.default!r}` |\n"
        for method in METHODS.values()
        for name, option in method.options.items()
    )
    none = ", ".join(f"`{method.name}`" for method in METHODS.values() if not method.options)
    return f"{text}\n| method | option | may be | default |\n|---|---|---|---|\n{rows}\nWithout options: {none}.\n"


def _commands(name: str, command: click.Command) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(click.Context(command, info_name=name)))
    text = inspect.cleandoc(command.help or "")
    yield f"### {name}\n\n```text\n{name} {usage}\n```\n\n{text}\n{_options(command.params)}"
    if isinstance(command, click.Group):
        for one in sorted(command.commands):
            yield from _commands(f"{name} {one}", command.commands[one])


def _options(params: Iterable[click.Parameter]) -> str:
    rows = "".join(_option(param) for param in params if isinstance(param, click.Option))
    return f"\n| option | meaning | default |\n|---|---|---|\n{rows}" if rows else ""


def _option(param: click.Option) -> str:
    default = "" if param.required or param.is_flag or not _told(param.default) else f"`{param.default}`"
    text = _cell(param.help or "") + (" Required." if param.required else "")
    return f"| `{', '.join(param.opts)}` | {text} | {default} |\n"


def _told(default: Any) -> bool:
    """Whether there is a default: older versions of click say None, newer ones a sentinel."""
    return isinstance(default, str | int | float | Path)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
