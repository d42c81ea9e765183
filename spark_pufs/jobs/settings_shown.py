"""Which settings of Spark and of its readers are shown and kept: those known to be harmless. All others are secrets.

A name that is not here costs the user one ``--set`` when a run is resumed; one that is here and should not be would
show a secret. Names that may be those of secrets are never shown, whatever they begin with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from spark_pufs.masking.addresses import MASK, Address
from spark_pufs.masking.hidden import Secret, known_address
from spark_pufs.masking.texts import is_secret, masked
from spark_pufs.values import number_text

__all__ = ["Setting", "address_read", "conf_read", "is_harmless", "options_read", "places_masked", "shown_settings"]

Setting = Address | Secret | str | bool | int | float | None

# Parts of a configuration that may hold secrets.
SECRET_PLACES = ("source.path", "source.options.", "output.path", "output.mlflow.tracking_uri", "spark.")

# Settings of Spark by the beginnings of their names; a catalog's (spark.sql.catalog.) may hold passwords.
_CONF = (
    "spark.app.name", "spark.broadcast.", "spark.cleaner.", "spark.default.parallelism", "spark.driver.bindAddress",
    "spark.driver.cores", "spark.driver.host", "spark.driver.maxResultSize", "spark.driver.memory", "spark.driver.port",
    "spark.dynamicAllocation.", "spark.eventLog.compress", "spark.eventLog.enabled", "spark.executor.cores",
    "spark.executor.heartbeatInterval", "spark.executor.instances", "spark.executor.memory",
    "spark.executor.memoryOverhead", "spark.executor.pyspark.memory", "spark.excludeOnFailure.", "spark.files.max",
    "spark.io.compression.", "spark.kryoserializer.buffer", "spark.locality.wait", "spark.log.level", "spark.memory.",
    "spark.network.timeout", "spark.port.maxRetries", "spark.python.unix.domain.socket.enabled", "spark.python.worker.",
    "spark.rdd.compress", "spark.reducer.", "spark.rpc.message.maxSize", "spark.scheduler.", "spark.serializer",
    "spark.shuffle.", "spark.speculation", "spark.sql.adaptive.", "spark.sql.ansi.enabled", "spark.sql.autoBroadcast",
    "spark.sql.broadcastTimeout", "spark.sql.caseSensitive", "spark.sql.cbo.", "spark.sql.columnNameOfCorruptRecord",
    "spark.sql.execution.", "spark.sql.extensions", "spark.sql.files.", "spark.sql.inMemoryColumnarStorage.",
    "spark.sql.legacy.", "spark.sql.optimizer.", "spark.sql.orc.", "spark.sql.parquet.", "spark.sql.session.timeZone",
    "spark.sql.shuffle.", "spark.sql.sources.", "spark.sql.statistics.", "spark.stage.", "spark.storage.memory",
    "spark.submit.deployMode", "spark.task.", "spark.ui.enabled", "spark.ui.port", "spark.ui.retained",
    "spark.ui.showConsoleProgress", "spark.yarn.queue", "spark.jars.packages",
    "spark.hadoop.fs.s3a.aws.credentials.provider", "spark.hadoop.fs.s3a.connection.",
    "spark.hadoop.fs.s3a.fast.upload", "spark.hadoop.fs.s3a.impl",
    "spark.hadoop.fs.s3a.path.style.access", "spark.hadoop.mapreduce.",
    "spark.hadoop.parquet.",
)  # fmt: skip
_CONF_ADDRESSES = ("spark.eventLog.dir", "spark.hadoop.fs.defaultFS", "spark.hadoop.fs.s3a.endpoint", "spark.local.dir",
                   "spark.master", "spark.sql.warehouse.dir")  # fmt: skip
_NAMED_LIKE_SECRETS = ("spark.hadoop.fs.s3a.aws.credentials.provider",)  # the class that finds them

# Options of Spark's readers, which do not tell upper case from lower.
_OPTIONS = {name.lower() for name in (
    "allowBackslashEscapingAnyCharacter", "allowComments", "allowNonNumericNumbers", "allowNumericLeadingZeros",
    "allowSingleQuotes", "allowUnquotedControlChars", "allowUnquotedFieldNames", "charset", "charToEscapeQuoteEscaping",
    "columnNameOfCorruptRecord", "comment", "compression", "dateFormat", "datetimeRebaseMode", "delimiter", "driver",
    "emptyValue", "enableDateTimeParsingFallback", "encoding", "enforceSchema", "escape", "extension", "fetchsize",
    "header", "ignoreCorruptFiles", "ignoreLeadingWhiteSpace", "ignoreMissingFiles", "ignoreTrailingWhiteSpace",
    "inferSchema", "int96RebaseMode", "lineSep", "locale", "lowerBound", "maxCharsPerColumn", "maxColumns",
    "mergeSchema", "mode", "modifiedAfter", "modifiedBefore", "multiLine", "nanValue", "negativeInf", "nullValue",
    "numPartitions", "partitionColumn", "pathGlobFilter", "positiveInf", "prefersDecimal", "preferDate",
    "primitivesAsString", "quote", "quoteAll", "readerCaseSensitive", "recursiveFileLookup", "rowTag", "samplingRatio",
    "sep", "snapshot-id", "timeZone", "timestampAsOf", "timestampFormat", "timestampNTZFormat",
    "unescapedQuoteHandling", "upperBound", "useUnsafeRow", "versionAsOf",
)}  # fmt: skip
_OPTION_ADDRESSES = {"basepath", "path", "url"}


def conf_read(given: Any) -> Any:
    """Settings of a session, each as text; those that are not known to be harmless as secrets.

    >>> conf_read({"spark.sql.shuffle.partitions": 4, "spark.ssl.keyPassword": "x", "spark.ui.enabled": True})
    {'spark.sql.shuffle.partitions': '4', 'spark.ssl.keyPassword': ***, 'spark.ui.enabled': 'true'}
    """
    return {name: _read(value, _conf_kind(name), _text) for name, value in _by_name(given)}


def options_read(given: Any) -> Any:
    """Options of a reader; those that are not known to be harmless as secrets.

    >>> options_read({"header": True, "url": "jdbc:x://h/db?user=me", "dbtable": "t"})
    {'header': True, 'url': Address('jdbc:x://h/db?***'), 'dbtable': ***}
    """
    return {name: _read(value, _option_kind(name), lambda one: one) for name, value in _by_name(given)}


def is_harmless(place: str, value: Any) -> bool:
    """Whether a wrong value may be repeated: none of several values, and none where secrets may stand."""
    several = isinstance(value, Mapping | list | tuple)
    return not several and not f"{place}.".startswith(SECRET_PLACES) and not is_secret(place)


def shown_settings(settings: Mapping[str, Setting]) -> dict[str, Any]:
    """Settings as they are written and printed."""
    return {name: _shown(value) for name, value in settings.items()}


def address_read(given: Any) -> Address:
    """A path or an address."""
    if not isinstance(given, str | Address):
        raise ValueError("must be a path or an address")
    return given if isinstance(given, Address) else known_address(given)


def places_masked(values: Any, place: str = "") -> Iterator[str]:
    """Where settings that were kept hold *** for a secret: 'spark.conf.spark.ssl.keyPassword'.

    >>> list(places_masked({"source": {"path": "s3://***@bucket/t"}, "features": {"include": ["***"]}}))
    ['source.path']
    """
    if isinstance(values, Mapping):
        for name, value in values.items():
            yield from places_masked(value, f"{place}.{name}" if place else str(name))
    elif isinstance(values, list | tuple):
        for value in values:
            yield from places_masked(value, place)
    elif isinstance(values, str) and MASK in values and (place.startswith(SECRET_PLACES) or "://" in values):
        yield place


def _shown(value: Setting) -> Any:
    if isinstance(value, Secret | Address):
        return str(value)
    return masked(value) if isinstance(value, str) else value


def _by_name(given: Any) -> Iterable[tuple[str, Any]]:
    if not isinstance(given, Mapping):
        raise ValueError("must be settings by name")
    for name, value in given.items():
        if not isinstance(name, str):
            raise ValueError("names of settings must be text")
        if not isinstance(value, str | bool | int | float | None):
            raise ValueError(f"the value of '{name}' must be text, a number or true or false")
    return given.items()


def _read(value: Any, kind: type[Any], as_setting: Any) -> Setting:
    if value is None or value == "":
        return None if value is None else ""
    if kind is Address:
        return known_address(str(value))
    read: Setting = as_setting(value)
    harmless = kind is str and not (isinstance(read, str) and masked(read) != read)
    return read if harmless else Secret(read)


def _conf_kind(name: str) -> type[Any]:
    if name in _CONF_ADDRESSES:
        return Address
    harmless = name.startswith(_CONF) and (not is_secret(name) or name in _NAMED_LIKE_SECRETS)
    return str if harmless else Secret


def _option_kind(name: str) -> type[Any]:
    if name.lower() in _OPTION_ADDRESSES:
        return Address
    return str if name.lower() in _OPTIONS else Secret


def _text(value: Any) -> str:
    return value if isinstance(value, str) else number_text(value)
