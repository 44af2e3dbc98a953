# SPDX-License-Identifier: BSL-1.0
"""Shows that tests fail where they should: breaks the library in one place at a time.

Each line of a folder's mutants.tsv is a bug: a copy of include/ gets it, the file of the test that is named is
compiled against that copy, and the test has to fail. One that doesn't is a survivor; so is a line whose text
isn't there exactly once any more, and one whose test takes too long without the bug, too. In place of a test, a
program's file (`chaos.cpp`) may be named: it has to fail without arguments.
"""
import argparse
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from change import Stale, change_once

root = pathlib.Path(__file__).resolve().parents[2]
time_limit = 60  # seconds; a mutant may run for ever


class stale(Exception):
    pass


def unescape(text):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)


def read_mutants(here):
    mutants = []
    for number, line in enumerate((here / "mutants.tsv").read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 5:
            sys.exit(f"mutants.tsv:{number}: {len(columns)} columns instead of 5")
        name, file, text, replacement, test = columns
        mutants.append((name, file, unescape(text), unescape(replacement), test))
    return mutants


def source_of(here, test):
    if (here / test).is_file():
        return here / test
    found = [s for s in here.glob("*.test.cpp") if re.search(r'TEST_CASE\(\s*"' + re.escape(test) + '"', s.read_text())]
    if len(found) != 1:
        sys.exit(f"mutants.tsv names what is no test: {test}")
    return found[0]


@functools.cache
def compiler():
    """The compiler's command, without optimisation; g++ 12 with what saves it a sixth of its time: see own_builds.cmake."""
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O0", "-w"]
    quick = ["-ffold-simple-inlines", "--param=ggc-min-heapsize=1000000"]
    knows = subprocess.run([*command, *quick, "-Werror", "-fsyntax-only", "-x", "c++", "-"], input="", text=True,
                           capture_output=True).returncode == 0
    return [*command, *(quick if knows else [])]


def add_compiled(options):
    options.add_argument("--compiled", type=pathlib.Path, metavar="LIBRARY",
                         help="weir::compiled, built before; only for mutants of .hpp files")


def to_link(given):
    """(flags for the compiler, libraries for the linker)"""
    return (["-DWEIR_SEPARATE_COMPILATION"], [given.compiled]) if given.compiled else ([], [])


def call_compiler(flags, include, *words):
    command = [*compiler(), f"-I{include}", f"-I{root / 'tests'}", "-pthread", *map(str, [*flags, *words])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise stale("does not compile: " + (errors or ["?"])[0])
    return done.stdout


def break_it(copy, file, text, replacement):
    header = copy / "weir" / file
    try:
        header.write_text(change_once(header.read_text(), text, replacement))
    except Stale as e:
        raise stale(f"stale: {file}: {e}")


def run(program, test):
    """Returns what became of it; None if it has survived."""
    arguments = [] if test.endswith(".cpp") else [test.replace(",", "\\,"), "--abort"]
    try:
        # To Catch2 a comma stands between two names.
        done = subprocess.run([str(program), *arguments], capture_output=True, text=True, errors="replace",
                              timeout=time_limit)
    except subprocess.TimeoutExpired:
        return "hangs"
    if "All tests passed" in done.stdout or not (arguments or done.returncode):
        return None
    if "No test cases matched" in done.stdout + done.stderr:
        raise stale(f"the program doesn't know the test '{test}'")
    ends = re.search(r"(.*), in: (.*)", done.stderr)
    if ends:
        return ends[0]
    said = re.search(r"explicitly with message:\s*(.*(?:\n  .*)*)", done.stdout)
    if said:
        return re.sub(r"\s+", " ", said[1])
    return "a check fails" if "FAILED" in done.stdout else "exit status " + str(done.returncode)


def main(doc, here, shared, flags):
    options = argparse.ArgumentParser(description=doc + __doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", metavar="TEXT", help="the mutants whose line contains it")
    options.add_argument("--main", type=pathlib.Path, metavar="LIBRARY", help="has tests/support/main.cpp, built before")
    options.add_argument("--shared", type=pathlib.Path, metavar="LIBRARY", help="has what all tests share, built before")
    add_compiled(options)
    given = options.parse_args()
    separate, libraries = to_link(given)
    flags = [*flags, *separate]
    wanted = [m for m in read_mutants(here) if given.only in "\t".join([m[0], m[1], m[4]])]
    if not wanted:
        sys.exit("no mutant contains that text")
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        objects = []
        ends_in_time = {}  # without a bug; only known of tests that didn't with one
        for built, sources in ((given.main, [root / "tests" / "support" / "main.cpp"]), (given.shared, shared)):
            objects += [built] if built else [folder / (source.stem + ".o") for source in sources]
            for source in [] if built else sources:
                call_compiler(flags, root / "include", "-c", source, "-o", folder / (source.stem + ".o"))
        objects += libraries
        for name, file, text, replacement, test in wanted:
            copy = folder / "include"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(root / "include", copy)
            program = folder / "program"
            try:
                break_it(copy, file, text, replacement)
                # First what has the mutant: where both have a function, the linker takes that one's.
                call_compiler(flags, copy, source_of(here, test), *objects[test.endswith(".cpp"):], "-o", program)
                killed = run(program, test)
                if killed == "hangs" and test not in ends_in_time:
                    call_compiler(flags, root / "include", source_of(here, test), *objects[test.endswith(".cpp"):],
                                  "-o", program)
                    ends_in_time[test] = run(program, test) is None
                if killed == "hangs" and not ends_in_time[test]:
                    raise stale(f"'{test}' doesn't pass in {time_limit} s without it, either")
            except stale as what:
                bad.append(f"{name}: {what}")
                print(bad[-1], flush=True)
                continue
            if killed is None:
                bad.append(f"{name}: survives '{test}'")
            print(f"{name}: {killed or 'SURVIVES'}", flush=True)
    print(f"{len(wanted)} mutants, {len(bad)} wrong")
    for line in bad:
        print("  " + line, file=sys.stderr)
    sys.exit(1 if bad else 0)
