"""Engines over any table, in every place where its rows may lie."""

from __future__ import annotations

import pytest

from support.places import ENGINES, PLACES, Placed, engine_at


@pytest.fixture(params=PLACES)
def anywhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Placed:
    """Makes an engine over a table, for every engine and every way its rows may lie."""
    return engine_at(request.param, request, monkeypatch)


@pytest.fixture(params=ENGINES)
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Placed:
    """Makes an engine over a table, once for each engine."""
    return engine_at(request.param, request, monkeypatch)
