"""The estimator of pyspark.ml; import it as spark_pufs.spark.PUFeatureSelector, the name saved pipelines hold."""
