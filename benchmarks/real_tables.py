"""The open benchmark in-process: methods, one-liners and yardsticks on real tables, plain and made hard.

    python benchmarks/real_tables.py --data ../shared/data --lines runs/real_tables.jsonl --processes 2
    python benchmarks/real_tables.py --data ../shared/data --lines runs/real_tables.jsonl --no-run

One line of JSON per table, split, hardening and method is added to LINES as it is found: stop it at any time, the same
command goes on. A changed method is judged anew with ``--again METHOD``; the last line of a unit counts. At the end the
figures between the two marks on the page are replaced, all other text on it stays, and the diagram is drawn beside it.
``spark-pufs reproduce`` has the same study on Spark.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import pandas as pd

from spark_pufs.studies.real_tables.hardening import HARDENINGS, PLAIN
from spark_pufs.studies.real_tables.open_benchmark import RealTables, judge
from spark_pufs.studies.real_tables.peers import not_installed
from spark_pufs.studies.real_tables.summary import AUC, PAGE, PICTURE
from spark_pufs.studies.real_tables.tables import OTHER_SETS, load_table
from spark_pufs.studies.study import ERROR, Unit, long_form

BEGIN, END = "<!-- figures: written by benchmarks/real_tables.py -->", "<!-- end of figures -->"
Line = dict[str, Any]
Key = tuple[str, int, str, str]


def key_of(line: Line) -> Key:
    return line["table"], line["split"], line["hardening"], line["method"]


def read_lines(path: Path) -> dict[Key, Line]:
    """The last line of each unit; one that was cut off by a stop is passed over."""
    found = {}
    for text in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        found[key_of(line)] = line
    return found


def judged(folder: str, data: str, unit: Unit) -> Line:
    """One unit in a process of its own, on one thread; what goes wrong is part of the answer."""
    named = {"table": unit["dataset"], "split": unit["repeat"]}
    named |= {"hardening": unit["condition"], "method": unit["method"]}
    warnings.simplefilter("ignore")
    try:
        found = judge(folder, data, *key_of(named))
    except Exception as error:
        return {**named, "error": " ".join(f"{type(error).__name__}: {error}".split())}
    aucs = {name: round(value, 6) for name, value in found.aucs.items()}
    answer = {"auc": round(found.auc, 6), **aucs, "cpu": round(found.seconds, 3)}
    return {**named, **answer, "names": list(found.names), "warnings": list(found.warnings)}


def present(study: RealTables, units: Iterable[Unit]) -> Iterator[Unit]:
    """Units whose table can be read; of the others it is said once why not."""
    readable: dict[str, bool] = {}
    for unit in units:
        name = str(unit["dataset"])
        if name not in readable:
            try:
                load_table(name, study.place, str(study.data))
                readable[name] = True
            except Exception as error:
                print(f"{name} is left out: {error}", file=sys.stderr)
                readable[name] = False
        if readable[name]:
            yield unit


def waiting(units: Iterable[Unit], done: dict[Key, Line], again: list[str], retry: bool) -> list[Unit]:
    left = []
    for unit in units:
        line = done.get((unit["dataset"], unit["repeat"], unit["condition"], unit["method"]))
        if line is None or unit["method"] in again or (retry and "error" in line):
            left.append(unit)
    return left


def run(study: RealTables, units: list[Unit], path: Path, processes: int) -> None:
    """Judge the units, in order as far as processes are free, and keep each answer when it comes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes) as pool, path.open("a", encoding="utf-8") as out:
        cut = path.stat().st_size and not path.read_bytes().endswith(b"\n")
        out.write("\n" if cut else "")
        futures = [pool.submit(judged, study.place, str(study.data), unit) for unit in units]
        try:
            for number, future in enumerate(as_completed(futures), 1):
                line = future.result()
                print(json.dumps(line), file=out, flush=True)
                print(number, "of", len(units), *key_of(line), line.get("auc", line.get("error")), file=sys.stderr)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def results_of(lines: Iterable[Line], units: Iterable[Unit]) -> pd.DataFrame:
    """The study's long form of those lines that were asked for."""
    wanted = {(unit["dataset"], unit["repeat"], unit["condition"], unit["method"]) for unit in units}
    rows = []
    for line in lines:
        if key_of(line) in wanted:
            named = {"dataset": line["table"], "repeat": line["split"], "condition": line["hardening"]}
            found = {"measure": ERROR, "message": line["error"]} if "error" in line else _value(line)
            rows.append(long_form(RealTables.name, {**named, "method": line["method"], **found}, float("nan")))
    return pd.DataFrame(rows, columns=list(long_form("", {}, 0.0)))


def _value(line: Line) -> Line:
    return {"measure": AUC, "value": line["auc"], "seconds": line["cpu"]}


def write_page(page: Path, files: dict[str, str]) -> None:
    """The figures between the marks of the page, the diagram beside it."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    figures = files[PAGE]
    if PICTURE in files:
        page.with_name(PICTURE).write_text(files[PICTURE] + "\n", encoding="utf-8")
        figures += f"\n![Mean ranks over tables and which methods do not differ]({PICTURE})\n"
    page.write_text(f"{before}{BEGIN}\n\n{figures}\n{END}{after}", encoding="utf-8")


def asked_for() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data", help="folder of public data, with the folder of tables")
    parser.add_argument("--folder", default="real_tables", help="folder of tables, in DATA or a path of its own")
    parser.add_argument("--tables", nargs="*", default=[], help="some of the folder; all")
    parser.add_argument("--sets", nargs="*", default=[], help=f"sets of other studies: {' '.join(OTHER_SETS)}")
    parser.add_argument("--methods", nargs="*", default=[], help="the main ones, peers and yardsticks")
    parser.add_argument("--hardenings", nargs="*", default=list(HARDENINGS), help=f"besides {PLAIN}")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--hard-splits", type=int, default=1)
    parser.add_argument("--lines", type=Path, default=Path("runs/real_tables.jsonl"))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--again", nargs="*", default=[], help="methods to judge anew")
    parser.add_argument("--retry", action="store_true", help="run units again that failed")
    parser.add_argument("--no-run", action="store_true", help="only the page, from the lines there are")
    parser.add_argument("--page", type=Path, help="Markdown page to write the figures into; else they are printed")
    return parser.parse_args()


def main() -> None:
    asked = asked_for()
    study = RealTables(
        folder=asked.folder,
        only=tuple(asked.tables),
        sets=tuple(asked.sets),
        methods=tuple(asked.methods),
        hardenings=tuple(asked.hardenings),
        splits=asked.splits,
        hard_splits=asked.hard_splits,
        data=str(Path(asked.data).absolute()),
    )
    if study.absent():
        sys.exit(f"Nothing to do: {study.absent()}.")
    for name in not_installed(study.wanted()):
        print(f"{name} is left out: it is not installed, see benchmarks/requirements.txt", file=sys.stderr)
    units = list(present(study, study.units()))
    if not asked.no_run:
        run(study, waiting(units, read_lines(asked.lines), asked.again, asked.retry), asked.lines, asked.processes)
    files = study.tables(results_of(read_lines(asked.lines).values(), units))
    if asked.page is None:
        print(files[PAGE])
    else:
        write_page(asked.page, files)


if __name__ == "__main__":
    main()
