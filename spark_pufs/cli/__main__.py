"""`python -m spark_pufs.cli`."""

from __future__ import annotations

from spark_pufs.cli.commands import main

if __name__ == "__main__":
    main()
