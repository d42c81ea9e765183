"""For spark-submit: runs scripts of jobs/ one after the other in one application, and prints how each ended.

The only argument is a JSON list of command lines, each of which begins with the path of its script.
"""

import json
import runpy
import sys

for words in json.loads(sys.argv[1]):
    sys.argv = words
    code: object = None
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        code = end.code
    print(f"ENDED {words[0]} with {code}", flush=True)
