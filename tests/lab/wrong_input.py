#!/usr/bin/env python3
"""Gives the lab's program wrong input, and looks whether it says what is wrong, with file and line, and ends with 2.

    tests/lab/wrong_input.py LAB_PROGRAM
"""

import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = str(Path(sys.argv[1]).resolve())
ANALYSES = ["deltas", "fit", "paths", "pca", "history", "plot"]
FACTORS = '{"factors": [{"name": "a"}, {"name": "b"}],\n "constraints": ["%s"],\n "command": ["true"]}\n'

# What is wrong, the file, its text, and what the message has to have.
FILES = [
    ("a missing column", "a;cost\n0;1\n1;2\n", "runs.csv:1: there is no column 'PERF'"),
    ("commas", "a,PERF\n0,1\n1,2\n", "runs.csv:1:"),
    ("NaN", "a;PERF\n0;1\n1;nan\n", "runs.csv:3:"),
    ("an empty file", "", "runs.csv"),
    ("a header alone", "a;PERF\n", "runs.csv"),
    ("a short row", "a;b;PERF\n0;1;2\n1;2\n", "runs.csv:3:"),
    ("a word as cost", "a;PERF\n0;1\n1;fast\n", "runs.csv:3:"),
]
# What is wrong, the constraint, and what the message has to have.
CONSTRAINTS = [
    ("a conflict with itself", "a=1 excludes a=1", "factors.json:2:"),
    ("an unknown factor", "a=1 requires c=1", "factors.json:2:"),
    ("nothing is allowed", 'a=0|1 requires b=1", "a=0|1 excludes b=1', "factors.json:2: no configuration satisfies"),
]


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        def check(what, arguments, expected):
            nonlocal failed
            made = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=folder)
            if made.returncode != 2 or expected not in made.stderr or made.stdout:
                print(f"{what}: {arguments}: {made.returncode}, '{made.stderr.strip()}', not '{expected}'")
                failed += 1

        runs = Path(folder) / "runs.csv"
        for what, text, expected in FILES:
            runs.write_text(text, encoding="utf-8")
            for command in ANALYSES:
                check(what, [command, "runs.csv", "--cost", "PERF"], expected)
            check(what, ["search", "--oracle", "runs.csv", "--cost", "PERF", "--budget", "2"], expected)
        runs.write_text("a;PERF\n0;1\n1;2\n", encoding="utf-8")
        check("a large budget", ["search", "--oracle", "runs.csv", "--cost", "PERF", "--budget", "9"], "runs.csv")
        check("no file", ["fit", "nothing.csv"], "nothing.csv")
        # Every command that takes a factor file reads it.
        for arguments in ([[c, "runs.csv"] for c in ANALYSES if c != "history"]
                          + [["search", "--oracle", "runs.csv", "--budget", "2"], ["compare", "runs.csv", "--by", "a"],
                             ["compare", "runs.csv", "runs.csv"]]):
            check("no factor file", [*arguments, "--cost", "PERF", "--factors", "nothing.json"], "nothing.json")
        check("no second file", ["compare", "runs.csv", "--cost", "PERF"], "compare what?")
        factors = Path(folder) / "factors.json"
        for what, constraint, expected in CONSTRAINTS:
            factors.write_text(FACTORS % constraint, encoding="utf-8")
            check(what, ["plan", "factors.json", "--runs", "4"], expected)
        factors.write_text(FACTORS % "a=1 excludes b=1", encoding="utf-8")
        (Path(folder) / "plan.csv").write_text("a;b\n0;1\n1;1\n", encoding="utf-8")
        for command in (["plan", "factors.json", "--kind", "explicit", "--from", "plan.csv"],
                        ["run", "factors.json", "--plan", "plan.csv", "--out", "out"]):
            check("a plan that no run satisfies", command, "plan.csv:3: breaks the constraint")
        check("no --runs", ["plan", "factors.json"], "--runs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
