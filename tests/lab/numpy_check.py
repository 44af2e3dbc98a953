#!/usr/bin/env python3
"""Compares the lab's figures with numpy's on the same data: 77 where numpy isn't installed.

    tests/lab/numpy_check.py LAB_PROGRAM
"""

import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    debian = "/usr/bin/python3"  # whose packages are Debian's
    if os.path.exists(debian) and "LAB_CHECK_AGAIN" not in os.environ:
        os.execve(debian, [debian, *sys.argv], {**os.environ, "LAB_CHECK_AGAIN": "1"})
    sys.exit(77)

PROGRAM = sys.argv[1]
TOLERANCE = 1e-9
failures = 0


def lab(*arguments):
    made = subprocess.run([PROGRAM, *arguments, "--json"], capture_output=True, text=True, check=True)
    return json.loads(made.stdout)


def same(what, ours, theirs):
    global failures
    if abs(ours - theirs) > TOLERANCE * max(1, abs(theirs)):
        print(f"{what}: {ours}, and numpy has {theirs}")
        failures += 1


def check_fit(path, names, factors, cost, pairs):
    columns = [numpy.ones(len(cost)), *factors.T]
    labels = ["(intercept)", *names]
    if pairs:
        for a in range(len(names)):
            for b in range(a + 1, len(names)):
                columns.append(factors[:, a] * factors[:, b])
                labels.append(f"{names[a]}*{names[b]}")
    model = numpy.array(columns).T
    estimates, _, rank, _ = numpy.linalg.lstsq(model, cost, rcond=None)
    residuals = cost - model @ estimates
    freedom = len(cost) - rank
    errors = numpy.sqrt(residuals @ residuals / freedom * numpy.diag(numpy.linalg.inv(model.T @ model)))
    ours = lab("fit", path, *(["--pairs"] if pairs else []))
    same("freedom", ours["model"]["freedom"], freedom)
    same("R2", ours["model"]["r2"], 1 - residuals @ residuals / ((cost - cost.mean()) @ (cost - cost.mean())))
    found = {term["name"]: term for term in ours["terms"] + ours["pairs"]}
    for label, estimate, error in zip(labels, estimates, errors):
        same(label, found[label]["estimate"], estimate)
        same(f"error of {label}", found[label]["error"], error)


def main():
    random = numpy.random.default_rng(7)
    names = list("abcdef")
    rows = numpy.array([[i >> f & 1 for f in range(6)] for i in range(64)], dtype=float)
    cost = 100 - rows @ numpy.array([30, 20, -5, 4, 0, 1]) + 18 * rows[:, 0] * rows[:, 1] + random.normal(size=64)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/runs.csv"

        def write(chosen):
            with open(path, "w", encoding="utf-8") as out:
                print(";".join([*names, "cost"]), file=out)
                for row, value in zip(rows[chosen], cost[chosen]):
                    print(";".join([*(str(int(x)) for x in row), repr(float(value))]), file=out)

        everything = numpy.arange(64)
        write(everything)
        check_fit(path, names, rows, cost, pairs=False)
        check_fit(path, names, rows, cost, pairs=True)

        place = {tuple(row): i for i, row in enumerate(rows)}
        for mean in lab("deltas", path)["means"]:
            f = names.index(mean["treatment"])
            changes = [cost[place[tuple(numpy.where(numpy.arange(6) == f, 1, row))]] - cost[i]
                       for i, row in enumerate(rows) if row[f] == 0]
            same(f"mean of {names[f]}", mean["mean"], numpy.mean(changes))

        import itertools
        sequences = []
        for order in itertools.permutations(range(6)):
            at = numpy.zeros(6)
            changes = numpy.zeros(6)
            for f in order:
                before = cost[place[tuple(at)]]
                at[f] = 1
                changes[f] = cost[place[tuple(at)]] - before
            sequences.append(changes)
        variances = numpy.sort(numpy.linalg.eigvalsh(numpy.cov(numpy.array(sequences).T)))[::-1]
        ours = lab("pca", path, "--sequences", "720")
        for component, variance in zip(ours["components"], variances):
            same(f"component {component['component']}", component["variance"], variance)

        unbalanced = random.permutation(64)[:40]  # nothing is orthogonal there
        write(unbalanced)
        check_fit(path, names, rows[unbalanced], cost[unbalanced], pairs=False)
        check_fit(path, names, rows[unbalanced], cost[unbalanced], pairs=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
