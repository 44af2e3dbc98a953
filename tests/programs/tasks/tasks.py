#!/usr/bin/env python3
"""Runs bench/tasks with each level of each factor, and looks whether it says what it was told, and refuses what it can't do.

    tests/programs/tasks/tasks.py PROGRAM [LAB]

With the measurement lab's program it looks whether that can plan what the list of factors says.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
LAB = sys.argv[2] if len(sys.argv) > 2 else None
FEW = 300
CLEAN = {name: value for name, value in os.environ.items() if not re.match("(CFG|ENV|BLD|APP)_|LD_PRELOAD$", name)}

failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("failed:", what, flush=True)


def start(arguments, environment=None):
    return subprocess.run([PROGRAM, *arguments], env={**CLEAN, **(environment or {})}, encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


def once(pairs):
    names = [name for name, _ in pairs]
    expect(len(names) == len(set(names)), f"a key is there twice: {names}")
    return dict(pairs)


def document(done, what):
    """What it printed; None, and a failure, where that is none."""
    if done.returncode != 0:
        expect(False, f"{what}: exit status {done.returncode}: {done.stderr[:300]}")
        return None
    return json.loads(done.stdout, object_pairs_hook=once)


def refused(done, text, what):
    expect(done.returncode == 2, f"{what}: exit status {done.returncode}, not 2; {done.stderr[:300]}")
    expect(done.stdout == "", f"{what}: it prints a result all the same")
    expect(text in done.stderr, f"{what}: it says {done.stderr!r}, and not {text!r}")
    expect(done.stderr.startswith("tasks: ") and done.stderr.count("\n") == 1, f"{what}: no single line")


def look_at_the_list():
    done = start(["--list-factors"])
    whole = json.loads(done.stdout, object_pairs_hook=once)
    expect(set(whole) == {"factors", "constraints", "build", "command", "score"}, f"the list has {set(whole)}")
    expect(whole["score"] == "@result.us_per_task", "the score is what a task costs")
    factors = {}
    for f in whole["factors"]:
        name = f["name"]
        expect(name not in factors, f"{name} is there twice")
        factors[name] = f
        expect(len(f["about"]) > 10 and f["tier"] in (1, 2, 3, 4), f"{name} says what it is")
        if "levels" in f:
            expect(f["base"] == f["levels"][0], f"the base of {name} is its first level")
        else:
            expect(f["low"] <= f["base"] <= f["high"] and f["integer"], f"the base of {name} is in its range")
            expect(not f.get("log2") or f["low"] >= 1, f"{name} has a logarithm")
        (how, value), = f["apply"].items()
        if how == "argument":
            expect(value == f"--{name}={{}}", f"{name} is applied by its name")
        elif how == "environment":
            (variable, levels), = value.items()
            expect(variable == "LD_PRELOAD" and list(levels) == f["levels"], f"each level of {name} is applied")
        else:
            expect(how == "build" and list(value) == f["levels"] and f["hard_to_change"], f"{name} is built")
    for constraint in whole["constraints"]:
        left, relation, right = constraint.split()
        for side in (left, right):
            name, _, levels = side.partition("=")
            expect(name in factors, f"{constraint}: there is no {name}")
            expect((relation == ">=") == (levels == ""), f"{constraint}: levels are required")
            known = factors[name].get("levels")
            expect(not levels or known is None or set(levels.split("|")) <= set(known), f"{constraint}: no level")
    return factors, whole["constraints"]


def look_at_a_plan():
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/factors.json", "w", encoding="utf-8") as file:
            file.write(start(["--list-factors"]).stdout)
        done = subprocess.run([LAB, "plan", folder + "/factors.json", "--runs", "96", "-o", folder + "/plan.csv"],
                              encoding="utf-8", capture_output=True, timeout=120)
        expect(done.returncode == 0, f"lab plan: {done.stderr}")
        if done.returncode == 0:
            with open(folder + "/plan.csv", encoding="utf-8") as plan:
                header, *rows = [line.strip().split(";") for line in plan]
            built = [i for i, name in enumerate(header) if name.startswith("bld_")]
            builds = {tuple(row[i] for i in built) for row in rows}
            expect(len(rows) == 96 and len(built) == 7, f"a plan of {len(rows)} runs, {len(built)} factors of a build")
            expect(1 < len(builds) <= 26, f"few builds, and not {len(builds)}")


def look_at_the_document(factors):
    it = document(start([f"--app_items={FEW}"]), "nothing set")
    if it is None:
        return
    expect(it["name"] == "WeirTasks" and it["component"] == "weir", "it has the names of the contract")
    parameters, result = it["@parameters"], it["@result"]
    expect(set(parameters) == set(factors), f"other factors: {set(parameters) ^ set(factors)}")
    expect(not set(parameters) & set(result), "a key is in both")
    expect(not any(isinstance(v, (dict, list, bool)) for v in [*parameters.values(), *result.values()]), "it is flat")
    for name, f in factors.items():
        if name.startswith(("cfg_", "app_")) and name != "app_items":
            expect(parameters[name] == f["base"], f"where nothing is set {name} is {parameters[name]}, not the base")
    expect(result["tasks"] == parameters["app_items"] == FEW, "the number of tasks")
    expect(abs(result["us_per_task"] * FEW / 1e6 / result["elapsed_s"] - 1) < 1e-6, "the cost of a task")
    expect(abs(result["us_per_task"] * result["tasks_per_second"] / 1e6 - 1) < 1e-6, "tasks a second")
    expect(abs(it["overall_score"] / result["tasks_per_second"] - 1) < 1e-6, "the score")
    expect(result["ideal_us_per_task"] == 0, "of no work the ideal is nothing")
    expect("latency_p50_us" not in result, "no latency is measured unless asked for")
    table = start([f"--app_items={FEW}", "--table", "--cfg_qcap=8"])
    expect(re.search(r"cfg_qcap +8  \*\n", table.stdout) is not None, "a table marks what isn't the base")
    marked = re.findall(r"^  ((?:cfg|app)_\w+) .*  \*$", table.stdout, re.MULTILINE)
    expect(marked == ["cfg_qcap", "app_items"], f"and nothing else but the number of items: {marked}")


def tries(f, name):
    """Values to set."""
    if "levels" in f:
        return f["levels"]
    if name == "app_items":
        return [1, 17, FEW]
    values = [f["low"], f["base"], min(f["high"], max(f["low"], 5)), min(f["high"], 4096)]
    if name == "env_nice":
        values = [os.nice(0), 19]
    if name == "cfg_workers":
        values = range(f["low"], f["high"] + 1)
    return sorted(set(values))


def needed_for(name, value, constraints, factors):
    """What has to be set, too."""
    more = {}
    for constraint in constraints:
        left, relation, right = constraint.split()
        if relation == ">=" and right == name:
            more[left] = max(value, factors[left]["base"])
        if relation == "requires" and str(value) in left.partition("=")[2].split("|") and left.startswith(name + "="):
            other, _, levels = right.partition("=")
            more.setdefault(other, levels.split("|")[0])
        # If a constraint requires another value than the base of another factor.
        if relation == "requires" and right.startswith(name + "=") and str(value) not in right.partition("=")[2].split("|"):
            other, _, levels = left.partition("=")
            if factors[other]["base"] in levels.split("|"):
                more[other] = next(level for level in factors[other]["levels"] if level not in levels.split("|"))
    return more


def is_installed(library):
    done = subprocess.run(["true"], env={**CLEAN, "LD_PRELOAD": library}, stderr=subprocess.PIPE, timeout=20)
    return done.stderr == b""


# Settings that the surroundings of a test may not allow.
MAY_BE_REFUSED = {"env_sched": "needs the right", "env_nice": "needs the right", "env_aslr": "env_aslr=",
                  "env_thp": "env_thp="}


def look_at_each_level(factors, constraints):
    for name, f in factors.items():
        for value in tries(f, name):
            how = f["apply"]
            arguments = {"app_items": FEW, **needed_for(name, value, constraints, factors), name: value}
            environment = {}
            if "environment" in how:
                library = how["environment"]["LD_PRELOAD"][value]
                if library and not is_installed(library):
                    continue
                environment = {"LD_PRELOAD": library}
            line = [f"--{n}={v}" for n, v in arguments.items()]
            what = " ".join(line)
            done = start(line, environment)
            if "build" in how and done.returncode == 2:
                refused(done, "build it so", what)
                continue
            if name in MAY_BE_REFUSED and done.returncode == 2:
                refused(done, MAY_BE_REFUSED[name], what)
                continue
            it = document(done, what)
            for n, v in arguments.items() if it is not None else ():
                expect(str(it["@parameters"][n]) == str(v), f"{what}: {n} is {it['@parameters'][n]}")
    # One build of each kind.
    built = [name for name, f in factors.items() if "build" in f["apply"]]
    it = document(start([f"--app_items={FEW}"]), "the build")
    for name in built:
        own = it["@parameters"][name]
        again = document(start([f"--app_items={FEW}", f"--{name}={own}"]), f"--{name}={own}") if own in factors[name][
            "levels"] else it
        expect(again["@parameters"][name] == own, f"{name} is {own}")


def look_at_combinations():
    for line in (["--app_shape=executor"], ["--app_shape=executor", "--cfg_fuse=on", "--app_work=chain"],
                 ["--app_shape=executor", "--app_work=sleep", "--app_wave=7", "--app_latency=on"],
                 ["--cfg_slots=4", "--cfg_order=input", "--cfg_fuse=on", "--app_work=chain"],
                 ["--cfg_slots=3", "--cfg_batch=16", "--cfg_qcap=64", "--app_work=sleep", "--app_work_ns=10"],
                 ["--cfg_stats=off", "--cfg_batch=16", "--cfg_qcap=16", "--app_consumer=for_each", "--app_size=100"],
                 ["--cfg_order=input", "--app_consumer=for_each", "--cfg_slots=2"],
                 ["--cfg_stats=summed", "--app_work=io", "--app_consumer=coroutine", "--cfg_batch=2"],
                 ["--cfg_stats=summed", "--app_stages=8", "--cfg_handoff=later_first", "--app_reports=csv"],
                 ["--env_pad=100", "--env_affinity=single", "--cfg_workers=1", "--app_work=memory"]):
        it = document(start([f"--app_items={FEW}", *line]), " ".join(line))
        for each in line if it is not None else ():
            name, _, value = each[2:].partition("=")
            expect(str(it["@parameters"][name]) == value, f"{line}: {name} is {it['@parameters'][name]}")
        if it is not None and "--app_latency=on" in line:
            expect(0 < it["@result"]["latency_p50_us"] <= it["@result"]["latency_p99_us"], "latencies")
    cpu = document(start(["--app_items=50", "--app_work=cpu", "--app_work_ns=20000", "--cfg_workers=1"]), "cpu")
    result = cpu["@result"]
    expect(result["ideal_us_per_task"] > 0, "of work there is an ideal")
    expect(abs(result["us_per_task"] - result["ideal_us_per_task"] - result["overhead_us"]) < 1e-4, "the overhead")


def look_at_the_log():
    for flush in ("block", "line"):
        done = start([f"--app_items={FEW}", "--cfg_item_log=stderr", f"--cfg_log_flush={flush}"])
        lines = done.stderr.splitlines()
        expect(len(lines) == FEW + FEW // 10 and all(re.fullmatch(r"\d+ item \d+: begun", each) for each in lines),
               f"{flush}: a line for each item, {len(lines)}")


def look_at_the_environment_and_the_time():
    it = document(start([f"--app_items={FEW}"], {"CFG_QCAP": "5", "APP_STAGES": "2"}), "CFG_QCAP=5")
    expect(it["@parameters"]["cfg_qcap"] == 5 and it["@parameters"]["app_stages"] == 2, "a variable sets a factor")
    it = document(start([f"--app_items={FEW}", "--cfg_qcap", "6"], {"CFG_QCAP": "5"}), "CFG_QCAP=5 --cfg_qcap 6")
    expect(it["@parameters"]["cfg_qcap"] == 6, "an argument outdoes a variable")
    refused(start([], {"CFG_QCAP": "none"}), "CFG_QCAP=none: cfg_qcap has to be a whole number from 1 to 4096", "CFG_QCAP")
    it = document(start(["--time", "0.05", "--cfg_batch=4", "--cfg_qcap=4"]), "--time")
    expect(it["@parameters"]["app_items"] == it["@result"]["tasks"] >= 10, "the time decides how many items")


def look_from_outside():
    """At the threads of a program that runs."""
    cores = sorted(os.sched_getaffinity(0))
    running = subprocess.Popen([PROGRAM, "--cfg_workers=2", "--env_affinity=reverse", "--env_nice=19", "--app_work=sleep",
                                "--app_work_ns=10000000", "--app_items=100000"], env=CLEAN, stdout=subprocess.DEVNULL)
    try:
        found = {}
        for _ in range(200):
            time.sleep(0.05)
            found = {}
            for task in glob.glob(f"/proc/{running.pid}/task/*"):
                with open(task + "/comm") as comm, open(task + "/status") as status, open(task + "/stat") as stat:
                    cpus = re.search(r"Cpus_allowed_list:\s*(\S+)", status.read())[1]
                    found[comm.read().strip()] = (cpus, stat.read().rpartition(")")[2].split()[16])
            if len(found) == 3:
                break
        workers = {name: how for name, how in found.items() if name.startswith("weir ")}
        expected = {f"weir {i}": (str(cores[-1 - i % len(cores)]), "19") for i in range(2)}
        expect(workers == expected, f"its threads are {found}, and not {expected}")
    finally:
        running.kill()
        running.wait()


def look_at_refusals(constraints):
    for line, text in (("--cfg_qcap=0", "--cfg_qcap=0: cfg_qcap has to be a whole number from 1 to 4096"),
                       ("--cfg_qcap=4097", "cfg_qcap has to be a whole number"),
                       ("--cfg_qcap=", "cfg_qcap has to be a whole number"),
                       ("--cfg_qcap=3.5", "cfg_qcap has to be a whole number"),
                       ("--cfg_qcap=99999999999999999999", "cfg_qcap has to be a whole number"),
                       ("--cfg_qcap", "--cfg_qcap takes a value"),
                       ("--cfg_stats=all", "cfg_stats has to be one of histograms, summed, off"),
                       ("--cfg_workers=0", "cfg_workers has to be a whole number from 1 to"),
                       ("--env_malloc=jemalloc", "it is glibc: load the library by LD_PRELOAD"),
                       ("--env_nice=20", "env_nice has to be a whole number from -20 to 19"),
                       ("--nonsense=1", "--nonsense=1: there is no such option"),
                       ("nonsense", "nonsense: there is no such option"),
                       ("--time=0", "it takes seconds, more than 0"),
                       ("--time=nan", "it takes seconds, more than 0"),
                       ("--time=1 --app_items=5", "app_items can't be given with it")):
        refused(start(line.split()), text, line)
    for line, constraint in (("--cfg_log_flush=line", "cfg_log_flush=line requires"),
                             ("--cfg_log_flush=line --cfg_item_log=ring", "cfg_log_flush=line requires"),
                             ("--cfg_batch=3", "cfg_qcap >= cfg_batch"),
                             ("--cfg_batch=3 --cfg_qcap=8 --app_items=2", "app_items >= cfg_batch"),
                             ("--app_reports=trace --cfg_stats=off", "app_reports=trace requires"),
                             ("--cfg_clock=steady --cfg_stats=off", "cfg_clock=ticks_around|steady|coarse requires"),
                             ("--cfg_clock=coarse --app_work=sleep", "cfg_clock=coarse excludes app_work=sleep"),
                             ("--env_sched=fifo --env_nice=1", "env_sched=fifo requires"),
                             ("--app_consumer=for_each --cfg_sink=4", "app_consumer=for_each requires cfg_sink="),
                             ("--app_wave=5", "app_shape=pipeline requires app_wave="),
                             *[(f"--app_shape=executor --{name}={value}", f"app_shape=executor requires {name}=")
                               for name, value in (("cfg_stats", "off"), ("cfg_clock", "steady"), ("cfg_qcap", 3), ("cfg_sink", 4),
                                                   ("cfg_batch", 2), ("cfg_handoff", "later_first"),
                                                   ("cfg_order", "input"), ("cfg_slots", 2),
                                                   ("app_consumer", "coroutine"), ("app_reports", "csv"))]):
        refused(start(line.split()), constraint, line)
        covered.update(c for c in constraints if c.startswith(constraint))
    expect(covered == set(constraints), f"no refusal is tried of {set(constraints) - covered}")


covered = set()
factors, constraints = look_at_the_list()
look_at_the_document(factors)
look_at_each_level(factors, constraints)
look_at_combinations()
look_at_the_log()
look_at_the_environment_and_the_time()
look_from_outside()
look_at_refusals(constraints)
if LAB:
    look_at_a_plan()
print(f"{len(factors)} factors, {len(constraints)} constraints, {len(failures)} failures")
sys.exit(1 if failures else 0)
