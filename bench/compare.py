#!/usr/bin/env python3
"""Measures what README and issues compare, against every peer that is there, and prints one table of ratios.

    bench/run compare [--quick] [--peers DIR] [PART OF A CASE]

    --quick      short repetitions: shows that it works, not how fast it is
    --peers DIR  a folder with the sources of libraries that Debian has no packages of, each in one of its own:
                 taskflow, libfork, TooManyCooks; those that are missing are left out
    PART         only the cases that contain it

The contestants of a case take turns within one process, nine times; the table has medians in nanoseconds. "Off"
is without statistics, "on" with them, as by default. A ratio is that to the fastest peer of any kind, or, where a
case says so, of on to off; behind it is the goal. Takes about ten minutes.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "compare"
PROGRAMS = ("pipeline", "pingpong", "channel", "spawn")


class Case:
    """What to run, and the goals with 1 and 2 workers: the ratio at most, or None."""

    def __init__(self, name, program, title, on=None, off=None, of_off=False, unmeasured="weir", measured="weir, measured"):
        self.name, self.program, self.title = name, program, title
        self.goals = {"off": off or (None, None), "on": on or (None, None)}
        self.of_off = of_off
        self.ours = {"off": unmeasured, "on": measured}


CASES = [
    Case("no-op, capacity 2", "pipeline", "no-op, 1 slot, capacity 2, ", (1.5, 1.2), (0.9, 0.8)),
    Case("no-op, capacity 64", "pipeline", "no-op, 1 slot, capacity 64, ", (1.2, 1.3), (0.75, 0.9)),
    Case("no-op, four slots, capacity 2", "pipeline", "no-op, 4 slots, capacity 2, ", (2, 1.5)),
    Case("no-op, four slots, capacity 64", "pipeline", "no-op, 4 slots, capacity 64, ", (1.2, 0.6)),
    Case("500 ns, capacity 2", "pipeline", "500 ns, 1 slot, capacity 2, ", (1.03, 1.0)),
    Case("500 ns, capacity 64", "pipeline", "500 ns, 1 slot, capacity 64, ", (1.02, 1.0)),
    Case("1 us, capacity 2, of off", "pipeline", "1 us, 1 slot, capacity 2, ", (1.02, 1.04), of_off=True),
    Case("1 us, capacity 64, of off", "pipeline", "1 us, 1 slot, capacity 64, ", (1.01, 1.02), of_off=True),
    Case("ping-pong", "pingpong", "", (1.4, 0.6), (0.9, 0.4)),
    Case("channel, capacity 1", "channel", "1 to 1, capacity 1, int, ", (1.0, 0.4)),
    Case("channel, capacity 2", "channel", "1 to 1, capacity 2, int, ", (1.0, 0.4)),
    Case("channel, capacity 64, in batches", "channel", "1 to 1, capacity 64, int, ", None, (1.0, 0.8),
         unmeasured="weir, in batches", measured="weir, measured, in batches"),
    Case("fib, a call", "spawn", "fib(30), a task a call, ", None, (1.2, 1.2), unmeasured="weir, when_all"),
    Case("skynet, a leaf", "spawn", "skynet, 10^6 leaves, ", None, (1.2, 1.2), unmeasured="weir, when_all"),
    Case("tasks from inside", "spawn", "10^6 tasks from a task, ", None, (1.1, 0.7), unmeasured="weir, task_group fork"),
]


def build(peers):
    configure = ["cmake", "-S", str(ROOT), "-B", str(BUILD), "-DCMAKE_BUILD_TYPE=Release", "-DWEIR_BUILD_TESTS=OFF",
                 "-DWEIR_BUILD_EXAMPLES=OFF", "-DWEIR_BUILD_BENCH=ON", f"-DBENCH_PEERS={peers}"]
    targets = [f"bench_{p}" for p in PROGRAMS]
    for command in (configure, ["cmake", "--build", str(BUILD), "--parallel", str(os.cpu_count()), "--target", *targets]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
        for line in done.stdout.splitlines():
            if "is left out" in line and any(f"weir: {p}/" in line for p in PROGRAMS):
                print(line.removeprefix("-- "))


def measure(case, workers, quick):
    title = case.title + ("1 worker" if workers == 1 else f"{workers} workers")
    if quick:  # `spawn` makes smaller trees then
        title = title.replace("10^6", "10^4").replace("fib(30)", "fib(20)")
    command = [str(BUILD / "bench" / case.program), "--json", *(["--quick"] if quick else []), title]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
    machine, *lines = [json.loads(line) for line in done.stdout.splitlines()]
    lines = [l for l in lines if l.get("group") == title]
    if not lines:
        sys.exit(f"bench/{case.program} has no group '{title}'")
    return machine["machine"], lines


def row(case, workers, lines):
    by_name = {l["name"]: l["median"] for l in lines}
    ours = {k: by_name.get(name) for k, name in case.ours.items()}
    peers = [l for l in lines if l["kind"] == "peer"]
    best = min(peers, key=lambda l: l["median"], default=None)
    cells, missed = [f"{case.name:34}", f"{workers:>2}"], []
    for which in ("off", "on"):
        cells.append(f"{ours[which]:9.1f}" if ours[which] else " " * 9)
    cells.append(f"{best['median']:9.1f}  {best['name'][:26]:26}" if best else " " * 37)
    for which in ("off", "on"):
        goal = case.goals[which][workers - 1]
        against = ours["off"] if case.of_off and which == "on" else best and best["median"]
        if not ours[which] or not against or (case.of_off and which == "off"):
            cells.append(" " * 16)
            continue
        ratio = ours[which] / against
        if goal and ratio > goal:
            missed.append(which)
        cells.append(f"{ratio:6.2f} " + (f"(<= {goal:4.2f})" if goal else " " * 9))
    cells.append("MISSED" if missed else "")
    return " ".join(cells).rstrip(), bool(missed)


def main(arguments):
    if "--help" in arguments:
        print(__doc__)
        return 0
    quick, peers, part = False, "", ""
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--quick":
            quick = True
        elif argument == "--peers" and rest:
            peers = str(Path(rest.pop(0)).resolve())
            if not Path(peers).is_dir():
                sys.exit(f"--peers: there is no folder {peers}")
        elif argument.startswith("-"):
            print(__doc__, file=sys.stderr)
            return 2
        else:
            part = argument
    chosen = [case for case in CASES if part in case.name]
    if not chosen:
        sys.exit(f"no case contains '{part}'; there are: " + "; ".join(case.name for case in CASES))
    build(peers)
    rows, machine = [], ""
    for case in chosen:
        for workers in (1, 2):
            machine, lines = measure(case, workers, quick)
            rows.append(row(case, workers, lines))
            print(f"{case.name}, {workers}: {len(lines)} contestants", file=sys.stderr, flush=True)
    print(machine.split(": ", 1)[1])
    print(f"{'ns':34} {'workers':>2}  {'off':>6} {'on':>9} {'best peer':>9}  {'':26} {'off/peer':16} {'on/peer':16}")
    for text, _ in rows:
        print(text)
    print(f"{sum(missed for _, missed in rows)} of {len(rows)} miss a goal")
    return 0


sys.exit(main(sys.argv[1:]))
