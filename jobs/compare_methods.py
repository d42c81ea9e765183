"""spark-submit jobs/compare_methods.py --config conf/compare_methods.yaml [--set key=value]"""

import sys

from spark_pufs.cli import run

if __name__ == "__main__":
    sys.exit(run(["compare", *sys.argv[1:]]))
