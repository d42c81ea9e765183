"""spark-submit jobs/markov_blankets.py --config conf/markov_blankets.yaml [--set study.draws=3 ...]"""

import argparse
import sys

from spark_pufs.config import load_settings
from spark_pufs.errors import PufsError
from spark_pufs.studies.markov_blankets import EXAMPLE, StudyConfig, run_study


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Figures 6 to 10 of Sechidis & Brown 2017")
    parser.add_argument("--config", default=EXAMPLE)
    parser.add_argument("--set", dest="overrides", action="append", default=[], help="section.key=value")
    arguments = parser.parse_args(argv)
    try:
        config = load_settings(arguments.config, StudyConfig, arguments.overrides, EXAMPLE)
        print(run_study(config, lambda what: print(what, file=sys.stderr, flush=True)))
    except PufsError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
