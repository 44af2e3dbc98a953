#!/usr/bin/env python3
"""Measures everything that has a goal, against every installed peer, and prints one table of ratios.

    bench/run compare [--quick] [--peers DIR] [--workers 1,2,4] [PART OF A CASE]

    --quick      short repetitions: shows that it works, not how fast anything is
    --peers DIR  a folder with a folder of sources for each library without a Debian package: taskflow, libfork,
                 TooManyCooks, citor, cppcoro (andreasbuhr's), libcoro (jbaldwin's); missing ones are left out
    --workers    the numbers of workers, instead of 1 and 2. For more than 2 there are no goals, and the efficiency is
                 printed: the time on one worker divided by that on all, times their number; of weir (off, if it has
                 that case) and of the best peer
    PART         only the cases whose names contain this text

The contestants of a case take turns within one process, nine times; the table has medians in nanoseconds. "Off" is without
statistics, "on" with them (the default). A ratio is the time divided by that of the fastest peer of any kind, in its fastest
form; or, if the case says so, of one library, or on divided by off, or by the time with a coroutine as the consumer. The goal is behind the ratio. If weir passes items, or makes
tasks, one by one, peers that do so in batches do not count; if one is the fastest, the next line shows it. While it measures, it
lists the fastest form of each peer. Takes about thirteen minutes, including the build.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "compare"
PROGRAMS = ("consumer", "pipeline", "pingpong", "channel", "spawn", "traverse", "contention")
# Read-modify-writes of shared cache lines an item and stage, at most, off and on: what takes the time on many cores. They
# are counted, so the number of processors doesn't matter. One worker alone has nobody to contend with.
CONTENDED, CONTENDED_GOAL, CONTENDING = "contended operations", 0.5, "4,16"


class Case:
    """What to run, and the goals with 1 and 2 workers: the ratio at most, or None."""

    def goal(self, which, workers):
        return self.goals[which][workers - 1] if workers <= 2 else None

    @property
    def in_batches(self):
        return "in batches" in self.ours["off"]

    def __init__(self, name, program, title, on=None, off=None, of="", unmeasured="weir", measured="weir, measured", peer="",
                 one_processor=False):
        self.name, self.program, self.title, self.peer = name, program, title, peer
        self.goals = {"off": off or (None, None), "on": on or (None, None)}
        self.of, self.one_processor = of, one_processor
        self.ours = {"off": unmeasured, "on": measured}


COROUTINE = "weir, measured, to a coroutine of the pool"
CASES = [
    Case("a thread consumes, of a coroutine", "consumer", "sink(), ", (1.5, 1.5), of=COROUTINE),
    Case("the same, sink(3)", "consumer", "sink(3), ", (1.5, 1.5), of=COROUTINE),
    Case("a thread consumes", "consumer", "sink(), ", (1.0, 1.0)),
    Case("the same on one processor", "consumer", "sink(), ", (1.5, 1.5), one_processor=True),
    Case("on one processor, sink(3)", "consumer", "sink(3), ", (1.5, 1.5), one_processor=True),
    Case("no-op, capacity 2", "pipeline", "no-op, 1 slot, capacity 2, ", (1.5, 1.2), (0.9, 0.8)),
    Case("no-op, capacity 64", "pipeline", "no-op, 1 slot, capacity 64, ", (1.2, 1.3), (0.75, 0.9)),
    Case("no-op, four slots, capacity 2", "pipeline", "no-op, 4 slots, capacity 2, ", (2, 1.5)),
    Case("no-op, four slots, capacity 64", "pipeline", "no-op, 4 slots, capacity 64, ", (1.2, 0.6)),
    Case("in order, capacity 64, of any", "pipeline", "no-op, 4 slots, capacity 64, ", (1.3, 1.3), of="weir",
         measured="weir, in order"),
    Case("in order, measured, of any", "pipeline", "no-op, 4 slots, capacity 64, ", (1.3, 1.3), of="weir, measured",
         unmeasured="weir, measured", measured="weir, in order, measured"),
    Case("500 ns, capacity 2", "pipeline", "500 ns, 1 slot, capacity 2, ", (1.03, 1.0)),
    Case("500 ns, capacity 64", "pipeline", "500 ns, 1 slot, capacity 64, ", (1.02, 1.0)),
    Case("1 us, capacity 2, of off", "pipeline", "1 us, 1 slot, capacity 2, ", (1.02, 1.04), of="weir"),
    Case("1 us, capacity 64, of off", "pipeline", "1 us, 1 slot, capacity 64, ", (1.01, 1.02), of="weir"),
    Case("ping-pong", "pingpong", "", (1.4, 0.6), (0.9, 0.4)),
    Case("channel, capacity 1", "channel", "1 to 1, capacity 1, int, ", (1.0, 0.4)),
    Case("channel, capacity 2", "channel", "1 to 1, capacity 2, int, ", (1.0, 0.4)),
    Case("channel, capacity 64, in batches", "channel", "1 to 1, capacity 64, int, ", None, (1.0, 0.8),
         unmeasured="weir, in batches", measured="weir, measured, in batches"),
    Case("channel, 4 to 4, capacity 64", "channel", "4 to 4, capacity 64, int, "),
    Case("channel, 16 to 16, capacity 64", "channel", "16 to 16, capacity 64, int, "),
    Case("fib, a call", "spawn", "fib(30), a task a call, ", None, (1.2, 1.2), unmeasured="weir, when_all"),
    Case("skynet, a leaf, of libfork", "spawn", "skynet, 10^6 leaves, ", None, (1.2, 1.2), unmeasured="weir, when_all",
         peer="libfork"),
    Case("tasks from inside", "spawn", "10^6 tasks from a task, ", None, (1.1, 0.7), unmeasured="weir, task_group fork"),
    Case("tasks from inside, spawned", "spawn", "10^6 tasks from a task, ", None, (1.3, 0.7), unmeasured="weir, task_group spawn"),
    Case("tasks from inside, of when_all", "spawn", "10^6 tasks from a task, ", None, (1.3, 0.7), unmeasured="weir, when_all"),
    Case("a tree, a node", "traverse", "a tree of 10^6 nodes, ", (1.3, 1.3), (1.3, 1.3)),
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
    if quick:  # the trees are smaller then
        title = title.replace("10^6", "10^4").replace("fib(30)", "fib(20)")
    affinity = os.sched_getaffinity(0)
    if case.one_processor:
        os.sched_setaffinity(0, {min(affinity)})  # the program inherits it
    command = [str(BUILD / "bench" / case.program), "--json", *(["--quick"] if quick else []), "--workers", str(workers),
               title]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    finally:
        os.sched_setaffinity(0, affinity)
    if done.returncode != 0:
        raise RuntimeError(f"{case.name}, {workers}: exit {done.returncode}: {done.stderr.strip()}")
    document = json.loads(done.stdout)
    lines = [l for group in document.get("groups", []) if group["title"] == title for l in group["contestants"]]
    if not lines:
        sys.exit(f"bench/{case.program} has no group '{title}'")
    return document["machine"], lines


def contended(quick):
    """The rows of the figures that are counted, and how many of them miss the goal."""
    command = [str(BUILD / "bench" / "contention"), "--json", *(["--quick"] if quick else []), "--workers", CONTENDING]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{CONTENDED}: exit {done.returncode}: {done.stderr.strip()}")
    figures = {value["what"]: value["amount"] for value in json.loads(done.stdout)["values"]}
    rows, missed = [], 0
    for off in [what for what in figures if what.endswith("workers")]:
        on = off + ", measured"
        worse = max(figures[off], figures[on])
        missed += worse > CONTENDED_GOAL
        rows.append(f"{off:37} {figures[off]:8.2f} {figures[on]:9.2f}  (<= {CONTENDED_GOAL:4.2f})" +
                    (" MISSED" if worse > CONTENDED_GOAL else ""))
    return rows, missed


def fastest(lines):
    return min(lines, key=lambda l: l["median"], default=None)


def of_each_library(peers):
    """The best of each, which has the first part of the name, the fastest first."""
    by_library = {}
    for l in peers:
        by_library.setdefault(l["name"].split(",")[0], []).append(l)
    best = sorted(map(fastest, by_library.values()), key=lambda l: l["median"])
    return "; ".join(f"{l['name']} {l['median']:.1f}" for l in best) or "no peer"


def efficiency(name, times, workers):
    """Of a contestant with that name; `times` are those of all contestants, by number of workers."""
    one, all_of_them = times.get(1, {}).get(name), times[workers].get(name)
    return f"{one / (workers * all_of_them):.2f}" if one and all_of_them else "-"


def row(case, workers, lines, times):
    ours = {k: times[workers].get(name) for k, name in case.ours.items()}
    peers = [l for l in lines if l["kind"] == "peer"]
    best = fastest([l for l in peers if l["name"].startswith(case.peer) and
                    (case.in_batches or "in batches" not in l["name"])])
    cells, missed = [f"{case.name:34}", f"{workers:>2}"], []
    for which in ("off", "on"):
        cells.append(f"{ours[which]:9.1f}" if ours[which] else " " * 9)
    cells.append(f"{best['median']:9.1f}  {best['name']:38}" if best else " " * 49)
    for which in ("off", "on"):
        goal = case.goal(which, workers)
        against = times[workers].get(case.of) if case.of and which == "on" else best and best["median"]
        if not ours[which] or not against or (case.of and which == "off"):
            cells.append(" " * 16)
            continue
        ratio = ours[which] / against
        if goal and ratio > goal:
            missed.append(which)
        cells.append(f"{ratio:6.2f} " + (f"(<= {goal:4.2f})" if goal else " " * 9))
    if workers > 2:
        mine = efficiency(case.ours["off" if ours["off"] else "on"], times, workers)
        theirs = efficiency(best["name"], times, workers) if best else "-"
        cells.append(f"efficiency {mine}, of the peer {theirs}")
    cells.append("MISSED" if missed else "")
    text = " ".join(cells).rstrip()
    other = fastest(peers)
    if other is not best:
        text += f"\n{'':57} {other['median']:9.1f}  {other['name']}"
    return text, bool(missed)


def numbers(text):
    parts = text.split(",")
    if not all(p.isdecimal() and int(p) > 0 for p in parts):
        sys.exit(f"--workers: '{text}' is no list of numbers, as 1,2,4 is")
    most = len(os.sched_getaffinity(0))
    if max(map(int, parts)) > most:
        sys.exit(f"--workers: this machine has {most} processors; more workers than that would only take turns on them")
    return [int(p) for p in parts]


def main(arguments):
    if "--help" in arguments:
        print(__doc__)
        return 0
    quick, peers, all_workers, part = False, "", [1, 2], ""
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--quick":
            quick = True
        elif argument == "--peers" and rest:
            peers = str(Path(rest.pop(0)).resolve())
            if not Path(peers).is_dir():
                sys.exit(f"--peers: there is no folder {peers}")
        elif argument == "--workers" and rest:
            all_workers = numbers(rest.pop(0))
        elif argument.startswith("-"):
            print(__doc__, file=sys.stderr)
            return 2
        else:
            part = argument
    chosen = [case for case in CASES if part in case.name]
    counts = part in CONTENDED
    if not chosen and not counts:
        sys.exit(f"no case contains '{part}'; there are: " + "; ".join([*(case.name for case in CASES), CONTENDED]))
    build(peers)
    rows, failures, machine = [], [], "no machine: nothing measured"
    for case in chosen:
        times = {}
        for workers in all_workers:
            try:
                machine, lines = measure(case, workers, quick)
            except RuntimeError as failure:  # what was measured so far is worth something
                print(failure, file=sys.stderr, flush=True)
                failures.append(str(failure))
                continue
            times[workers] = {l["name"]: l["median"] for l in lines}
            rows.append(row(case, workers, lines, times))
            told = of_each_library([l for l in lines if l["kind"] == "peer"])
            print(f"{case.name}, {workers}: {told}", file=sys.stderr, flush=True)
    counted, too_many = [], 0
    if counts:
        try:
            counted, too_many = contended(quick)
        except RuntimeError as failure:
            failures.append(str(failure))
    print(machine.split(": ", 1)[-1])
    print(f"{'ns':34} {'workers':>2}  {'off':>6} {'on':>9} {'best peer':>9}  {'':38} {'off/peer':16} {'on/peer':16}")
    for text, _ in rows:
        print(text)
    if counted:
        print(f"{CONTENDED + ', an item and stage':37} {'off':>8} {'on':>9}", *counted, sep="\n")
    print(f"{sum(missed for _, missed in rows) + too_many} of {len(rows) + len(counted)} miss a goal")
    for failure in failures:
        print(f"failed: {failure}")
    return 1 if failures else 0


sys.exit(main(sys.argv[1:]))
