"""The command, or, where a package that it needs does not load, what to fix."""

from __future__ import annotations

import sys

from spark_pufs.errors import EnvironmentFault, Fault
from spark_pufs.jobs.doctor import examine, report
from spark_pufs.masking.texts import gist

__all__ = ["main"]


def main() -> None:
    """Run the command."""
    try:
        from spark_pufs.cli import main as command
    except ImportError as error:
        sys.exit(broken(error))
    command()


def broken(error: ImportError) -> int:
    """Say which packages are missing, too old or too new; exit code 4."""
    try:
        report(examine(None), print)
        fix = "Install it again: pip install --force-reinstall spark-pufs"
        raise EnvironmentFault(Fault("A package", f"does not load: {gist(error)}", fix))
    except EnvironmentFault as fault:
        print(f"error: {fault}", file=sys.stderr)
        return fault.exit_code


if __name__ == "__main__":
    main()
