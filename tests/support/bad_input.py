"""Broken tables and settings: a name, the exit code, the call, and the exact message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import spark_pufs
from spark_pufs.jobs.config import parse, with_overrides
from support.configurations import load_config

N = 200
INDEX = np.arange(N)
CONFIG = {"source": {"path": "x"}, "label": {"column": "l"}, "output": {"path": "o"}}


def table(**columns: Any) -> pd.DataFrame:
    """Three good features and twenty labelled rows, with columns replaced or added."""
    good = pd.DataFrame({"a": INDEX % 7 * 1.0, "b": INDEX % 3 * 1.0, "c": np.where(INDEX % 2, "x", "y")})
    return good.assign(label=np.where(INDEX < 20, 1, 0)).assign(**columns)


def select(frame: Any = None, /, **options: Any) -> Callable[[], Any]:
    return lambda: spark_pufs.select(table() if frame is None else frame, **{"label": "label", **options})


def config(**sections: Any) -> Callable[[], Any]:
    return lambda: parse({**CONFIG, **sections}).request()


DECLARE = 'Add the values to `positive`, `negative` or `unlabelled` ("*" there means all others).'
NEGATIVES = "Name their values in `negative`, or use a method for positives alone such as semi-jmi."
SEE = "See conf/select_features.yaml."

CASES: list[tuple[str, int, Callable[[], Any], str]] = [
    (
        "label column missing",
        3,
        select(label="lable"),
        "Column 'lable': not found among 4 columns. Did you mean 'label'?",
    ),
    (
        "label value not declared",
        3,
        select(table(label=np.repeat([1, 2, 0], [20, 37, 143]))),
        f"Column 'label': expected 0, 1 or null, found '2' in 37 rows. {DECLARE}",
    ),
    (
        "no row labelled",
        3,
        select(table(label=0)),
        "Column 'label': no row is labelled positive (1); found '0'. Name the value in `positive`.",
    ),
    (
        "all rows labelled",
        3,
        select(table(label=1)),
        "Column 'label': all 200 rows are labelled positive. "
        "Add unlabelled rows: nothing can be learnt from positives alone.",
    ),
    ("empty table", 3, select(table().iloc[:0]), "Table: has no rows. Check the path, the date or the filter."),
    (
        "label is a measurement",
        3,
        select(pd.DataFrame({"a": np.arange(5000.0), "label": np.arange(5000) / 7})),
        "Column 'label': has over 4,096 distinct values. A label has a few values: name another column.",
    ),
    (
        "label among the features",
        3,
        select(features=["a", "label"]),
        "Column 'label': is the label and cannot be a feature. Take it out of features.",
    ),
    (
        "no feature matches",
        3,
        select(features=["z*"]),
        "2 faults:\n  - Option 'features': 'z*' matches none of 4 columns. Known: a, b, c, label.\n"
        "  - Option 'features': no feature is left. The table has 4 columns (a, b, c, label); include more.",
    ),
    (
        "everything excluded",
        3,
        select(exclude=["*"]),
        "Option 'features': no feature is left. The table has 4 columns (a, b, c, label); include more.",
    ),
    (
        "only constant features",
        3,
        select(table(a=1.0, b=2.0, c="x")),
        "Option 'features': all 3 features were left out ('a' constant; 'b' constant; 'c' constant). Include others.",
    ),
    (
        "a feature of lists, named",
        3,
        select(table(d=[[1, 2]] * N), features=["a", "d"]),
        "Column 'd': type object is not supported. Leave it out, or turn it into numbers or text first.",
    ),
    (
        "numbers and text in one column, named",
        3,
        select(table(d=[1, "x"] * (N // 2)), features=["a", "d"]),
        "Column 'd': type object is not supported. Leave it out, or turn it into numbers or text first.",
    ),
    (
        "a column twice",
        3,
        select(pd.concat([table(), table()[["a"]]], axis=1)),
        "Column 'a': occurs twice in the table. Rename one of them.",
    ),
    (
        "missing values refused",
        3,
        select(table(a=np.where(INDEX < 5, np.nan, INDEX * 1.0)), missing="error"),
        "Column 'a': 5 of 200 values are missing. Fill them, or set missing: value.",
    ),
    ("cost of no feature", 3, select(costs={"aa": 2}), "Option 'costs': 'aa' is not a feature. Did you mean 'a'?"),
    ("must of no feature", 3, select(must=["q"]), "Option 'must': 'q' is not a feature. Known: a, b, c."),
    (
        "must of a constant",
        3,
        select(table(a=1.0), must=["a"]),
        "Option 'must': 'a' was left out (constant). Take it out of must.",
    ),
    (
        "surrogate y1 without negatives",
        3,
        select(method="semi-jmi", surrogate="y1"),
        "Column 'label': method 'semi-jmi with surrogate y1' needs rows labelled negative, found none. " + NEGATIVES,
    ),
    (
        "mint without negatives",
        3,
        select(method="mint"),
        f"Column 'label': method 'mint' needs rows labelled negative, found none. {NEGATIVES}",
    ),
    (
        "one value positive and negative",
        3,
        select(negative=[1]),
        "Option 'label': 1 is declared positive and negative. Declare each value once.",
    ),
    (
        "three faults at once",
        3,
        select(table(label=5), features=["a", "zz"], must=["qq"]),
        "3 faults:\n  - Option 'features': 'zz' matches none of 4 columns. Known: a, b, c, label.\n"
        f"  - Column 'label': expected 0, 1 or null, found '5' in 200 rows. {DECLARE}\n"
        "  - Option 'must': 'qq' is not a feature. Known: a.",
    ),
    (
        "not a table",
        3,
        select([1, 2]),
        "Table: expected a DataFrame of pandas, Polars or Spark, or a table of Arrow, got list. Convert it first.",
    ),
    (
        "method mistyped",
        2,
        select(method="semi-jjmi"),
        "Option 'method': 'semi-jjmi' is not a method. Did you mean 'semi-jmi'?",
    ),
    ("k of 0", 2, select(k=0), "Option 'k': must be a whole number of at least 1, auto or all, got 0. For example 25."),
    (
        "k of 2.5",
        2,
        select(k=2.5),
        "Option 'k': must be a whole number of at least 1, auto or all, got 2.5. For example 25.",
    ),
    ("one bin", 2, select(bins=1), "Option 'bins': must be a whole number from 2 to 254, got 1. For example 5."),
    (
        "binning mistyped",
        2,
        select(binning="equal"),
        "Option 'binning': must be one of auto, equal-width, equal-frequency, got 'equal'. For example equal-width.",
    ),
    (
        "prior above 1",
        2,
        select(prior=1.5),
        "Option 'prior': must be a share between 0 and 1, two of them, low and high, or estimate, got 1.5."
        " For example 0.05.",
    ),
    (
        "negative seed",
        2,
        select(seed=-1),
        "Option 'seed': must be a whole number of at least 0, of at most 64 bits, got -1. For example 7.",
    ),
    ("negative budget", 2, select(budget=-1), "Option 'budget': must be a number above 0, got -1. For example 40."),
    ("budget too small", 2, select(budget=0.5), "Option 'budget': 0.5 pays for no feature. 'a' costs 1."),
    (
        "cost of 0",
        2,
        select(costs={"a": 0}),
        "Option 'costs': the cost of 'a' must be a number above 0, got 0. Give a positive cost.",
    ),
    (
        "must and never",
        2,
        select(must=["a"], never=["a"]),
        "Options 'must' and 'never': both name 'a'. Name a feature in one of them.",
    ),
    (
        "more musts than k",
        2,
        select(must=["a", "b"], k=1),
        "Option 'must': names 2 features, k is 1. Raise k or name fewer.",
    ),
    (
        "musts over budget",
        2,
        select(must=["a", "b"], costs={"a": 3}, budget=3),
        "Option 'must': its features cost 4, the budget is 3. Raise the budget or name fewer.",
    ),
    (
        "option mistyped",
        2,
        select(method="semi-jmi", surogate="y0"),
        "Option 'surogate': is not an option of method 'semi-jmi'. Did you mean 'surrogate'?",
    ),
    (
        "common option mistyped",
        2,
        select(buget=3),
        "Option 'buget': is not an option of method 'distil'. Did you mean 'budget'?",
    ),
    (
        "option value",
        2,
        select(method="semi-jmi", surrogate="y2"),
        "Option 'surrogate': must be one of auto, y0, y1, labelled, got 'y2'. The default is 'auto'.",
    ),
    (
        "alpha of 2",
        2,
        select(method="iamb", alpha=2),
        "Option 'alpha': must be a number between 0 and 1, got 2. The default is 0.05.",
    ),
    ("unknown section", 2, config(sorce={}), "Setting 'sorce': is not known. Did you mean 'source'?"),
    (
        "unknown key",
        2,
        config(features={"exlude": []}),
        "Setting 'features.exlude': is not known. Did you mean 'exclude'?",
    ),
    (
        "sections missing",
        2,
        lambda: parse({"source": {"path": "x"}}),
        "2 faults:\n  - Setting 'label': is missing. Add it; conf/select_features.yaml explains every key.\n"
        "  - Setting 'output': is missing. Add it; conf/select_features.yaml explains every key.",
    ),
    (
        "path and table",
        2,
        config(source={"path": "x", "table": "y"}),
        f"Setting 'source': give either path or table. {SEE}",
    ),
    (
        "a word where a list belongs",
        2,
        config(features={"include": "*"}),
        f"Setting 'features.include': input should be a valid list, got '*'. {SEE}",
    ),
    (
        "a word where a number belongs",
        2,
        config(select={"k": "ten"}),
        "Option 'k': must be a whole number of at least 1, auto or all, got 'ten'. For example 25.",
    ),
    (
        "override without a section",
        2,
        lambda: with_overrides(CONFIG, ["k=10"]),
        "Override 'k': expected section.key=value. For example select.k=10.",
    ),
    (
        "no such file",
        2,
        lambda: load_config("nowhere.yaml"),
        "Configuration 'nowhere.yaml': cannot be read: No such file or directory. Check the path.",
    ),
]
