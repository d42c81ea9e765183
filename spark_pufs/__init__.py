"""Feature selection for tables with a few labelled positives and no negatives, on Apache Spark or in memory."""

from spark_pufs.api import methods, select
from spark_pufs.core.power import power, power_report, sample_size
from spark_pufs.errors import ConfigError, DataError, EnvironmentFault, PufsError, Stopped
from spark_pufs.selection import Selection
from spark_pufs.version import __version__

__all__ = [
    "ConfigError",
    "DataError",
    "EnvironmentFault",
    "PufsError",
    "Selection",
    "Stopped",
    "__version__",
    "methods",
    "power",
    "power_report",
    "sample_size",
    "select",
]
