"""Draw cases for every door, for as long as asked, and count: an answer, a PufsError, or a fault of ours.

python benchmarks/fuzz.py --minutes 10                 all doors that need no Spark
python benchmarks/fuzz.py --minutes 5 --spark          the doors of a Spark session
python benchmarks/fuzz.py --minutes 1 --door select    one door

After every case the process, the session, the user's files and a secret are looked at as tests/support/fuzz/places.py
says. Faults are told once each, with the case.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
places = import_module("support.fuzz.places")

ROUND = 25  # cases of one door before the next


def place_of(error: BaseException) -> str:
    """Where it was raised, told in one line: cases that fail alike are one fault."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/spark_pufs/" in frame.filename] or frames
    last = ours[-1]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"


def round_of(door: Any, folder: Path, number: int, counts: Counter[str], faults: dict[str, str]) -> None:
    """Some cases of one door."""

    @seed(number)
    @settings(
        max_examples=ROUND,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def tried(data: Any) -> None:
        case = data.draw(door.cases)
        try:
            counts["refused" if places.checked(door, case, folder) != "answer" else "answered"] += 1
        except Exception as error:
            counts["faults"] += 1
            where = f"{door.name}: {place_of(error)}"
            if where not in faults:
                faults[where] = f"{str(error)[:1500]}\n    case: {case!r:.1500}"
                print(f"{where}\n    {faults[where]}\n", flush=True)

    tried()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--door", help="one door only")
    parser.add_argument("--spark", action="store_true", help="the doors of a Spark session")
    arguments = parser.parse_args()
    places.load_libraries()
    warnings.simplefilter("ignore")
    counts: dict[str, Counter[str]] = {}
    faults: dict[str, str] = {}
    with contextlib.ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (root / "temporary").mkdir()
        tempfile.tempdir = str(root / "temporary")
        doors = tuple(door for door in _doors(arguments.spark) if arguments.door in (None, door.name))
        rng, ends = random.Random(arguments.seed), time.process_time() + 60 * arguments.minutes
        until = time.time() + 60 * arguments.minutes * (1 if arguments.spark else 10)  # Java's CPU time is not ours
        while time.process_time() < ends and time.time() < until:
            door = rng.choices(doors, [door.weight for door in doors])[0]
            round_of(door, root / "place", rng.randrange(2**32), counts.setdefault(door.name, Counter()), faults)
    return told(counts, faults)


def told(counts: dict[str, Counter[str]], faults: dict[str, str]) -> int:
    total = sum(counts.values(), Counter())
    for name, own in [*sorted(counts.items()), ("all", total)]:
        print(f"{name:20} {own['answered']:7,} answered {own['refused']:7,} refused {own['faults']:5,} faults")
    return int(bool(faults))


def _doors(on_spark: bool) -> tuple[Any, ...]:
    if not on_spark:
        every: tuple[Any, ...] = import_module("support.fuzz.doors").DOORS
        return every
    from spark_pufs.spark.session import open_session

    own: tuple[Any, ...] = import_module("support.fuzz.spark_doors").spark_doors(open_session("local[2]", {}))
    return own


if __name__ == "__main__":
    sys.exit(main())
