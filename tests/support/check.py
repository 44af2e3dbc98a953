# SPDX-License-Identifier: BSL-1.0
"""What the scripts that check the repository share: their command line, and compilers side by side."""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror",
            "-DWEIR_NO_COROUTINE_WARNING"]  # the test lint.house looks at all that is here
# What of the headers has to say nothing besides: users include them with -I, too. Of each compiler those that it has.
USERS_WARNINGS = ["-Wsign-conversion", "-Wold-style-cast", "-Wnon-virtual-dtor", "-Woverloaded-virtual", "-Wcast-align",
                  "-Wdouble-promotion", "-Wnull-dereference", "-Wduplicated-cond", "-Wlogical-op", "-Wuseless-cast",
                  "-Wfloat-equal", "-Wswitch-enum"]


def users_warnings(compiler):
    """Those that the compiler has."""
    def has(flag):
        return subprocess.run([compiler, "-Werror", flag, "-fsyntax-only", "-x", "c++", "-"], input="", text=True,
                              capture_output=True).returncode == 0
    return [flag for flag in USERS_WARNINGS if has(flag)]


def run(doc, problems_in, self_test, compile_all=None):
    """SCRIPT [ROOT], SCRIPT --self-test, and, with `compile_all`, SCRIPT --compile COMPILER [FLAG...]. Each
    of the three gives sentences, of which any is a failure. Returns the exit status."""
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        problems = self_test()
    elif compile_all and len(arguments) > 1 and arguments[0] == "--compile":
        problems = compile_all(ROOT, arguments[1], arguments[2:])
    elif len(arguments) <= 1 and not any(a.startswith("-") for a in arguments):
        problems = problems_in(Path(arguments[0]) if arguments else ROOT)
    else:
        print(doc, file=sys.stderr)
        return 2
    failed = False
    for problem in problems:
        print(problem, flush=True)
        failed = True
    return 1 if failed else 0


def syntax_of_all(compiler, flags, root, cases, judge):
    """What `judge(case, exit status, errors)` says about each (path, ...), on all processors."""
    command = [compiler, "-std=c++20", *WARNINGS, *flags, f"-I{root}/include", "-fsyntax-only"]

    def look(case):
        made = subprocess.run([*command, str(case[0])], capture_output=True, text=True)
        return judge(case, made.returncode, made.stderr)

    with ThreadPoolExecutor(os.cpu_count()) as at_once:
        yield from filter(None, at_once.map(look, cases))
