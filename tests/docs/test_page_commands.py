"""Every command on a page exists and takes the options shown; every file it names is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from spark_pufs.cli import app, run
from spark_pufs.jobs.compare_job import EXAMPLE as COMPARE_EXAMPLE
from spark_pufs.jobs.compare_job import CompareConfig
from spark_pufs.jobs.config import RunConfig, load_settings
from spark_pufs.studies.reproduce import ReproduceConfig
from support.pages import PAGES, ROOT, blocks, name_of

# Commands of other people: that they exist is not for us to check.
FOREIGN = ("pip", "git", "export", "airflow", "venv-pack", "jupyter", "kubectl", "cd", "open", "conda")
SUBMIT = ("--master", "--deploy-mode", "--py-files", "--archives", "--files", "--conf", "--remote")
MODELS = {
    "select": RunConfig,
    "check": RunConfig,
    "compare": CompareConfig,
    "reproduce": ReproduceConfig,
}
JOBS = {"select_features": "select", "compare_methods": "compare"}


def lines(text: str) -> list[list[str]]:
    """Commands as words: continued lines joined, comments and settings of the environment left out."""
    joined = re.sub(r"\\\n\s*", " ", text)
    bare = re.sub(r"(^|\s)#.*$", "", joined, flags=re.MULTILINE)
    found = []
    for part in re.split(r"\n| && |; ", bare):
        words = shlex.split(part)
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words = words[1:]
        found += [words] if words else []
    return found


COMMANDS = [
    (f"{name_of(page)}:{block.line}", words)
    for page in PAGES
    for block in blocks(page, "bash", "")
    if block.kind == "bash" or re.match(r"[A-Z_]+=|spark-|python3? ", block.text)  # some fences name no language
    for words in lines(block.text)
]


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 30


@pytest.mark.parametrize(("where", "words"), COMMANDS, ids=[f"{where} {' '.join(w[:3])}" for where, w in COMMANDS])
def test_command(where: str, words: list[str]) -> None:
    program = words[0].rsplit("/", 1)[-1]
    if program == "spark-pufs":
        check_ours(words[1:])
    elif program == "spark-submit":
        check_submit(words[1:])
    elif program.startswith("python"):
        check_python(words[1:])
    else:
        assert program in FOREIGN, f"{where}: {program} is not known here"


def check_ours(words: list[str]) -> None:
    """The command parses, and a configuration file of ours reads with the overrides shown."""
    command: click.Command = app
    context = click.Context(app, info_name="spark-pufs")
    while isinstance(command, click.Group):
        assert words[0] in command.commands, words[0]
        command, name, words = command.commands[words[0]], words[0], words[1:]
        context = click.Context(command, parent=context, info_name=name)
    parsed = command.make_context(command.name, list(words))
    check_configuration(command.name or "", parsed.params)


def check_configuration(command: str, given: dict[str, object]) -> None:
    path = Path(str(given.get("config", "")))
    if command not in MODELS or not (ROOT / "conf" / path.name).is_file():
        return
    assert load_settings(ROOT / "conf" / path.name, MODELS[command], given.get("overrides", ()), COMPARE_EXAMPLE)


def check_submit(words: list[str]) -> None:
    place = next(i for i, word in enumerate(words) if word.endswith(".py"))
    options = [word for word in words[:place] if word.startswith("--")]
    assert set(options) <= set(SUBMIT)
    job = ROOT / "jobs" / Path(words[place]).name
    assert job.is_file()
    assert Path(words[place]).parent.name == "jobs"
    check_ours([JOBS.get(job.stem, job.stem), *words[place + 1 :]])


def check_python(words: list[str]) -> None:
    if words[0] == "-m":
        assert words[1] in ("venv", "pytest", "pip", "spark_pufs")
        for word in words[2:]:
            assert not word.startswith("tests/") or (ROOT / word).exists(), word
        return
    script = ROOT / words[0]
    assert script.is_file(), words[0]
    text = script.read_text(encoding="utf-8")
    for word in words[1:]:
        assert not word.startswith("--") or f'"{word}"' in text, word
    if script.name == "run.py":
        assert words[1] in ("demo", "test")


@pytest.mark.parametrize(
    "broken",
    [
        "spark-pufs selekt --config conf/select_features.yaml",
        "spark-pufs select --konfig conf/select_features.yaml",
        "spark-pufs select --config conf/select_features.yaml --set selct.k=10",
        "spark-submit jobs/nowhere.py",
        "python benchmarks/row_scaling.py --hundreds 3",
        "python3 run.py play",
        "no-such-program",
    ],
)
def test_a_broken_command_is_seen(broken: str) -> None:
    with pytest.raises((AssertionError, click.ClickException, ValueError)):
        test_command("here", shlex.split(broken))


HEAVY = ("compare", "doctor", "power", "methods")  # that they can be run is held elsewhere
DIFFERENT = 10  # exit codes of diff from here on say how much


def test_the_commands_of_the_readme_work_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From an empty folder, in memory, as they stand."""
    monkeypatch.chdir(tmp_path)
    block = next(one for one in blocks(ROOT / "README.md", "bash") if "--save-config" in one.text)
    ours = [words[1:] for words in lines(block.text) if words[0] == "spark-pufs" and words[1] not in HEAVY]
    assert [words[0] for words in ours[:4]] == ["demo", "select", "select", "select"]
    for words in ours:
        code = run(words)
        assert code == 0 or (words[0] == "diff" and code >= DIFFERENT), words
