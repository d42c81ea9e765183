"""The selectors as an Estimator of pyspark.ml and its Model: pure Python, on classic Spark and on Spark Connect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from pyspark.ml import Estimator, Model
from pyspark.ml.util import MLReadable, MLWritable

from spark_pufs.core.schema import match, patterns
from spark_pufs.errors import ConfigError, DataError, Fault, did_you_mean, warn
from spark_pufs.run.execution import select_with
from spark_pufs.selection import Selection
from spark_pufs.spark.engine import SparkEngine
from spark_pufs.spark.ml.params import ParamValues, SelectionParams
from spark_pufs.spark.ml.persistence import JsonReader, JsonWriter
from spark_pufs.spark.ml.vectors import VectorEngine, attributes_of, is_nominal, quoted, slice_vectors
from spark_pufs.spark.weights import repeated_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["PUFeatureSelector", "PUFeatureSelectorModel"]


class PUFeatureSelector(
    SelectionParams, Estimator["PUFeatureSelectorModel"], MLReadable["PUFeatureSelector"], MLWritable
):
    """Choose features when some rows are labelled positive and the others are not labelled.

    Features are the columns ``inputCols`` (names or globs), or the elements of the vector column ``featuresCol``, dense
    or sparse, named by its ML attributes, else ``f0, f1, ...``. ``labelCol`` tells which rows are labelled;
    ``positive``, ``negative`` and ``unlabelled`` are its values, and ``weightCol`` says how often a row counts.
    ``options`` holds the method's own settings. Every other Param means what it means in ``spark_pufs.select``: see
    ``explainParams()``.

    >>> rows = [(1, 5, 7, 1), (0, 5, 8, 0), (1, 6, 7, 1), (0, 6, 8, 0)] * 5
    >>> flows = spark.createDataFrame(rows, ["a", "b", "id", "s"])
    >>> model = PUFeatureSelector(inputCols=["a", "b"], labelCol="s", method="semi-mim", k=1).fit(flows)
    >>> model.selectedNames, model.transform(flows).columns
    (['a'], ['a', 'id', 's'])
    """

    # Saved pipelines name a class by this address: the public one, which stays.
    __module__ = "spark_pufs.spark"

    def __init__(self, **settings: Unpack[ParamValues]) -> None:
        super().__init__()
        self.setParams(**settings)

    def setParams(self, **settings: Unpack[ParamValues]) -> Self:
        """Set Params by name; None leaves one as it is."""
        unknown = [name for name in settings if not self.hasParam(name)]
        known = [param.name for param in self.params]
        faults = [
            Fault(f"Param '{name}'", "is not one of this estimator", did_you_mean(name, known)) for name in unknown
        ]
        if faults:
            raise ConfigError(faults)
        return self._set(**{name: value for name, value in settings.items() if value is not None})

    def setInputCols(self, value: list[str]) -> Self:
        return self._set(inputCols=value)

    def setLabelCol(self, value: str) -> Self:
        return self._set(labelCol=value)

    def setMethod(self, value: str) -> Self:
        return self._set(method=value)

    def setK(self, value: int | str) -> Self:
        return self._set(k=value)

    def setSeed(self, value: int) -> Self:
        return self._set(seed=value)

    def setOptions(self, value: dict[str, Any]) -> Self:
        return self._set(options=value)

    def _fit(self, dataset: DataFrame) -> PUFeatureSelectorModel:
        if self.isSet(self.inputCols) and self.isSet(self.featuresCol):
            found = "are both set"
            raise ConfigError(
                Fault("Params 'inputCols' and 'featuresCol'", found, "Name columns or one vector column.")
            )
        _present(dataset, [self.getLabelCol()])
        if self.isSet(self.weightCol):
            dataset = repeated_rows(dataset, self.getWeightCol())
        fit = self._fit_columns if self.isSet(self.inputCols) else self._fit_vectors
        selection, names = fit(dataset)
        warn(selection.warnings)
        model = PUFeatureSelectorModel(selection, names)._resetUid(self.uid)
        return self._copyValues(model)

    def _fit_columns(self, dataset: DataFrame) -> tuple[Selection, list[str]]:
        asked, label = self.getInputCols(), self.getLabelCol()
        names, columns = _resolved(dataset, asked), dataset.columns
        # Other columns are not read, but their names are names. Those that stand twice nobody can ask for.
        table = dataset.select(
            *[quoted(name) for name in columns if name in {*names, label} or columns.count(name) == 1]
        )
        nominal = [field.name for field in table.schema.fields if field.name in names and is_nominal(field.metadata)]
        selection = select_with(SparkEngine(table), self._request(asked, nominal))
        return selection, [name for name in names if name != label]

    def _fit_vectors(self, dataset: DataFrame) -> tuple[Selection, list[str]]:
        vector = self.getFeaturesCol()
        _present(dataset, [vector])
        attributes = attributes_of(dataset, vector)
        names = [attribute.name for attribute in attributes]
        nominal = [attribute.name for attribute in attributes if attribute.kind == "nominal"]
        engine = VectorEngine(dataset, vector, names, self.getLabelCol())
        return select_with(engine, self._request(["*"], nominal)), names

    def write(self) -> JsonWriter:
        return JsonWriter(self, {})

    @classmethod
    def read(cls) -> JsonReader[PUFeatureSelector]:
        return JsonReader(cls, lambda metadata: cls())


class PUFeatureSelectorModel(SelectionParams, Model, MLReadable["PUFeatureSelectorModel"], MLWritable):
    """What was selected. ``transform`` leaves out the features that were not.

    With ``inputCols`` the table keeps the chosen features and every column that is no feature. With ``featuresCol`` a
    vector column ``outputCol`` is added that holds the chosen elements in their old order, named in its metadata.
    """

    __module__ = "spark_pufs.spark"

    def __init__(self, selection: Selection, featureNames: list[str]) -> None:
        super().__init__()
        self._selection = selection
        self._featureNames = list(featureNames)

    @property
    def selection(self) -> Selection:
        """The whole answer, with scores of all features, warnings and what is needed to get it again."""
        return self._selection

    @property
    def featureNames(self) -> list[str]:
        """All features, as ``inputCols`` or the vector gave them."""
        return list(self._featureNames)

    @property
    def selectedNames(self) -> list[str]:
        """The chosen features, best first."""
        return self._selection.names

    @property
    def selectedIndices(self) -> list[int]:
        """Places of ``selectedNames`` in ``featureNames``, which are those in the vector."""
        return [self._featureNames.index(name) for name in self._selection.names]

    @property
    def scores(self) -> list[float]:
        """The method's own score of each of ``selectedNames``."""
        return self._selection.scores

    @property
    def relevance(self) -> list[float | None]:
        """Relevance of each of ``selectedNames``: 0 is chance, 1 the best feature; None in models saved before it."""
        return self._selection.relevance

    def write_report(self, path: str | Path) -> None:
        """The report: HTML, or Markdown where the name ends in .md."""
        self._selection.write_report(path)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        if self.isSet(self.inputCols):
            _present(dataset, self.selectedNames)
            return self._selection.apply(dataset)
        vector, output = self.getFeaturesCol(), self.getOutputCol()
        _present(dataset, [vector])
        _sliceable(dataset, self.selectedNames, vector, output)
        return slice_vectors(dataset, vector, output, sorted(self.selectedIndices), self._featureNames)

    def write(self) -> JsonWriter:
        return JsonWriter(self, {"selection": self._selection.as_dict(), "featureNames": self._featureNames})

    @classmethod
    def read(cls) -> JsonReader[PUFeatureSelectorModel]:
        return JsonReader(cls, _restored)


