"""Tables 4 to 7 of Sechidis & Brown 2017: misclassification of 3-NN on five features, ten splits.

Tables 4 and 5 print standard deviations; 6 and 7 repeat two of their columns beside means of four other methods. The
text calls the spread of Table 5 a 95 % interval, its caption a standard deviation: it is read as the latter.
"""

from __future__ import annotations

from spark_pufs.studies.published import Figure

__all__ = ["ERRORS", "SPLITS"]

SPLITS = 10

_SPREAD = """
            MINT         Semi-MIM     Semi-JMI
0    krvskp 0.078 0.019  0.080 0.021  0.072 0.020
0   landsat 0.042 0.004  0.101 0.072  0.023 0.003
0     musk2 0.097 0.008  0.080 0.005  0.078 0.012
0   semeion 0.149 0.018  0.185 0.108  0.145 0.017
0  spambase 0.179 0.018  0.198 0.023  0.200 0.022
0    splice 0.044 0.004  0.044 0.004  0.044 0.004
0  waveform 0.214 0.009  0.191 0.007  0.182 0.006
0.5   krvskp 0.108 0.067  0.082 0.020  0.079 0.021
0.5  landsat 0.044 0.004  0.102 0.078  0.023 0.004
0.5    musk2 0.099 0.008  0.085 0.006  0.082 0.006
0.5  semeion 0.168 0.040  0.147 0.013  0.142 0.012
0.5 spambase 0.171 0.018  0.185 0.020  0.185 0.019
0.5   splice 0.065 0.012  0.049 0.011  0.044 0.004
0.5 waveform 0.217 0.005  0.191 0.009  0.178 0.008
"""
_MEANS = """
             FW-SemiFS CLS   SemiFS RRPC
0    krvskp  0.366     0.473 0.118  0.358
0   landsat  0.182     0.248 0.023  0.074
0     musk2  0.064     0.061 0.093  0.079
0   semeion  0.201     0.141 0.141  0.188
0  spambase  0.143     0.299 0.212  0.145
0    splice  0.167     0.258 0.065  0.117
0  waveform  0.194     0.424 0.194  0.237
0.5   krvskp 0.373     0.471 0.119  0.368
0.5  landsat 0.129     0.224 0.024  0.068
0.5    musk2 0.067     0.060 0.093  0.080
0.5  semeion 0.146     0.147 0.184  0.197
0.5 spambase 0.141     0.278 0.218  0.150
0.5   splice 0.278     0.268 0.097  0.122
0.5 waveform 0.197     0.423 0.192  0.245
"""


def _read(text: str, spread: bool) -> dict[tuple[str, ...], Figure]:
    head, *lines = [line.split() for line in text.strip().splitlines()]
    found: dict[tuple[str, ...], Figure] = {}
    for bias, dataset, *numbers in lines:
        values = [float(number) for number in numbers]
        pairs = zip(values[::2], values[1::2], strict=True) if spread else ((value, float("nan")) for value in values)
        for method, (mean, sd) in zip(head, pairs, strict=True):
            found[bias, dataset, method] = Figure(mean, sd, SPLITS)
    return found


# By bias c of the labelled rows (0: MCAR), set and method.
ERRORS = _read(_SPREAD, True) | _read(_MEANS, False)
