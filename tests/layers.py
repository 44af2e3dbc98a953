#!/usr/bin/env python3
"""Checks the house rules that hold for every header, reading nothing but the text.

    tests/layers.py [ROOT]       checks ROOT/include/weir (the default: this repository's)
    tests/layers.py --self-test  shows, on small trees, that each rule can fail

The rules:
- Line 1 is `// weir floor N: <one sentence>`. A header includes only headers of lower floors. Those of
  detail/, all floor 0, may include each other, without a cycle, and never a public header.
- weir.hpp has the top floor and includes every public core header, sorted, but none of those that only
  look on: the watchdog, insight/, and of report/ all but lines and the table. Their users name them, and nobody
  else pays for them. The core never includes what is in cuda/, mpi/ or asio/, format.hpp and
  fmt.hpp, nor simulation.hpp and what is behind it, which is for tests.
- A header guards itself: `#pragma once`, or a guard named after its path.
- `#if` and its kin stand in detail/config.hpp only, and in cuda/runtime.hpp for the versions of CUDA; `#define` there and in version.hpp only.
- What threads share, wait for and read comes from the platform (detail/platform.hpp), so that tests can put
  another one under it: the core names no atomic, lock, thread, clock or thread_local of the system's but there,
  and in the few headers that that is made of.
- No header has more than 400 lines, and no line of one more than 110 columns.
"""

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))
import check  # noqa: E402

MAX_LINES, MAX_COLUMNS = 400, 110
UMBRELLA = "weir.hpp"
VERSION = "version.hpp"
CONFIG = "detail/config.hpp"
OF_CUDA = "cuda/runtime.hpp"  # its versions
OPTIONAL = ("cuda/", "mpi/", "asio/", "fmt.hpp", "format.hpp", "simulation")
BY_NAME = ("insight/", "report/", "deadlock_report.hpp", "watchdog.hpp")
NOT_BY_NAME = ("report/line.hpp", "report/table.hpp", "report/units.hpp")
# What the platform is made of, and the count of forks, which no thread but the only one of a child writes.
OF_SYSTEM = ("detail/config.hpp", "detail/platform.hpp", "detail/process.hpp", "detail/system_thread.hpp",
             "detail/tick_clock.hpp")
ADAPTERS = ("cuda/", "mpi/", "asio/")
SYSTEM = re.compile(
    r"\bstd::(?:atomic\w*|(?:\w+_)?mutex|j?thread|this_thread|condition_variable\w*|\w+_semaphore|latch|barrier|"
    r"call_once|async)\b|\bthread_local\b|\bfutex_wa\w+|\b(?:steady|high_resolution)_clock\b|"
    r"\bdetail::this_thread\b")
CONDITIONS = {"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif", "error", "warning"}
DEFINITIONS = {"define", "undef"}

# What may look like a directive and is none: comments and raw strings. Plain strings and characters
# are matched so that a quote or a `//` inside of one starts nothing.
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]*)\(.*?\)(?P=d)"|(?P<keep>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])')""",
    re.DOTALL,
)


def code_of(text):
    """The text with comments and raw strings blanked out, line by line as before."""
    return TOKEN.sub(lambda m: m["keep"] or "\n" * m[0].count("\n"), text)


class Header:
    def __init__(self, path, name):
        text = path.read_text(encoding="utf-8")
        self.name = name  # relative to include/weir
        self.lines = text.count("\n")
        self.wide = [i for i, line in enumerate(text.split("\n"), 1) if len(line) > MAX_COLUMNS]
        self.directives = []  # (line number, keyword, rest)
        self.system = []  # (line number, what of the system's)
        for number, line in enumerate(code_of(text).split("\n"), 1):
            self.system += [(number, found) for found in SYSTEM.findall(line)]
            if match := re.match(r"\s*#\s*(\w+)\s*(.*?)\s*$", line):
                self.directives.append((number, match[1], match[2]))
        first = re.match(r"// weir floor (\d+): \S", text)
        self.floor = int(first[1]) if first else None
        self.detail = name.startswith("detail/")
        self.optional = name.startswith(OPTIONAL)
        self.by_name = name.startswith(BY_NAME) and name not in NOT_BY_NAME

    def guard(self):
        return "WEIR_" + re.sub(r"\W", "_", self.name).upper()

    def body(self):
        """The directives without those that guard the header; None if nothing guards it."""
        found = self.directives
        if any(d[1:] == ("pragma", "once") for d in found):
            return [d for d in found if d[1:] != ("pragma", "once")]
        opening = [("ifndef", self.guard()), ("define", self.guard())]
        if [d[1:] for d in found[:2]] == opening and found[-1][1] == "endif":
            return found[2:-1]
        return None

    def includes(self):
        """(line number, what stands between the brackets or quotes, quoted?) of each include."""
        for number, keyword, rest in self.directives:
            if keyword == "include" and (match := re.match(r'([<"])([^>"]*)[>"]', rest)):
                yield number, match[2], match[1] == '"'


