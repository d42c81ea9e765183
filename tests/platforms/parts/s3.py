"""A server of S3 that is built from its Go sources."""

from __future__ import annotations

from pathlib import Path

from platforms.tools import go_program

SERVER = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"


def install(folder: Path) -> None:
    go_program(folder, SERVER)
