"""Messages on docs/troubleshooting.md are those of the code, and all of those are there."""

from __future__ import annotations

import re

import pytest

from support.bad_input import CASES
from support.message_patterns import FaultPlace, fault_places
from support.pages import ROOT

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
PLACES = fault_places()


def section(title: str) -> str:
    """The part of the page under the heading that begins so, without what follows the next heading of its level."""
    found = re.search(rf"^## {title}.*?\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None, title
    return found[1]


def quoted(text: str) -> list[str]:
    """Messages: code at the beginning of a table's line that has a place and what was found."""
    return re.findall(r"^\| `([^`]+: [^`]+)` \|", text, re.MULTILINE)


def faults_of(message: str) -> list[str]:
    """The faults that one message holds."""
    return [line.removeprefix("  - ") for line in message.splitlines() if not re.fullmatch(r"\d+ faults:", line)]


CODES = {code: quoted(section(f"Exit code {code}")) for code in (1, 2, 3, 4, 5)}
MESSAGES = [message for found in CODES.values() for message in found] + quoted(section("From functions"))


def test_there_are_messages() -> None:
    assert len(MESSAGES) > 100
    assert sorted(set(MESSAGES)) == sorted(MESSAGES)


@pytest.mark.parametrize("message", MESSAGES)
def test_message_occurs(message: str) -> None:
    raised = any(fault.startswith(f"{message}.") for _, _, _, text in CASES for fault in faults_of(text))
    assert raised or any(place.says(message) for place in PLACES)


def test_a_message_that_nobody_gives_is_seen() -> None:
    assert not any(place.says("Column 'label': is of the wrong colour") for place in PLACES)


def sites() -> list[tuple[str, int]]:
    return sorted({(place.module, place.line) for place in PLACES if place.tells})


def test_every_place_is_covered() -> None:
    def covered(site: tuple[str, int]) -> bool:
        here = [place for place in PLACES if (place.module, place.line) == site]
        return any(place.says(message) for place in here for message in MESSAGES)

    assert [site for site in sites() if not covered(site)] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[0]))
def test_messages_stand_under_their_exit_code(case: tuple[str, int, object, str]) -> None:
    _, code, _, message = case
    for fault in faults_of(message):
        places: list[FaultPlace] = [place for place in PLACES if any(place.says(part) for part in beginnings(fault))]
        shown = [m for m in CODES[code] if fault.startswith(f"{m}.") or any(place.says(m) for place in places)]
        assert shown, fault


def beginnings(fault: str) -> list[str]:
    """The fault without its fix: cut at every full stop, as the fix may have several."""
    return [fault[: stop.start()] for stop in re.finditer(r"\. ", fault)]
