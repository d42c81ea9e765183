"""S3 as Hadoop calls it, by the variables of AWS; the standard library alone, so that run.py can ask for Java."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["S3A", "settings_for_spark"]

S3A = "spark.hadoop.fs.s3a."


def settings_for_spark(environment: Mapping[str, str]) -> dict[str, str]:
    """What AWS's own variables say of S3, as Hadoop calls it; credentials it finds by itself."""
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    found = {f"{S3A}endpoint.region": region} if region else {}
    return found | ({f"{S3A}endpoint": endpoint, f"{S3A}path.style.access": "true"} if endpoint else {})