def cycle_in(edges):
    """A cycle as a list of names, its first one repeated at the end; None if there is none."""
    done, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name):] + [name]
        if name in done:
            return None
        path.append(name)
        for other in edges.get(name, ()):
            if found := visit(other):
                return found
        done.add(path.pop())
        return None

    return next((found for name in sorted(edges) if (found := visit(name))), None)


def check_include(header, other):
    """What is wrong with `header` including `other`, or None."""
    if header.detail and not other.detail:
        return "detail/ never includes a public header"
    if other.optional and not header.optional:
        return "the core never includes an optional header"
    if header.detail and other.detail:
        return None  # same floor; cycles are looked for in all of them together
    if None not in (header.floor, other.floor) and other.floor >= header.floor:
        return f"floor {header.floor} includes floor {other.floor}; only lower floors are allowed"
    return None


def check_text(header):
    """The rules that need no other header."""
    if header.floor is None:
        yield 1, "the first line has to be `// weir floor N: <one sentence>`"
    elif (header.detail or header.name == VERSION) and header.floor != 0:
        yield 1, "detail/ and version.hpp are floor 0"
    if header.lines > MAX_LINES:
        yield header.lines, f"{header.lines} lines; {MAX_LINES} are allowed"
    for number in header.wide:
        yield number, f"more than {MAX_COLUMNS} columns"
    if header.name not in OF_SYSTEM and not header.name.startswith(ADAPTERS):
        for number, what in header.system:
            yield number, f"`{what}` goes past the platform; see detail/platform.hpp"
    body = header.body()
    if body is None:
        yield 2, f"neither `#pragma once` nor a guard named {header.guard()}"
        body = header.directives
    for number, keyword, _ in body:
        if keyword in CONDITIONS and header.name not in (CONFIG, OF_CUDA):
            yield number, f"`#{keyword}` belongs into {CONFIG}"
        if keyword in DEFINITIONS and header.name not in (CONFIG, VERSION):
            yield number, f"`#{keyword}` belongs into {CONFIG} or {VERSION}"


def check_umbrella(headers):
    umbrella = headers.get(UMBRELLA)
    if umbrella is None:
        yield UMBRELLA, 1, "missing"
        return
    core = [h for h in headers.values() if not (h.detail or h.optional or h is umbrella)]
    for header in core:
        if None not in (header.floor, umbrella.floor) and header.floor >= umbrella.floor:
            yield header.name, 1, f"floor {header.floor}; {UMBRELLA} has to be above it"
    listed = [name for _, name, _ in umbrella.includes()]
    for header in core:
        if f"weir/{header.name}" not in listed and not header.by_name:
            yield UMBRELLA, 1, f"does not include <weir/{header.name}>"
        if f"weir/{header.name}" in listed and header.by_name:
            yield UMBRELLA, 1, f"includes <weir/{header.name}>, which its users include by name"
    if listed != sorted(listed):
        yield UMBRELLA, 1, "its includes are not sorted"


def problems_in(root):
    """Every breach of a rule, as `file:line: what is wrong`."""
    folder = Path(root) / "include" / "weir"
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.hpp"))
    headers = {name: Header(folder / name, name) for name in names}
    found, edges = [], {}
    for header in headers.values():
        found += [(header.name, number, text) for number, text in check_text(header)]
        for number, name, quoted in header.includes():
            inner = name.removeprefix("weir/")
            if quoted:
                found.append((header.name, number, "own headers are included as <weir/...>"))
            elif inner == name:
                continue  # not ours
            elif inner not in headers:
                found.append((header.name, number, f"<{name}> does not exist"))
            else:
                edges.setdefault(header.name, []).append(inner)
                if wrong := check_include(header, headers[inner]):
                    found.append((header.name, number, f"<{name}>: {wrong}"))
    if cycle := cycle_in(edges):
        found.append((cycle[0], 1, "includes itself: " + " -> ".join(cycle)))
    found += check_umbrella(headers)
    return [f"include/weir/{name}:{number}: {text}" for name, number, text in found]


