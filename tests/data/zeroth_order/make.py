#!/usr/bin/env python3
"""Writes steps.json: steps of DP-ZO without noise on twelve records, in float64, by NumPy alone.

    make.py [GIVEN]

The network (3 features, 4 hidden units with tanh, 3 classes) and its softmax cross-entropy are written
out here; start and directions are numbers that this program drew, as steps.json has them. The folder
GIVEN holds other ones, for which the test wrote a file of each case (HYFREEDP_WRITE_GIVEN=GIVEN).
"""
import json
import os
import sys

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(HERE, "steps.json")
CASES = [{"direction": "gaussian", "scale": 0.01, "bound": 0.03, "rate": 0.05, "momentum": 0.0},
         {"direction": "sphere", "scale": 0.001, "bound": 0.002, "rate": 0.05, "momentum": 0.9}]
STEPS, RECORDS, FEATURES, HIDDEN, CLASSES = 4, 12, 3, 4, 3


def losses(weights, features, labels):
    first, second = (FEATURES + 1) * HIDDEN, HIDDEN * CLASSES
    matrix = weights[:FEATURES * HIDDEN].reshape(HIDDEN, FEATURES)
    hidden = numpy.tanh(features @ matrix.T + weights[FEATURES * HIDDEN:first])
    logits = hidden @ weights[first:first + second].reshape(CLASSES, HIDDEN).T + weights[first + second:]
    top = logits.max(axis=1, keepdims=True)
    return (numpy.log(numpy.exp(logits - top).sum(axis=1)) + top[:, 0] - logits[numpy.arange(RECORDS), labels])


def follow(case):
    features = numpy.array(case["features"]).reshape(RECORDS, FEATURES)
    labels = numpy.array(case["labels"], dtype=int)
    weights = numpy.array(case["start"])
    buffer = None
    case["weights"], case["slopes"], clipped = [], [], 0
    for z in numpy.array(case["directions"]):
        ahead = losses(weights + case["scale"] * z, features, labels)
        behind = losses(weights - case["scale"] * z, features, labels)
        clipped += int((abs(ahead - behind) > case["bound"]).sum())
        change = numpy.clip(ahead - behind, -case["bound"], case["bound"]).sum()
        slope = change / (2 * case["scale"] * RECORDS)
        buffer = slope * z if buffer is None else case["momentum"] * buffer + slope * z
        weights = weights - case["rate"] * buffer
        case["weights"].append(weights.tolist())
        case["slopes"].append(slope)
    print(case["direction"], "clips", clipped, "of", STEPS * RECORDS)


def main(given=None):
    known = {case["direction"]: case for case in json.load(open(FILE))["cases"]} if os.path.exists(FILE) else {}
    generator = numpy.random.default_rng(40)
    cases = []
    for case in CASES:
        case = dict(case, steps=STEPS)
        case["features"] = numpy.round(generator.normal(size=RECORDS * FEATURES), 3).astype(numpy.float32).astype(float).tolist()
        case["labels"] = generator.integers(CLASSES, size=RECORDS).tolist()
        if given:
            case.update(json.load(open(os.path.join(given, case["direction"] + ".json"))))
        elif case["direction"] in known:
            case.update({name: known[case["direction"]][name] for name in ("start", "directions")})
        else:
            case.update(start=[], directions=[])
        if case["directions"]:
            follow(case)
        cases.append(case)
    with open(FILE, "w") as file:
        json.dump({"source": "make.py, NumPy " + numpy.__version__, "cases": cases}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
