"""Facts of a run as they are written, and back."""

from __future__ import annotations

import json

import pytest

from spark_pufs.findings.run_facts import Pass, Reading, RunFacts

FACTS = RunFacts("spark", 1.5, (Pass("profile", 0.25), Pass("pack", 1.0)), Reading("spark", "it was asked for"))


def test_they_are_one_mapping_in_a_file() -> None:
    told = json.loads(json.dumps(FACTS.as_dict()))
    assert told == {
        "engine": "spark",
        "reader": "spark",
        "reader_reason": "it was asked for",
        "seconds": 1.5,
        "passes": [
            {"what": "profile", "seconds": 0.25, "rows": 0, "bytes": 0},
            {"what": "pack", "seconds": 1.0, "rows": 0, "bytes": 0},
        ],
    }
    assert RunFacts.from_dict(told) == FACTS


def test_those_of_earlier_versions_lack_the_reader() -> None:
    assert RunFacts.from_dict({"engine": "memory", "seconds": 1, "passes": []}) == RunFacts("memory", 1.0)


@pytest.mark.parametrize("values", [{"seconds": 1}, {"engine": 3, "seconds": 1}, {"engine": "memory", "seconds": "1"}])
def test_others_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="run"):
        RunFacts.from_dict(values)  # type: ignore[arg-type]
