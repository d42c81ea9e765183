"""spark-submit jobs/select_features.py --config conf/select_features.yaml [--set key=value] [--dry-run]"""

import sys

from spark_pufs.cli import run

if __name__ == "__main__":
    sys.exit(run(["select", *sys.argv[1:]]))
