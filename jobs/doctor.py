"""spark-submit jobs/doctor.py: Java, Python, versions and a tiny job on the cluster itself."""

import sys

from spark_pufs.cli import run

if __name__ == "__main__":
    sys.exit(run(["doctor", *sys.argv[1:]]))
