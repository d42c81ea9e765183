"""Any configuration whatever is read or refused in our words: place, what was found, what to do. Nothing else comes."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from spark_pufs.errors import ConfigError
from spark_pufs.jobs.compare_job import CompareConfig
from spark_pufs.jobs.config import RunConfig, resolved, settings_of
from spark_pufs.jobs.plain_yaml import MOST_VALUES, NotPlain, read_yaml
from spark_pufs.jobs.settings_shown import places_masked
from spark_pufs.run.execution import check
from spark_pufs.selectors.evidence.comparison import candidate
from spark_pufs.studies.reproduce import ReproduceConfig, studies_of

CONF = Path(__file__).parents[2] / "conf"
MODELS: dict[str, type[BaseModel]] = {
    "select_features.yaml": RunConfig,
    "compare_methods.yaml": CompareConfig,
    "reproduce.yaml": ReproduceConfig,
    "reproduce_smoke.yaml": ReproduceConfig,
}
TEXTS = {name: (CONF / name).read_text(encoding="utf-8") for name in MODELS}
TREES = {name: yaml.safe_load(text) for name, text in TEXTS.items()}

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.dates()
    | st.datetimes()
    | st.binary(max_size=4)
    | st.sampled_from(
        ["*", "***", "auto", "all", "s3://a:b@c/d", "1e9", "0x1F", "~", "{a: b", "..", "\0", "\ud800", 10**80]
    )
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8) | st.integers() | st.none(), inner, max_size=3)
    ),
    max_leaves=6,
)  # fmt: skip


def used(data: bytes, model: type[BaseModel], overrides: Sequence[str] = ()) -> BaseModel | None:
    """Read a configuration as a command would, up to where the table is needed; None where it was refused."""
    try:
        return asked(settings_of(data, "fuzz.yaml", model, overrides, "conf/x.yaml"))
    except ConfigError as error:
        refused = error
    assert refused.faults
    assert all(fault.where.strip() and fault.found.strip() and fault.fix.strip() for fault in refused.faults)
    assert refused.exit_code == 2
    assert len(str(refused)) < 20_000
    return None


def asked(config: BaseModel) -> BaseModel:
    """Look at all that can be wrong without a table."""
    if isinstance(config, RunConfig):
        check(config.request())
    if isinstance(config, CompareConfig):
        for method in config.compare.methods:
            candidate(method)
    if isinstance(config, ReproduceConfig):
        studies_of(config)
    return config


def stays(config: BaseModel | None, model: type[BaseModel]) -> bool:
    """Whether what was accepted is kept in a form that is accepted again and asks for the same."""
    if config is None:
        return True
    kept = resolved(config)
    if list(places_masked(yaml.load(kept, yaml.CSafeLoader))):
        return True
    again = used(kept, model)
    return again is not None and resolved(again) == kept


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


PLACES = [(name, path) for name, tree in TREES.items() for path in places(tree)]


def holder_of(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        tree = tree[key]
    return tree


def dumped(tree: Any) -> bytes:
    return yaml.safe_dump(tree, allow_unicode=True).encode(errors="surrogatepass")


@pytest.mark.parametrize("name", MODELS)
def test_the_files_themselves_are_accepted(name: str) -> None:
    config = used(TEXTS[name].encode(), MODELS[name], ["run.data=x"] if "reproduce" in name else [])
    assert config is not None
    assert stays(config, MODELS[name])


@settings(max_examples=400)
@given(st.sampled_from(PLACES), values)
@example(("select_features.yaml", ("source", "path")), "\ud800")
def test_one_value_replaced(place: tuple[str, tuple[Any, ...]], value: Any) -> None:
    name, path = place
    tree = copy.deepcopy(TREES[name])
    holder_of(tree, path)[path[-1]] = value
    assert stays(used(dumped(tree), MODELS[name]), MODELS[name])


@settings(max_examples=100)
@given(st.sampled_from([place for place in PLACES if isinstance(place[1][-1], str)]), st.text(max_size=10))
def test_one_key_renamed_or_taken_away(place: tuple[str, tuple[Any, ...]], key: str) -> None:
    name, path = place
    tree = copy.deepcopy(TREES[name])
    holder = holder_of(tree, path)
    value = holder.pop(path[-1])
    if key:
        holder[key] = value
    assert stays(used(dumped(tree), MODELS[name]), MODELS[name])


@settings(max_examples=150)
@given(st.sampled_from(sorted(MODELS)), values)
def test_any_tree(name: str, tree: Any) -> None:
    assert stays(used(dumped(tree), MODELS[name]), MODELS[name])


@settings(max_examples=300)
@given(st.sampled_from(sorted(MODELS)), st.data())
def test_bytes_of_the_files_changed(name: str, data: st.DataObject) -> None:
    text = bytearray(TEXTS[name].encode())
    for _ in range(data.draw(st.integers(1, 3))):
        first = data.draw(st.integers(0, len(text)))
        length = data.draw(st.sampled_from([0, 0, 1, 20]))
        text[first : first + length] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b": ", b"- ", b"[", b"&a ", b"*a"])
        )
    assert stays(used(bytes(text), MODELS[name]), MODELS[name])


sections = st.sampled_from(["source", "label", "features", "select", "output", "spark", "compare", "x", ""])
keys = st.sampled_from(
    ["path", "column", "k", "method", "conf", "conf.a.b", "options", "costs.age", "include", "", "."]
)


@settings(max_examples=300)
@given(st.lists(st.tuples(sections, keys, st.text(max_size=12) | values.map(str)), max_size=3), st.text(max_size=12))
@example([("select", "k", "2026-99-99")], "=")
@example([("select", "costs.age.b", "&a [*a]")], "a.b=")
def test_any_override(given: list[tuple[str, str, str]], raw: str) -> None:
    overrides = [f"{section}.{key}={value}" for section, key, value in given] + [raw]
    for some in (overrides, overrides[:-1]):
        assert stays(used(TEXTS["compare_methods.yaml"].encode(), CompareConfig, some), CompareConfig)


LAUGHS = [
    f"{name}: &{name} [{', '.join(['*' + last] * 9)}]" for last, name in zip("abcdefghi", "bcdefghij", strict=True)
]
BOMB = "\n".join(["a: &a [x, x, x, x, x, x, x, x, x]", *LAUGHS])
HOSTILE = {
    BOMB: f"it holds over {MOST_VALUES:,} values",
    'a: "\\ud800"': "an unpaired surrogate, which no file can hold, line 1, column 4",
    "a: &a [*a]": "an alias refers to a node that contains it, line 1, column 4",
    "a: &a {b: *a}": "an alias refers to a node that contains it, line 1, column 4",
    "[" * 100_000: "it is nested too deeply",
    "{a: " * 100_000: "it is nested too deeply",
    "a: 1\na: 2": "key 'a' occurs twice, line 2, column 1",
    "a: !!binary gA==": "'binary' is not a plain value, line 1, column 4",
    "a: !!set {x}": "'set' is not a plain value, line 1, column 4",
    "a: !!timestamp [1]": "expected a scalar node, but found sequence, line 1, column 4",
    f"a: 0x{'f' * 50_000}": "a number of 50,002 digits, line 1, column 4",
    f"a: {'9' * 50_000}": "a number of 50,000 digits, line 1, column 4",
    "a: !!python/name:os.system": "'python/name:os.system' is not a plain value, line 1, column 4",
    "a: 1\n---\nb: 2": "expected a single document in the stream but found another document, line 2, column 1",
    "a: \x01": "unacceptable character #x0001: special characters are not allowed",
    "? [a]\n: 1": "while constructing a mapping found unhashable key, line 1, column 3",
}


@pytest.mark.parametrize(("text", "why"), HOSTILE.items(), ids=range(len(HOSTILE)))
def test_hostile_yaml_is_refused_at_once(text: str, why: str) -> None:
    with pytest.raises(NotPlain) as caught:
        read_yaml(text)
    assert str(caught.value).startswith(why)
    assert used(text.encode(), RunConfig) is None


def test_a_date_is_the_text_that_was_written() -> None:
    assert read_yaml("[2026-01-31, 2026-99-99, 2026-01-31 10:00:00]") == [
        "2026-01-31",
        "2026-99-99",
        "2026-01-31 10:00:00",
    ]


def test_aliases_and_merges_of_a_sane_size_are_read() -> None:
    text = "base: &base {k: 1, seed: 2}\nselect: {<<: *base, k: 3}\nlist: [*base, *base]"
    assert read_yaml(text)["select"] == {"k": 3, "seed": 2}
