"""PUFeatureSelector in pipelines of pyspark.ml; test_on_connect.py runs this very file on Spark Connect."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyspark")

from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.feature import StringIndexer, VectorAssembler
from pyspark.ml.linalg import DenseVector, SparseVector, Vectors, VectorUDT
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, StructField, StructType

from spark_pufs import ConfigError, DataError, PufsWarning, select
from spark_pufs.selectors.registry import METHODS
from spark_pufs.spark import PUFeatureSelector, PUFeatureSelectorModel
from support.quick_options import quick

pytestmark = pytest.mark.spark

CONNECT = "SPARK_PUFS_TEST_CONNECT" in os.environ
NAMES = ["a", "b", "c.d", "e"]


@pytest.fixture(scope="module")
def local() -> pd.DataFrame:
    """Columns b and e move with the class; label is 1, 0 for unlabelled or -1 for negative."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    table = pd.DataFrame(rng.normal(size=(120, 4)), columns=NAMES)
    table["b"] += 3 * y
    table["e"] += 2 * y
    told = rng.random(120) < 0.6
    return table.assign(row=range(120), label=np.where(told & (y == 1), 1, 0), both=np.where(told, 2 * y - 1, 0))


@pytest.fixture(scope="module")
def table(session: Any, local: pd.DataFrame) -> Any:
    return session.createDataFrame(local).coalesce(1).cache()


@pytest.fixture(scope="module")
def vectors(table: Any) -> Any:
    """The same features in one vector, with names."""
    plain = table.withColumnRenamed("c.d", "c_d")
    return VectorAssembler(inputCols=["a", "b", "c_d", "e"], outputCol="features").transform(plain)


def test_columns(table: Any, local: pd.DataFrame) -> None:
    model = PUFeatureSelector(inputCols=NAMES, method="mim", k=2).fit(table)
    expected = select(local, label="label", method="mim", k=2, features=NAMES)
    assert model.selection.features == expected.features
    assert model.selectedNames == expected.names == ["b", "e"]
    assert model.selectedIndices == [1, 3]
    assert model.scores == expected.scores
    assert model.featureNames == NAMES
    assert model.transform(table).columns == ["b", "e", "row", "label", "both"]
    assert model.transform(table.drop("label", "a")).columns == ["b", "e", "row", "both"]


def test_columns_by_glob_in_the_order_asked_for(table: Any) -> None:
    model = PUFeatureSelector(inputCols=["e", "[a-c]*"], method="mim", k=1, never="both").fit(table)
    assert model.featureNames == ["e", "a", "b", "c.d", "both"]
    assert model.selectedIndices == [2]


def test_a_name_that_looks_like_a_glob_is_a_name(table: Any) -> None:
    frame = table.withColumnRenamed("a", "x[1]").withColumnRenamed("b", "x1")
    model = PUFeatureSelector(inputCols=["x[1]", "e"], method="mim", k=1).fit(frame)
    assert model.featureNames == ["x[1]", "e"]
    with pytest.raises(DataError, match=r"Option 'never': 'x\[1\]' is not a feature"):
        PUFeatureSelector(inputCols=["x1", "e"], never=["x[1]"], method="mim", k=1).fit(frame)
    assert model.transform(frame).columns == ["x1", "c.d", "e", "row", "label", "both"]


def test_vectors(vectors: Any, local: pd.DataFrame) -> None:
    model = PUFeatureSelector(method="mim", k=2, outputCol="chosen").fit(vectors)
    expected = select(local.rename(columns={"c.d": "c_d"}), label="label", method="mim", k=2, exclude=["row", "both"])
    assert model.selection.features == expected.features
    narrow = model.transform(vectors)
    assert narrow.columns == [*vectors.columns, "chosen"]
    assert narrow.schema["chosen"].metadata == {
        "ml_attr": {"attrs": {"numeric": [{"name": "b", "idx": 0}, {"name": "e", "idx": 1}]}, "num_attrs": 2}
    }
    assert [row.chosen for row in narrow.orderBy("row").limit(3).collect()] == [
        DenseVector(values) for values in local[["b", "e"]].to_numpy()[:3]
    ]