def _restored(metadata: Mapping[str, Any]) -> PUFeatureSelectorModel:
    selection, names = Selection.from_dict(metadata["selection"]), metadata["featureNames"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("featureNames are no names")
    if not set(selection.names) <= set(names):
        raise ValueError("a chosen feature is not among featureNames")
    return PUFeatureSelectorModel(selection, names)


def _resolved(dataset: DataFrame, asked: list[str]) -> list[str]:
    """Columns that ``asked`` names, in that order."""
    columns = dataset.columns
    found = {one.text: match(columns, [one]) for one in patterns(asked, columns)}
    _present(dataset, [text for text, names in found.items() if not names])
    return list(dict.fromkeys(name for names in found.values() for name in names))


def _present(dataset: DataFrame, names: list[str]) -> None:
    known = dataset.columns
    absent = [name for name in names if name not in known]
    if absent:
        raise DataError(
            [
                Fault(f"Column '{name}'", f"not found among {len(known)} columns", did_you_mean(name, known))
                for name in absent
            ]
        )


def _sliceable(dataset: DataFrame, chosen: list[str], vector: str, output: str) -> None:
    if not chosen:
        raise DataError(
            Fault("Selection", "no feature was selected", "An empty vector is of no use: ask for k features.")
        )
    if output in dataset.columns:
        raise DataError(Fault(f"Column '{output}'", "exists already", "Name another outputCol."))
