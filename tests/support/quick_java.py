"""Options of a Java that lives for seconds: compile quickly rather than well, collect without threads of its own."""

from __future__ import annotations

__all__ = ["QUICK"]

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
