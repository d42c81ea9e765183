from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_pufs.errors import ConfigError
from spark_pufs.jobs import plain_yaml
from spark_pufs.jobs.config import parse, with_overrides
from spark_pufs.jobs.plain_yaml import NotPlain, read_yaml
from spark_pufs.types import LabelRule
from support.configurations import load_config

ROOT = Path(__file__).parents[2]


def test_shipped_configuration_is_read_and_means_what_it_says() -> None:
    request = load_config(ROOT / "conf" / "select_features.yaml").request()
    assert request.method == "distil"
    assert request.k == 25
    assert request.keep == ("row_id",)
    assert request.label == LabelRule("label", (1,), (), (0,))
    assert request.options == {}


def test_overrides_win_over_the_file() -> None:
    overrides = ["select.k=3", "label.positive=[spam, fraud]", "select.prior=[0.1, 0.2]", "select.alpha=0.01"]
    request = load_config(ROOT / "conf" / "select_features.yaml", overrides).request()
    assert request.k == 3
    assert request.label.positive == ("spam", "fraud")
    assert request.prior == (0.1, 0.2)
    assert request.options == {"alpha": 0.01}


def test_overrides_leave_the_values_they_started_from() -> None:
    before = {"select": {"k": 5}}
    with_overrides(before, ["select.k=6"])
    assert before == {"select": {"k": 5}}


@pytest.mark.parametrize("text", ["!!python/object/apply:os.system ['true']", "!!python/name:os.system"])
def test_configuration_runs_no_code(tmp_path: Path, text: str) -> None:
    path = tmp_path / "evil.yaml"
    path.write_text(f"source: {text}\n")
    with pytest.raises(ConfigError, match="is not YAML"):
        load_config(path)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
sections = st.sampled_from(["source", "label", "features", "select", "output", "spark", "x"])


@given(st.dictionaries(sections, values, max_size=6))
def test_any_values_are_read_or_refused_in_our_words(config: dict[str, object]) -> None:
    try:
        parsed = parse(config)
        parsed.request()
    except ConfigError as error:
        faults = error.faults
    else:
        faults = ()
    assert all(str(fault) for fault in faults)


def test_settings_of_spark_may_be_numbers_and_true_or_false() -> None:
    places = {"source": {"path": "x"}, "label": {"column": "l"}, "output": {"path": "o"}}
    given = ["spark.conf.spark.ui.enabled=true", "spark.conf.spark.task.cpus=2", "spark.conf.spark.memory.fraction=0.5"]
    conf = parse(with_overrides(places, given)).spark.conf
    assert conf == {"spark.ui.enabled": "true", "spark.task.cpus": "2", "spark.memory.fraction": "0.5"}


def test_a_file_that_is_too_large_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, why in (("- " * 150, "nested"), ("a" * 2**21, "over 1,048,576")):
        with pytest.raises(NotPlain, match=why):
            read_yaml(text)
    monkeypatch.setattr(plain_yaml, "MOST_VALUES", 100)
    loader = plain_yaml.Bounded("[" + "1," * 10_000 + "]")
    with pytest.raises(NotPlain, match="over 100 values"):
        loader.get_single_node()
    assert loader.get_mark().index < 2000  # the scanner looks 1,024 characters ahead