def test_vectors_without_names_dense_or_sparse(session: Any) -> None:
    rows = [(Vectors.sparse(4, [2], [float(i % 2)]), i % 2) for i in range(40)]
    rows += [(Vectors.dense([1.0, i % 3, i % 2, 5.0]), i % 2) for i in range(40)]
    frame = session.createDataFrame(rows, ["features", "label"])
    model = PUFeatureSelector(method="mim", k=2, must="f1").fit(frame)
    assert model.featureNames == ["f0", "f1", "f2", "f3"]
    assert model.selectedNames == ["f1", "f2"]
    narrow = model.transform(frame)
    assert model.getOutputCol() == f"{model.uid}__output"
    found = {
        type(row[-1]): row[-1].size if isinstance(row[-1], SparseVector) else len(row[-1]) for row in narrow.collect()
    }
    assert found == {SparseVector: 2, DenseVector: 2}
    attributes = narrow.schema[model.getOutputCol()].metadata["ml_attr"]
    assert [attribute["name"] for attribute in attributes["attrs"]["numeric"]] == ["f1", "f2"]


PLUG_IN = {"correction": "none"}  # information as counted


def test_nominal_attributes_are_categories(session: Any) -> None:
    """Of the codes 0, 1, 2 only the middle one tells: categories see that, two bins of numbers do not."""
    rows = [("abc"[i % 3], float(i % 2), int(i % 3 == 1)) for i in range(60)]
    frame = session.createDataFrame(rows, ["word", "noise", "label"])
    indexer = StringIndexer(inputCol="word", outputCol="code", stringOrderType="alphabetAsc")
    assembler = VectorAssembler(inputCols=["noise", "code"], outputCol="features")
    coded = assembler.transform(indexer.fit(frame).transform(frame))
    model = PUFeatureSelector(method="mim", k=1, bins=2, outputCol="out", options=PLUG_IN).fit(coded)
    by_columns = PUFeatureSelector(inputCols=["code", "noise"], method="mim", k=1, bins=2, options=PLUG_IN).fit(coded)
    # H(label) = log 3 - 2/3 log 2, in nats: the code tells all of it
    assert model.scores == pytest.approx([np.log(3) - 2 / 3 * np.log(2)])
    assert by_columns.scores == model.scores
    attributes = model.transform(coded).schema["out"].metadata["ml_attr"]["attrs"]
    assert attributes == {"nominal": [{"vals": ["a", "b", "c"], "name": "code", "idx": 0}]}


# Connect takes longer: there one method of each module, which read the rows in the same ways.
HERE = list({method.run.__module__ if CONNECT else name: name for name, method in METHODS.items()}.values())


@pytest.mark.parametrize("method", HERE)
def test_every_method(vectors: Any, method: str) -> None:
    options: dict[str, Any] = {"method": method, "k": 2, "prior": 0.5, "negative": -1, "options": quick(method)}
    model = PUFeatureSelector(labelCol="both", outputCol="out", **options).fit(vectors)
    assert len(model.selectedNames) in (1, 2)
    assert [model.featureNames[i] for i in model.selectedIndices] == model.selectedNames
    assert model.transform(vectors).schema["out"].metadata["ml_attr"]["num_attrs"] == len(model.selectedNames)


