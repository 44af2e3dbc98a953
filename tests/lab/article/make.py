#!/usr/bin/env python3
"""Makes runs.csv: a full factorial of seven of the article's treatments whose figures are the article's.

    make.py > runs.csv

Costs as a plausible system of such treatments has them, moved by as little as possible (least squares) until the
published figures hold: 1182 us untreated, 240 us after cfg_no_init_logging, 61 us at the end, and in the model with all
pairs -577.1, -490.7 and +358.0.
"""

import itertools

import numpy

FACTORS = ["cfg_no_init_logging", "src_submit_biglogs_remove", "python313t_nogil_jit", "cfg_prefetch_100", "affinity",
           "cfg_poll_100", "cfg_encrypted"]
SAVED = {"python313t_nogil_jit": 0.66, "cfg_prefetch_100": 0.74, "cfg_poll_100": 0.93, "cfg_encrypted": 1.06}

rows = list(itertools.product([0, 1], repeat=len(FACTORS)))
on = [dict(zip(FACTORS, row)) for row in rows]


def plausible(x):
    logs = 0 if x["cfg_no_init_logging"] or x["src_submit_biglogs_remove"] else 800
    rest = 230.0 + (60 if not x["cfg_no_init_logging"] else 0)
    for name, ratio in SAVED.items():
        rest *= ratio if x[name] else 1
        logs *= (1 + ratio) / 2 if x[name] else 1
    cost = rest + logs
    # Helps what is slow, and hurts what is fast.
    return 60 + 0.75 * cost if x["affinity"] else cost


y = numpy.array([plausible(x) for x in on])
pairs = list(itertools.combinations(range(len(FACTORS)), 2))
model = numpy.array([[1, *row, *(row[a] * row[b] for a, b in pairs)] for row in rows], dtype=float)
to_terms = numpy.linalg.pinv(model)
place = {row: i for i, row in enumerate(rows)}


def at(*treatments):
    line = numpy.zeros(len(rows))
    line[place[tuple(int(f in treatments) for f in FACTORS)]] = 1
    return line


OPTIMUM = ("cfg_no_init_logging", "python313t_nogil_jit", "cfg_prefetch_100", "cfg_poll_100",
           "src_submit_biglogs_remove")
wanted = [(to_terms[1], -577.1), (to_terms[2], -490.7), (to_terms[1 + len(FACTORS)], 358.0), (at(), 1182),
          (at("cfg_no_init_logging"), 240), (at(*OPTIMUM), 61)]
A = numpy.array([line for line, _ in wanted])
b = numpy.array([value for _, value in wanted])
best = place[tuple(int(f in OPTIMUM) for f in FACTORS)]
least = numpy.where(numpy.arange(len(rows)) == best, 61, 63)
# Nothing else is faster than the end: Dykstra's alternating projections.
left = numpy.zeros(len(rows))
for _ in range(20000):
    y = y + A.T @ numpy.linalg.solve(A @ A.T, b - A @ y)
    moved = numpy.maximum(y + left, least)
    left, y = y + left - moved, moved
y = y + A.T @ numpy.linalg.solve(A @ A.T, b - A @ y)

print(";".join(FACTORS) + ";time_per_task_us")
for row, cost in zip(rows, y):
    print(";".join(map(str, row)) + f";{cost:.12g}")
