"""The command, or, where a package that it needs does not load, what to fix."""

from __future__ import annotations

import sys

from spark_pufs.jobs.doctor import broken

__all__ = ["main"]


def main() -> None:
    """Run the command."""
    try:
        from spark_pufs.cli import main as command
    except ImportError as error:
        sys.exit(broken(error))
    command()


if __name__ == "__main__":
    main()
