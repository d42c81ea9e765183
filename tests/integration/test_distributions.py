"""Wheel and sdist as users get them: built, installed in an empty environment, run outside the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import spark_pufs

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[2]
SWITCH = "SPARK_PUFS_TEST_INSTALL"
LEFT_OUT = (".git", ".venv", ".*_cache", "__pycache__", "*.egg-info", "build", "dist", "site", "runs")
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"


def python(*arguments: str, program: str = sys.executable, cwd: Path) -> str:
    """What a Python that cannot see the checkout prints."""
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
    done = subprocess.run(
        [program, *arguments], cwd=cwd, env=own, capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is left in the checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    shutil.copytree(ROOT, folder / "tree", ignore=shutil.ignore_patterns(*LEFT_OUT))
    python("-c", BUILD, str(folder), cwd=folder / "tree")
    [found] = folder.glob("*.tar.gz")
    return found


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sdist, as an installer would."""
    folder = tmp_path_factory.mktemp("wheel")
    python("-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), str(sdist), cwd=folder)
    [found] = folder.glob("*.whl")
    return found


def empty_environment(folder: Path) -> Path:
    """Its Python."""
    venv.create(folder)
    return folder / "bin" / "python"


def install(program: Path, *arguments: str) -> None:
    python("-m", "pip", "--python", str(program), "install", "-q", *arguments, cwd=program.parent)


def demo(program: Path, folder: Path) -> str:
    """What the built-in example prints; it is run where the checkout is not to be found."""
    folder.mkdir()
    home = python("-c", "import spark_pufs; print(spark_pufs.__file__)", program=str(program), cwd=folder)
    assert program.parents[1] in Path(home).parents
    printed = python("demo", program=str(program.with_name("spark-pufs")), cwd=folder)
    assert (folder / "runs" / "demo" / "semi-jmi" / "report.html").stat().st_size > 10_000
    return printed


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {Path(name) for name in archive.namelist()}
    package = {path.relative_to(ROOT) for path in (ROOT / "spark_pufs").rglob("*") if path.is_file()}
    assert {path for path in held if path.parts[0] == "spark_pufs"} == {p for p in package if p.suffix != ".pyc"}
    assert {path.parts[0] for path in held} == {"spark_pufs", f"spark_pufs-{spark_pufs.__version__}.dist-info"}


def test_the_sdist_holds_what_tests_and_pages_need(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"run.py", "mkdocs.yml", "requirements-dev.txt", "CITATION.cff", "conf/select_features.yaml"} <= held
    assert ".github/workflows/test.yml" in held
    assert {
        "tests/conftest.py",
        "docs/index.md",
        "jobs/select_features.py",
        "tests/example_plugin/pyproject.toml",
    } <= held


def test_the_wheel_runs_the_demo_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    """Its dependencies are those of this environment: installing them takes minutes."""
    program = empty_environment(tmp_path / "environment")
    [site] = (tmp_path / "environment").glob("lib/python*/site-packages")
    (site / "others.pth").write_text("\n".join(path for path in sys.path if Path(path).name == "site-packages"))
    install(program, "--no-deps", str(wheel))
    assert "of the 25 features that matter, among 50." in demo(program, tmp_path / "elsewhere")


@pytest.mark.skipif(SWITCH not in os.environ, reason=f"installs all dependencies and takes minutes; {SWITCH}=1")
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_it_installs_with_its_dependencies_and_runs(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    program = empty_environment(tmp_path / "environment")
    install(program, f"{request.getfixturevalue(kind)}[spark]")
    assert "of the 25 features that matter, among 50." in demo(program, tmp_path / "elsewhere")
