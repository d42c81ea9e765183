"""Lines of the log, for people or for programs, without secrets."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from copy import copy
from datetime import UTC, datetime
from types import TracebackType

from spark_pufs.engines.at_work import METRICS
from spark_pufs.masking.texts import foreign, masked, visible_lines

__all__ = ["JsonLines", "Masked"]

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class Masked(logging.Formatter):
    """Log lines and tracebacks without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """The record anew: another handler may have left its own text of the traceback in it."""
        record = copy(record)
        record.exc_text = None
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:
        return visible_lines(masked(super().formatMessage(record)))

    def formatException(self, ei: ExceptionInfo) -> str:
        return foreign(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:
        return foreign(super().formatStack(stack_info))


class JsonLines(Masked):
    """A JSON object a line: time, level, message, and what a line tells besides, such as a pass its rows and bytes.

    >>> record = logging.makeLogRecord({"msg": "pass 1", "levelname": "INFO", "created": 0, METRICS: {"rows": 7}})
    >>> JsonLines().format(record)
    '{"time": "1970-01-01T00:00:00.000+00:00", "level": "INFO", "message": "pass 1", "rows": 7}'
    """

    def format(self, record: logging.LogRecord) -> str:
        told: Mapping[str, object] = getattr(record, METRICS, {})
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": time, "level": record.levelname, "message": super().format(record)}
        plain = {name: masked(value) if isinstance(value, str) else value for name, value in told.items()}
        return json.dumps({**line, **plain})
