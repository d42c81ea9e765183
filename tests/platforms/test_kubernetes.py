"""What is in jobs/kubernetes is what the schemas of Kubernetes ask for. No cluster has run it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from spark_pufs.cli import run

pytestmark = pytest.mark.platform("kubernetes")

FOLDER = Path(__file__).parents[2] / "jobs" / "kubernetes"
OLDEST, NEWEST = "1.30", "1.36"
PLAIN = ("service_account.yaml", "job.yaml")


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("name", PLAIN)
def test_manifests_fit_the_schema(name: str, version: str) -> None:
    from kubernetes_validate import validate

    for document in yaml.safe_load_all((FOLDER / name).read_text()):
        validate(document, version, strict=True)


def test_a_wrong_manifest_does_not() -> None:
    from kubernetes_validate import ValidationError, validate

    job = yaml.safe_load((FOLDER / "job.yaml").read_text())
    job["spec"]["template"]["spec"]["containers"][0]["comand"] = ["sh"]
    with pytest.raises(ValidationError):
        validate(job, NEWEST, strict=True)


def test_both_ways_run_the_same_command_and_it_is_one_of_ours(tmp_path: Path) -> None:
    job = yaml.safe_load((FOLDER / "job.yaml").read_text())
    words = job["spec"]["template"]["spec"]["containers"][0]["args"]
    script = next(i for i, word in enumerate(words) if word.startswith("local://"))
    application = yaml.safe_load((FOLDER / "spark_application.yaml").read_text())["spec"]
    assert words[script:] == [application["mainApplicationFile"], *application["arguments"]]
    root = FOLDER.parents[1]
    inside = [re.sub(r"/opt/spark_pufs", str(root), word) for word in application["arguments"]]
    table = tmp_path / "t.csv"
    table.write_text("label,a\n1,2\n0,3\n")
    places = ["--set", f"source.path={table}", "--set", "source.format=csv", "--set", f"output.path={tmp_path / 'run'}"]
    assert run(["select", *inside, *places, "--dry-run"]) in (0, 3)  # the words are understood; the table is too small
