#!/usr/bin/env python3
"""Counts what an item calls on its way: functions of the library, the files they are in, and locks.

    tests/house/walk/run.py [COMPILER [FLAG...]]  (the default: c++)
    tests/house/walk/run.py --write [COMPILER [FLAG...]]   makes what is counted the record
    tests/house/walk/run.py --self-test                    shows that it can fail

Three queues (a source, two functions; the sink's is the last one's, too), each with the default capacity of 2, the
source's 1, measured, on virtual time, without optimisation: the figures are exact, and the same on every machine.
`record.tsv` beside this has those of the last time, which are printed too; more calls than there, by a twentieth, is
a failure. The record is of g++ 12; other compilers instrument other functions, so of them nothing is asked.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
RECORD = HERE / "record.tsv"
ITEMS = 32
FLAGS = ["-std=c++20", "-DWEIR_NO_COROUTINE_WARNING", "-O0", "-g1", "-no-pie", "-finstrument-functions",
         "-finstrument-functions-exclude-file-list=/usr/,walk.cpp"]


def trace(command):
    """The lines that the program writes, and {address: (function, file)} of those of the library."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "walk"
        subprocess.run([*command, *FLAGS, f"-I{ROOT}/include", str(HERE / "walk.cpp"), "-pthread", "-o", str(program)],
                       check=True)
        lines = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.split()
        addresses = sorted({line[1:] for line in lines})
        told = subprocess.run(["addr2line", "-f", "-C", "-e", str(program)], input="\n".join(addresses), check=True,
                              capture_output=True, text=True).stdout.splitlines()
    where = {}
    for address, function, place in zip(addresses, told[::2], told[1::2]):
        # A function of an .ipp file is one of its header's.
        if match := re.search(r"include/weir/([\w/]+)\.[hi]pp:\d+", place):
            where[address] = (function, f"{match[1]}.hpp")
    return lines, where


def count(lines, where, items):
    """{what: how many an item}, of which the last are the calls in each file."""
    files, functions, stack = collections.Counter(), set(), []
    calls = changes = locks = 0
    before = None
    for line in lines:
        address = line[1:]
        if address not in where:
            continue
        if line[0] == "-":
            if stack:
                stack.pop()
            continue
        function, file = where[address]
        takes = locks_of(function)
        if takes and not any(stack):  # a biased lock may take its spin lock
            locks += 1
        stack.append(takes)
        calls += 1
        functions.add(address)
        files[file] += 1
        changes += file != before
        before = file
    whole = {"calls": calls / items, "changes of file": changes / items, "locks": locks / items,
             "functions": len(functions), "files": len(files)}
    return whole | {file: n / items for file, n in files.most_common()}


def locks_of(function):
    return re.search(r"basic_(biased_lock|spin_lock)<.*>::(enter|lock|try_lock)\(", function) is not None


def read_record():
    rows = (row.split("\t") for row in RECORD.read_text(encoding="utf-8").splitlines()[1:])
    return {what: float(n) for what, n in rows}


def table(now, before):
    yield f"{'an item':40}{'now':>9}{'record':>9}"
    for what in [*now, *(w for w in before if w not in now)]:
        yield f"{what:40}{now.get(what, 0):9.1f}{before.get(what, 0):9.1f}"


def self_test():
    where = {"1": ("weir::detail::basic_biased_lock<P, 0>::enter(record*)", "a.hpp"),
             "2": ("weir::detail::basic_spin_lock<P>::lock()", "b.hpp"), "3": ("f()", "b.hpp")}
    lines = "+1 +2 -2 -1 +2 -2 +3 +9 -9 -3".split()
    expected = {"calls": 4, "changes of file": 2, "locks": 2, "functions": 3, "files": 2, "b.hpp": 3, "a.hpp": 1}
    return [] if count(lines, where, 1) == expected else [f"self-test: {count(lines, where, 1)}"]


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    write = arguments[:1] == ["--write"]
    command = arguments[write:] or ["c++"]
    now = count(*trace(command), ITEMS)
    before = read_record() if RECORD.exists() else {}
    print("\n".join(table(now, before)))
    if write:
        rows = ["an item\tcount", *(f"{what}\t{n:.4g}" for what, n in now.items())]
        RECORD.write_text("\n".join(rows) + "\n", encoding="utf-8")
        return []
    version = subprocess.run([*command[:1], "-v"], capture_output=True, text=True).stderr
    if "gcc version 12" in version and now["calls"] > 1.05 * before.get("calls", 0):
        return [f"an item makes {now['calls']:.0f} calls, after {before.get('calls', 0):.0f}: see above, and shorten its "
                "way; or, with the reason in the commit, tests/house/walk/run.py --write"]
    return []


if __name__ == "__main__":
    found = main(sys.argv[1:])
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    sys.exit(1 if found else 0)
