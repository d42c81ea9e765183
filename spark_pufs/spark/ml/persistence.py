"""Saving and loading of estimators and models as one JSON text, on classic Spark and on Spark Connect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWriter

from spark_pufs.errors import ConfigError, Fault
from spark_pufs.spark.own_session import is_connect

if TYPE_CHECKING:
    from pyspark.ml.param import Params

__all__ = ["JsonReader", "JsonWriter"]

Kept = TypeVar("Kept", bound=MLReadable[Any])


class JsonWriter(MLWriter):
    """Writes the Params and ``extra``, plain values, in the layout of pyspark's own pure Python stages."""

    def __init__(self, instance: Params, extra: Mapping[str, Any]) -> None:
        super().__init__()
        self._instance = instance
        self._extra = dict(extra)

    def saveImpl(self, path: str) -> None:
        DefaultParamsWriter.saveMetadata(self._instance, path, self.sparkSession, extraMetadata=self._extra)

    def _handleOverwrite(self, path: str) -> None:
        if not is_connect(self.sparkSession):
            super()._handleOverwrite(path)
            return
        from pyspark.ml.connect.readwrite import RemoteMLWriter

        RemoteMLWriter.handleOverwrite(path, True)


class JsonReader(MLReader[Kept]):
    """Reads what JsonWriter wrote; ``make`` gives an instance from the metadata, before its Params are set."""

    def __init__(self, kind: type[Kept], make: Callable[[Mapping[str, Any]], Kept]) -> None:
        super().__init__()
        self._kind = kind
        self._make = make

    def load(self, path: str) -> Kept:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        wanted = f"{self._kind.__module__}.{self._kind.__name__}"
        if metadata["class"] != wanted:
            fix = f"Load it with {metadata['class'].rsplit('.', 1)[-1]}."
            raise ConfigError(Fault(f"Path '{path}'", f"holds {metadata['class']}, not {wanted}", fix))
        instance = self._make(metadata)
        cast("Params", instance)._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(instance, metadata)
        return instance
