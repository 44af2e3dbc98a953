#!/usr/bin/env python3
"""Checks the cost of including weir, from the output of the preprocessor. It measures no time.

    tests/house/weight.py [COMPILER [FLAG...]]  (the default: c++)
    tests/house/weight.py --self-test           shows that each rule can fail

- weir.hpp, stages/pipeline.hpp and task/task.hpp include no more lines of this library (without comments) than the budget
  below, and no standard header that takes long to compile.
- Half of the headers in include/weir have at most 250 lines (a reader prefers one header about an idea to six of 40 lines), and none
  has more than 300.

bench/compile_time measures the time. If a budget must grow, change it here, and give the reason in the commit. A header
that most programs don't need is better.
"""

import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MEDIAN_LINES, MOST_LINES = 250, 300

# Each is 0.05 s of g++ 12 or more that nothing else here needs; see measure/clock.hpp for what stands in for
# <chrono>, sampling/weighted_sampler.hpp for <cmath>, stages/source.hpp for <ranges>, platform/numbers.hpp for <algorithm>.
HEAVY = {
    "chrono", "cmath", "condition_variable", "filesystem", "format", "fstream", "future", "iomanip", "iostream",
    "istream", "locale", "map", "random", "ranges", "regex", "sstream", "unordered_map", "unordered_set",
}

# (header, the standard headers that nothing of it includes, lines of this library)
BUDGETS = [
    ("weir.hpp", HEAVY, 26800),
    ("stages/pipeline.hpp", HEAVY | {"thread"}, 18400),
    ("task/task.hpp", HEAVY | {"algorithm", "deque", "functional", "memory", "ostream", "set", "thread"}, 3270),
]

MARKER = re.compile(r'#(?:line)? (\d+) "([^"]*)"((?: \d)*)')


def read(output):
    """How many lines of output are of include/weir, and {standard header: who of there includes it}.

    A header that something else has brought before is not seen again, and costs nothing then.
    """
    lines, included, stack = 0, {}, [""]
    for line in output.split("\n"):
        if match := MARKER.match(line):
            name, flags = match[2].replace("\\\\", "/"), match[3].split()
            if "1" in flags:
                if ours(stack[-1]) and not ours(name):
                    included.setdefault(Path(name).name, Path(stack[-1]).name)
                stack.append(name)
            elif "2" in flags and len(stack) > 1:
                stack.pop()
            stack[-1] = name
        elif line.strip() and ours(stack[-1]):
            lines += 1
    return lines, included


def ours(name):
    return "include/weir/" in name


def problems_of_output(header, output, unwanted, budget):
    lines, included = read(output)
    if lines == 0:
        yield f"{header}: the preprocessor put out nothing of include/weir; is it the right one?"
    for name in sorted(unwanted & included.keys()):
        yield f"{header}: {included[name]} includes <{name}>, which takes long to compile; do without it"
    if lines > budget:
        yield f"{header}: {lines} lines of this library; the budget is {budget} (see the top of weight.py)"


def problems_of_sizes(sizes):
    """Of {header: lines}."""
    for name, lines in sorted(sizes.items()):
        if lines > MOST_LINES:
            yield f"{name}: {lines} lines; {MOST_LINES} are allowed. Split it by idea"
    if (median := statistics.median(sizes.values())) > MEDIAN_LINES:
        yield f"the median header has {median:g} lines; {MEDIAN_LINES} are allowed"


def check(command):
    problems = []
    for header, unwanted, budget in BUDGETS:
        run = subprocess.run(
            [*command, "-std=c++20", f"-I{ROOT}/include", "-E", "-x", "c++", "-"],
            input=f"#include <weir/{header}>\n", capture_output=True, text=True,
        )
        if run.returncode != 0:
            problems.append(f"{header}: {run.stderr}")
        else:
            problems += problems_of_output(header, run.stdout, unwanted, budget)
    folder = ROOT / "include" / "weir"
    return problems + list(
        problems_of_sizes({p.name: p.read_text(encoding="utf-8").count("\n") for p in folder.rglob("*.[hi]pp")})
    )


OUTPUT = """# 1 "<stdin>"
# 1 "a/include/weir/x.hpp" 1

# 1 "/usr/include/c++/12/cmath" 1 3
double std_line;
# 1 "/usr/include/c++/12/map" 1 3
# 5 "/usr/include/c++/12/cmath" 2 3
# 8 "a/include/weir/x.hpp" 2
int a;

int b;
# 2 "<stdin>" 2
int user;
"""


def self_test():
    def says(text, problems):
        return any(text in problem for problem in problems)

    output = lambda *arguments: list(problems_of_output("x.hpp", *arguments))
    expected = {
        "the good one": not output(OUTPUT, {"map"}, 2),
        "a budget": says("2 lines", output(OUTPUT, set(), 1)),
        "a heavy header": says("x.hpp includes <cmath>", output(OUTPUT, {"cmath"}, 2)),
        "no output": says("put out nothing", output("", set(), 1)),
        "good sizes": not list(problems_of_sizes({"a": 120, "b": 300, "c": 1})),
        "a long header": says("Split it", problems_of_sizes({"a": 301, "b": 1, "c": 1})),
        "a high median": says("median header has 251 ", problems_of_sizes({"a": 250, "b": 252})),
    }
    return [f"self-test: {name}" for name, holds in expected.items() if not holds]


if __name__ == "__main__":
    arguments = sys.argv[1:]
    found = self_test() if arguments == ["--self-test"] else check(arguments or ["c++"])
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
