"""What a selection found besides its ranking, as typed records; they become plain values only when they are written."""

from spark_pufs.findings.findings import Findings

__all__ = ["Findings"]
