"""Write docs/api.md from signatures, docstrings and the command's own options: python docs/make_api.py"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import click

import spark_pufs
from spark_pufs.cli import app
from spark_pufs.core.cluster_check import ClusterCheck
from spark_pufs.core.label_rate import Beta
from spark_pufs.core.power import Power, PowerReport, SampleSize
from spark_pufs.core.pu_scores import Estimate, PUScores
from spark_pufs.local import PUSelector
from spark_pufs.selection import Feature
from spark_pufs.selectors import METHODS
from spark_pufs.selectors.comparison import Comparison, Standing
from spark_pufs.spark import PUFeatureSelector, PUFeatureSelectorModel

PAGE = Path(__file__).parent / "api.md"
WIDTH = 110  # of a signature that stays on one line

HEAD = """# API reference

Written by `python docs/make_api.py` from the docstrings; do not edit by hand. The examples run as tests.
Configuration files are explained key by key in [conf/select_features.yaml](../conf/select_features.yaml); error
messages in [troubleshooting](troubleshooting.md).
"""

# What the functions return or take: not names of the package itself, but users hold them in their hands.
PARTS = (Feature, Comparison, Standing, ClusterCheck, PUScores, Estimate, Beta, Power, SampleSize, PowerReport)


def page() -> str:
    """The whole reference as Markdown."""
    names = [name for name in spark_pufs.__all__ if name != "__version__"]
    public = {name: getattr(spark_pufs, name) for name in names}
    functions = {name: thing for name, thing in public.items() if inspect.isfunction(thing)}
    errors = {n: t for n, t in public.items() if inspect.isclass(t) and issubclass(t, Exception)}
    sections = [
        ("Functions", [_function(f"spark_pufs.{name}", thing) for name, thing in functions.items()]),
        ("Selection", [_class("spark_pufs.Selection", spark_pufs.Selection)]),
        ("What the functions give and take", [_class(thing.__name__, thing) for thing in PARTS]),
        ("scikit-learn", [_class("spark_pufs.local.PUSelector", PUSelector)]),
        ("pyspark.ml", [_estimator(), _class("spark_pufs.spark.PUFeatureSelectorModel", PUFeatureSelectorModel)]),
        ("Errors", [_errors(errors)]),
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


def _function(name: str, thing: Any) -> str:
    return f"### {name}\n\n```text\n{_signature(name.rsplit('.', 1)[-1], thing)}\n```\n\n{_text(thing)}\n"


def _signature(name: str, thing: Any) -> str:
    """On one line where it fits, else one parameter per line."""
    signature = inspect.signature(thing)
    parameters = [_parameter(one) for one in signature.parameters.values() if one.name != "self"]
    if any(one.kind is one.KEYWORD_ONLY for one in signature.parameters.values()):
        kinds = [one.kind for one in signature.parameters.values() if one.name != "self"]
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    given = signature.return_annotation
    gives = "" if given in (signature.empty, "None", None) else f" -> {_type(given)}"
    line = f"{name}({', '.join(parameters)}){gives}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n    " + ",\n    ".join(parameters) + f",\n){gives}"


def _parameter(one: inspect.Parameter) -> str:
    star = {one.VAR_KEYWORD: "**", one.VAR_POSITIONAL: "*"}.get(one.kind, "")
    kind = "" if one.annotation is one.empty else f": {_type(one.annotation)}"
    default = "" if one.default is one.empty else f" = {one.default!r}" if kind else f"={one.default!r}"
    return f"{star}{one.name}{kind}{default}"


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _text(thing: Any) -> str:
    """A docstring as Markdown: code in single back-ticks, examples in blocks of their own."""
    lines = inspect.cleandoc(thing.__doc__ or "").splitlines()
    out: list[str] = []
    example = False
    for line in lines:
        begins = line.startswith(">>>")
        if begins and not example:
            out += ["```pycon"]
        elif example and not line.strip():
            out += ["```"]
        example = begins or (example and bool(line.strip()))
        out.append(line if example else line.replace("``", "`"))
    return "\n".join([*out, "```"] if example else out)


def _class(name: str, thing: type) -> str:
    head = f"### {name}\n\n"
    if not is_dataclass(thing) and thing is not PUFeatureSelectorModel:
        head += f"```text\n{_signature(thing.__name__, thing.__init__)}\n```\n\n"  # type: ignore[misc]
    fields = ""
    if is_dataclass(thing):
        kinds = {n: _type(f.type).replace("|", "\\|") for n, f in thing.__dataclass_fields__.items()}
        fields = "\n| field | type |\n|---|---|\n" + "".join(f"| `{n}` | `{kind}` |\n" for n, kind in kinds.items())
    return f"{head}{_text(thing)}\n{fields}{_members(thing)}"


def _members(thing: type) -> str:
    """Properties and methods that the class itself brings and explains."""
    found = [
        (f".{name}" if isinstance(value, property) else _member_signature(name, value), _text(_plain(value)))
        for name, value in vars(thing).items()
        if not name.startswith("_") and (_plain(value).__doc__ or "") and callable(_plain(value))
    ]
    lines = "".join(f"- `{shown}`: {text}\n" for shown, text in found)
    return f"\n{lines}" if lines else ""


def _plain(value: Any) -> Any:
    if isinstance(value, property):
        return value.fget
    return getattr(value, "__func__", value)


def _member_signature(name: str, value: Any) -> str:
    parameters = inspect.signature(_plain(value)).parameters.values()
    shown = [_parameter(one.replace(annotation=one.empty)) for one in parameters if one.name not in ("self", "cls")]
    return f".{name}({', '.join(shown)})"


def _estimator() -> str:
    instance = PUFeatureSelector()
    rows = "".join(
        f"| `{param.name}` | {_cell(param.doc)} | {_default(instance, param)} |\n" for param in instance.params
    )
    text = _text(PUFeatureSelector)
    head = f"### spark_pufs.spark.PUFeatureSelector\n\n```text\nPUFeatureSelector(**params)\n```\n\n{text}\n"
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