GOOD = {
    VERSION: ["0", "#pragma once", "#define WEIR_VERSION_MAJOR 0"],
    CONFIG: ["0", "#pragma once", "#if defined(__linux__)", "#define WEIR_X 1", "#endif"],
    "detail/ring.hpp": ["0", "#pragma once", "#include <weir/detail/config.hpp>"],
    "clock.hpp": ["1", "#ifndef WEIR_CLOCK_HPP", "#define WEIR_CLOCK_HPP", "#include <chrono>",
                  "/*", "#if 0", "*/", 'auto x = R"(', "#define Y", ')";', "#endif"],
    "report/table.hpp": ["2", "#pragma once", "#include <weir/clock.hpp>", "#include <weir/version.hpp>"],
    "report/log.hpp": ["2", "#pragma once", "#include <weir/clock.hpp>"],
    "cuda/stream.hpp": ["2", "#pragma once", "#include <weir/clock.hpp>", "std::mutex lock;"],
    UMBRELLA: ["3", "#pragma once", "#include <weir/clock.hpp>", "#include <weir/report/table.hpp>",
               "#include <weir/version.hpp>"],
}

# What is done to the good tree, and what the check then has to say.
BAD = [
    ("clock.hpp", ["", "#pragma once"], "the first line has to be"),
    ("detail/ring.hpp", ["1", "#pragma once"], "detail/ and version.hpp are floor 0"),
    ("clock.hpp", ["2", "#pragma once", "#include <weir/report/table.hpp>"], "only lower floors"),
    ("clock.hpp", ["1", "#pragma once", "#include <weir/gone.hpp>"], "does not exist"),
    ("clock.hpp", ["1", "#pragma once", '#include "version.hpp"'], "included as <weir/"),
    ("clock.hpp", ["3", "#pragma once"], "weir.hpp has to be above it"),
    ("clock.hpp", ["2", "#pragma once", "#include <weir/cuda/stream.hpp>"], "an optional header"),
    ("detail/config.hpp", ["0", "#pragma once", "#include <weir/detail/ring.hpp>"], "includes itself"),
    ("detail/ring.hpp", ["0", "#pragma once", "#include <weir/version.hpp>"], "a public header"),
    ("task.hpp", ["1", "#pragma once"], "does not include <weir/task.hpp>"),
    (UMBRELLA, GOOD[UMBRELLA][:2] + GOOD[UMBRELLA][:1:-1], "not sorted"),
    (UMBRELLA, GOOD[UMBRELLA] + ["#include <weir/report/log.hpp>"], "include by name"),
    ("clock.hpp", ["1", "#pragma once"] + ["//"] * MAX_LINES, "400 are allowed"),
    ("clock.hpp", ["1", "#pragma once", "// " + "x" * MAX_COLUMNS], "more than 110 columns"),
    ("clock.hpp", ["1"], "neither `#pragma once`"),
    ("clock.hpp", ["1", "#ifndef WEIR_HPP", "#define WEIR_HPP", "#endif"], "neither `#pragma once`"),
    ("clock.hpp", ["1", "#pragma once", "#ifdef NDEBUG", "#endif"], "`#ifdef` belongs into"),
    ("clock.hpp", ["1", "#pragma once", "  # define X 1"], "`#define` belongs into"),
    (VERSION, ["0", "#pragma once", "#if 1", "#endif"], "`#if` belongs into"),
    ("clock.hpp", ["1", "#pragma once", "std::mutex lock_;"], "`std::mutex` goes past the platform"),
    ("clock.hpp", ["1", "#pragma once", "static thread_local int n;"], "`thread_local` goes past the platform"),
]


def problems_of_tree(tree):
    with tempfile.TemporaryDirectory() as root:
        for name, (floor, *rest) in tree.items():
            path = Path(root) / "include" / "weir" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join([f"// weir floor {floor}: a header", *rest]) + "\n")
        return problems_in(root)


def self_test():
    failures = [f"the good tree: {problem}" for problem in problems_of_tree(GOOD)]
    for name, content, expected in BAD:
        found = problems_of_tree({**GOOD, name: content})
        if not any(expected in problem for problem in found):
            failures.append(f"{name}: {content[:4]}: not noticed: {expected}; found: {found}")
    return failures


if __name__ == "__main__":
    sys.exit(check.run(__doc__, problems_in, self_test))
