"""Saving and loading of estimators and models as one JSON text, on classic Spark and on Spark Connect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWriter

from spark_pufs.errors import ConfigError, Fault, PufsError
from spark_pufs.masking.addresses import address_shown
from spark_pufs.masking.texts import gist
from spark_pufs.spark.own_session import is_connect
from spark_pufs.values import Strange, path_text, shown

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
        place = path_text(path)
        where = f"Path '{place if isinstance(place, Strange) else address_shown(place)}'"
        wanted = f"{self._kind.__module__}.{self._kind.__name__}"
        try:
            metadata = DefaultParamsReader.loadMetadata(str(place), self.sparkSession)
            if metadata["class"] != wanted:
                fix = f"Load it with {metadata['class'].rsplit('.', 1)[-1]}."
                raise ConfigError(Fault(where, f"holds {metadata['class']}, not {wanted}", fix))
            instance = self._make(metadata)
            cast("Params", instance)._resetUid(_text(metadata["uid"]))
            DefaultParamsReader.getAndSetParams(instance, metadata)
        except PufsError:
            raise
        except Exception as error:  # of Spark where nothing is there, of JSON, of fields that are missing or foreign
            fix = "Save it again with this version, or name another path."
            raise ConfigError(Fault(where, f"holds no saved {wanted}: {gist(error)}", fix)) from error
        return instance


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, found {shown(value)}")
    return value
