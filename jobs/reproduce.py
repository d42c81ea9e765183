"""spark-submit jobs/reproduce.py --config conf/reproduce.yaml [--set run.minutes=30 ...]"""

import sys

from spark_pufs.cli import run

if __name__ == "__main__":
    sys.exit(run(["reproduce", *sys.argv[1:]]))