def test_params_copy_and_explain() -> None:
    selector = PUFeatureSelector(k=3, costs={"a": 2}, must="a", prior=(0.1, 0.2), options={"alpha": 0.1})
    twin = selector.copy({selector.k: 5, selector.method: "mim"})
    assert (selector.getK(), selector.getMethod()) == (3, "distil")
    assert (twin.getK(), twin.getMethod(), twin.uid) == (5, "mim", selector.uid)
    assert twin.getOrDefault("prior") == [0.1, 0.2]
    assert twin.getOrDefault("must") == ["a"]
    text = selector.explainParams()
    assert "k: number of features" in text
    assert "(current: 3)" in text
    assert "default: distil" in text
    assert selector.setParams(k=None, seed=4).getSeed() == 4
    assert selector.setK("all").setMethod("mim").setLabelCol("y").setInputCols(["a"]).setSeed(1).getK() == "all"
    assert PUFeatureSelector().getK() is None


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"labelcol": "y"}, ConfigError, "Param 'labelcol': is not one of this estimator. Did you mean 'labelCol'?"),
        ({"k": 1.5}, TypeError, 'Invalid param value given for param "k"'),
        ({"options": [1]}, TypeError, 'Invalid param value given for param "options"'),
        ({"options": {"a": np.ones(2)}}, TypeError, "not JSON serializable"),
        ({"prior": float("nan"), "costs": {"a": float("nan")}}, TypeError, 'param "costs"'),
        ({"must": [1]}, TypeError, 'param "must"'),
    ],
)
def test_bad_settings(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as found:
        PUFeatureSelector(**settings)
    assert message in str(found.value)


def test_arguments_go_by_name() -> None:
    with pytest.raises(TypeError):
        PUFeatureSelector("semi-jmi")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"inputCols": ["a", "bb"]}, DataError, "Column 'bb': not found among 7 columns"),
        ({"inputCols": ["a"], "labelCol": "labl"}, DataError, "Column 'labl': not found among 7 columns. Did you mean"),
        ({"inputCols": ["a"], "featuresCol": "v"}, ConfigError, "Params 'inputCols' and 'featuresCol': are both set"),
        ({"inputCols": ["a", "label"]}, DataError, "Column 'label': is the label and cannot be a feature"),
        ({}, DataError, "Column 'features': not found"),
        ({"featuresCol": "a"}, DataError, "Column 'a': is double, not a vector"),
        ({"inputCols": ["a"], "method": "semijmi"}, ConfigError, "Did you mean 'semi-jmi'?"),
        ({"inputCols": ["a"], "options": {"x": 1}}, ConfigError, "Option 'x': is not an option of method"),
    ],
)
def test_faults_of_a_fit(table: Any, settings: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as found:
        PUFeatureSelector(**{"k": 1, **settings}).fit(table)
    assert message in str(found.value)


def test_faults_of_vectors(session: Any) -> None:
    schema = StructType([StructField("features", VectorUDT()), StructField("label", DoubleType())])

    def fit(*rows: Any) -> None:
        PUFeatureSelector(k=1).fit(session.createDataFrame([(row, 1.0) for row in rows], schema))

    with pytest.raises(DataError, match="Column 'features': 1 of 2 vectors are null"):
        fit(Vectors.dense([1.0]), None)
    with pytest.raises(DataError, match="Column 'features': its vectors hold from 1 to 2 values"):
        fit(Vectors.dense([1.0]), Vectors.dense([1.0, 2.0]))
    with pytest.raises(DataError, match="Table: has no rows"):
        fit()


def test_faults_of_a_transform(vectors: Any, table: Any) -> None:
    model = PUFeatureSelector(method="mim", k=1, outputCol="out").fit(vectors)
    other = VectorAssembler(inputCols=["b", "a", "c_d", "e"], outputCol="features").transform(vectors.drop("features"))
    with pytest.raises(DataError, match="Column 'features': holds 'a' where 'b' was fitted"):
        model.transform(other)
    short = VectorAssembler(inputCols=["a", "b"], outputCol="features").transform(vectors.drop("features"))
    with pytest.raises(DataError, match="Column 'features': holds 2 features, 4 were fitted"):
        model.transform(short)
    with pytest.raises(DataError, match="Column 'row': exists already"):
        model.copy({model.outputCol: "row"}).transform(vectors)
    by_columns = PUFeatureSelector(inputCols=NAMES, method="mim", k=1).fit(table)
    with pytest.raises(DataError, match="Column 'b': not found"):
        by_columns.transform(table.drop("b"))
    nothing = PUFeatureSelector(method="semi-iamb", k="all", never="[be]", options={"alpha": 1e-9}).fit(vectors)
    with pytest.raises(DataError, match="no feature was selected"):
        nothing.transform(vectors)


def test_save_and_load(vectors: Any, tmp_path: Path) -> None:
    selector = PUFeatureSelector(
        method="mim", k=2, costs={"a": 2.5}, prior=(0.2, 0.3), outputCol="out", options={}, must=["a"], positive=[1, 2]
    )
    selector.save(str(tmp_path / "selector"))
    loaded = PUFeatureSelector.load(str(tmp_path / "selector"))
    assert loaded.uid == selector.uid
    assert loaded.extractParamMap() == selector.extractParamMap()
    model = loaded.fit(vectors)
    model.write().overwrite().save(str(tmp_path / "model"))
    model.write().overwrite().save(str(tmp_path / "model"))
    again = PUFeatureSelectorModel.load(str(tmp_path / "model"))
    assert again.selection.to_json() == model.selection.to_json()
    assert again.extractParamMap() == model.extractParamMap()
    assert again.selectedIndices == model.selectedIndices
    assert again.transform(vectors).schema == model.transform(vectors).schema
    with pytest.raises(ConfigError, match="Load it with PUFeatureSelectorModel"):
        PUFeatureSelector.load(str(tmp_path / "model"))
    written = [json.loads(part.read_text()) for part in (tmp_path / "model" / "metadata").glob("part*")]
    assert written[0]["class"] == "spark_pufs.spark.PUFeatureSelectorModel"
    again.write_report(tmp_path / "report.md")
    assert "mim" in (tmp_path / "report.md").read_text()


def test_copies_warnings_and_models_of_earlier_versions(table: Any, tmp_path: Path) -> None:
    twice = table.withColumn("b2", table["b"])
    names = ["a", "b", "b2", "e"]
    with pytest.warns(PufsWarning, match="Columns 'b', 'b2' are copies of each other: 'b' stands for them") as told:
        model = PUFeatureSelector(inputCols=names, method="mim", k=2).fit(twice)
    assert [one.filename for one in told] == [__file__]
    assert model.selectedNames == ["b", "e"]
    assert model.relevance[0] == 1
    every = PUFeatureSelector(inputCols=names, method="mim", k=2, copies="all").fit(twice)
    assert every.selectedNames == ["b", "b2"]
    model.save(str(tmp_path / "model"))
    again = PUFeatureSelectorModel.load(str(tmp_path / "model"))
    assert (again.selection.features, again.relevance) == (model.selection.features, model.relevance)
    [part] = (tmp_path / "model" / "metadata").glob("part*")
    kept = json.loads(part.read_text())
    for feature in kept["selection"]["features"]:
        del feature["relevance"], feature["relevance_error"]
    del kept["defaultParamMap"]["copies"]
    old = tmp_path / "old" / "metadata"
    old.mkdir(parents=True)
    (old / "part-00000").write_text(json.dumps(kept) + "\n")
    loaded = PUFeatureSelectorModel.load(str(tmp_path / "old"))
    assert loaded.selectedNames == ["b", "e"]
    assert loaded.relevance == [None, None]
    assert loaded.transform(twice).columns == model.transform(twice).columns


def stages() -> list[Any]:
    """Columns to a vector, a smaller vector, a classifier."""
    assembler = VectorAssembler(inputCols=["a", "b", "c_d", "e"], outputCol="all")
    selector = PUFeatureSelector(featuresCol="all", outputCol="features", method="mim", k=2)
    return [assembler, selector, LogisticRegression(maxIter=5)]


def test_pipeline(vectors: Any, tmp_path: Path) -> None:
    frame = vectors.drop("features")
    pipeline = Pipeline(stages=stages())
    pipeline.save(str(tmp_path / "pipeline"))
    model = Pipeline.load(str(tmp_path / "pipeline")).fit(frame)
    assert model.stages[1].selectedNames == ["b", "e"]
    assert model.stages[2].numFeatures == 2
    model.write().overwrite().save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model"))
    assert again.stages[1].selectedNames == ["b", "e"]
    assert (
        again.transform(frame).select("row", "prediction").orderBy("row").collect()
        == model.transform(frame).select("row", "prediction").orderBy("row").collect()
    )


def test_cross_validation(vectors: Any, tmp_path: Path) -> None:
    parts = stages()
    grid = ParamGridBuilder().addGrid(parts[1].k, [1, 2]).build()
    search = CrossValidator(
        estimator=Pipeline(stages=parts),
        estimatorParamMaps=grid,
        evaluator=BinaryClassificationEvaluator(),
        numFolds=2,
        seed=1,
        parallelism=2,
    )
    found = search.fit(vectors.drop("features"))
    assert len(found.avgMetrics) == 2
    best = grid[int(np.argmax(found.avgMetrics))][parts[1].k]
    assert len(found.bestModel.stages[1].selectedNames) == best
    found.save(str(tmp_path / "search"))
    again = CrossValidatorModel.load(str(tmp_path / "search"))
    assert again.bestModel.stages[1].selectedNames == found.bestModel.stages[1].selectedNames


def test_a_table_without_the_label_can_be_scored(vectors: Any) -> None:
    model = Pipeline(stages=stages()[:2]).fit(vectors.drop("features"))
    fresh = vectors.drop("features", "label").withColumn("a", F.lit(0.0))
    assert model.transform(fresh).first()["features"].size == 2


def test_the_page_runs(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parents[3] / "docs" / "pipelines.md"
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"spark": session, "folder": tmp_path}
    for block in re.findall(r"```py(?:thon)?\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(block, page.name, "exec"), names)  # the text is our own documentation
    assert {"search", "again"} <= set(names)
