#!/usr/bin/env python3
"""Checks rules for each header, from the text alone.

    tests/house/layers.py [ROOT]       checks ROOT/include/weir (the default: this repository's)
    tests/house/layers.py --self-test  shows, on small trees, that each rule can fail

The rules:
- A header lies in a room (a folder), or is version.hpp, weir.hpp, src.hpp or the face of a room. Line 1 is `// weir ROOM: <one
  sentence>`, or `// weir ROOM, internal: <one sentence>` if users are not to name what is inside.
- A header includes headers of its own room and of rooms below, without a cycle, and never a face. ROOMS has the order. No other
  room includes headers of the rooms in BESIDE.
- The face of a room, weir/ROOM.hpp, includes exactly the headers of the room that users may include. weir.hpp includes all faces
  of ROOMS. Headers in BY_NAME are exceptions: users include them by name, so that nobody else pays for them.
- Bodies of functions may be in .ipp files beside the header, which the header includes at its end. Each includes its header first. If no
  function in them is a template, the header includes them only without WEIR_SEPARATE_COMPILATION, and src.hpp includes them. No other
  file does. The rules for headers hold for them, too.
- A header guards itself, with `#pragma once` or a guard named after its path.
- `#if` and similar directives are only in platform/config.hpp, platform.hpp and system*.hpp, in cuda/runtime.hpp for the versions of CUDA,
  and in report/format.hpp for std::format. `#define` is only in config.hpp and version.hpp.
- Extensions of some compilers, as attributes of GNU and `__builtin_*`, are only there, too.
- The core takes everything that threads share, wait for and read from the platform (platform/platform.hpp), so that tests can
  replace it. Only platform.hpp, and the few headers that it consists of, name atomics, locks, threads, clocks or thread_local.
- No line of a header has more than 110 columns. (tests/house/weight.py limits the number of lines.)
"""

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import check  # noqa: E402

MAX_COLUMNS = 110
# From the bottom up: a room includes rooms on lines above its own.
ROOMS = """
platform
measure sampling
insight
executor
task
channel
run
stages
graph
report
"""
# Rooms for tests, or that need a library, and the highest room that each includes.
BESIDE = {"simulation": "executor", "asio": "task", "execution": "task", "cuda": "stages", "mpi": "report"}
BY_NAME = {"report": {"table.hpp"}, "insight": set()}  # room: what of it weir.hpp includes, instead of its face
# Headers in no face: they need a library, or (the last line) few programs need them.
NEEDS_A_LIBRARY = {"report/fmt.hpp", "report/format.hpp", "report/sqlite.hpp", "asio/awaited.hpp", "asio/native_awaitable.hpp",
                   "sampling/checkpoint_file.hpp", "task/stop_on_signals.hpp", "stages/batch_slots.hpp", "stages/block_pool.hpp"}
UMBRELLA = "weir.hpp"
VERSION = "version.hpp"
CONFIG = "platform/config.hpp"
SYSTEM_CALLS = ("platform/system.hpp", "platform/system_files.hpp", "platform/system_info.hpp",
                "platform/system_signals.hpp", "platform/system_windows.hpp", "platform/platform.hpp")
OF_CUDA = "cuda/runtime.hpp"  # its versions
OF_FORMAT = "report/format.hpp"  # whether there is std::format
OF_ASIO = "asio/awaited.hpp"  # the only one that asks whether Asio has coroutines
OF_STANDARD = ("platform/config.hpp", "task/stop_state.hpp")  # what there is at all
PAST_QT = ("asio/io_executor.hpp", "asio/pending.hpp")  # whose `emit` is a macro there
SRC = "src.hpp"  # what is compiled once for a program
# The parts of the platform, and the count of forks, which only the single thread of a child writes.
OF_SYSTEM = ("platform/system.hpp", "platform/platform.hpp", "platform/process.hpp", "platform/system_thread.hpp",
             "platform/tick_clock.hpp", "platform/system_signals.hpp", "platform/system_windows.hpp")
ADAPTERS = ("cuda/", "mpi/", "asio/", "execution/")
SYSTEM = re.compile(
    r"\bstd::(?:atomic\w*|(?:\w+_)?mutex|j?thread|this_thread|condition_variable\w*|\w+_semaphore|latch|barrier|"
    r"call_once|async)\b|\bthread_local\b|\bfutex_wa\w+|\b(?:steady|high_resolution)_clock\b|"
    r"\bdetail::this_thread\b")
# Extensions that not every compiler accepts; -Wpedantic finds the others.
EXTENSION = re.compile(r"\b__(?:builtin_|int128|typeof|attribute|asm|declspec|forceinline)\w*|\btypeof\b|\basm\b|\[\[(?:gnu|clang|msvc)::")
OF_BODIES = "!defined(WEIR_SEPARATE_COMPILATION)"
CONDITIONS = {"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif", "error", "warning"}
DEFINITIONS = {"define", "undef"}

# Comments and raw strings may look like directives. Plain strings and characters are matched, too, so that a quote or a `//`
# inside starts nothing.
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
        self.wide = [i for i, line in enumerate(text.split("\n"), 1) if len(line) > MAX_COLUMNS]
        self.directives = []  # (line number, keyword, rest)
        self.extensions = []  # (line number, what of one compiler's own)
        self.system = []  # (line number, what of the system's)
        for number, line in enumerate(code_of(text).split("\n"), 1):
            self.system += [(number, found) for found in SYSTEM.findall(line)]
            self.extensions += [(number, found) for found in EXTENSION.findall(line)]
            if match := re.match(r"\s*#\s*(\w+)\s*(.*?)\s*$", line):
                self.directives.append((number, match[1], match[2]))
        self.room = name.rpartition("/")[0]
        self.of = None  # the header whose bodies this file has
        if name.endswith(".ipp"):
            first = re.search(r"#include <weir/(\S+\.hpp)>", text)
            self.of = first[1] if first and first[1].rpartition("/")[0] == self.room else f"{name[:-4]}.hpp"
        first = re.match(r"// weir(?: (\w+)(, internal)?)?: \S", text)
        self.first_line_fits = first is not None and (first[1] or "") == self.room
        self.internal = first is not None and first[2] is not None

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

    def bodies(self):
        """The directives that include .ipp files, at the end, with the condition around them."""
        until = len(self.directives) - 1
        conditional = self.directives[until - 1:until] and self.directives[until - 1][1] == "endif"
        last = until - 1 if conditional else until
        first = last
        while first > 0 and self.directives[first - 1][1] == "include" and self.directives[first - 1][2].endswith(".ipp>"):
            first -= 1
        if conditional and self.directives[first - 1][1:] == ("if", OF_BODIES):
            return self.directives[first - 1:until]
        return [] if conditional else self.directives[first:until]

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


def height_of():
    """{room: its place from below}. What is beside lies higher than what it includes, and nothing above it."""
    heights = {room: i for i, line in enumerate(ROOMS.split("\n")) for room in line.split()}
    return heights | {room: heights[highest] + 0.5 for room, highest in BESIDE.items()}


HEIGHTS = height_of()


def check_include(header, other):
    """What is wrong with `header`, in a room, including `other`, or None."""
    if other.name == VERSION or header.room == other.room:
        return None  # cycles are looked for in all of them together
    if not other.room:
        return "only users, tests and weir.hpp include a face"
    if other.room in BESIDE:
        return f"{other.room} is beside the house: no other room includes it"
    if HEIGHTS.get(other.room, 0) >= HEIGHTS.get(header.room, 99):
        return f"{other.room} is not below {header.room}; only rooms below are allowed"
    return None


def check_text(header):
    """The rules that need no other header."""
    if header.room and header.room not in HEIGHTS:
        yield 1, f"{header.room} is no room; see ROOMS in tests/house/layers.py"
    if not header.first_line_fits:
        room = f" {header.room}" if header.room else ""
        yield 1, f"the first line has to be `// weir{room}: <one sentence>`, or `, internal` behind the room"
    for number in header.wide:
        yield number, f"more than {MAX_COLUMNS} columns"
    if header.name not in OF_SYSTEM and not header.name.startswith(ADAPTERS):
        for number, what in header.system:
            yield number, f"`{what}` goes past the platform; see platform/platform.hpp"
    if header.name not in (CONFIG, *SYSTEM_CALLS):
        for number, what in header.extensions:
            yield number, f"`{what}` is not for every compiler: it belongs into {CONFIG} or {SYSTEM_CALLS[0]}"
    body = header.body()
    if body is None:
        yield 2, f"neither `#pragma once` nor a guard named {header.guard()}"
        body = header.directives
    depth = 0
    for number, keyword, rest in [d for d in body if d not in header.bodies()]:
        depth += keyword.startswith("if") - (keyword == "endif")
        if depth > 0 and keyword == "include" and rest.startswith("<weir/"):
            yield number, f"{rest} is included on a condition: a single header can't keep that"
        if keyword in CONDITIONS and header.name not in (CONFIG, *SYSTEM_CALLS, OF_CUDA, OF_FORMAT, OF_ASIO, *OF_STANDARD):
            yield number, f"`#{keyword}` belongs into {CONFIG} or {SYSTEM_CALLS[0]}"
        if keyword in DEFINITIONS and header.name not in (CONFIG, VERSION, *PAST_QT):
            yield number, f"`#{keyword}` belongs into {CONFIG} or {VERSION}"


def faces_of(headers):
    """{face or umbrella: what it has to include}."""
    rooms = sorted({h.room for h in headers.values() if h.room in HEIGHTS})
    faces = {}
    for room in rooms:
        shown = [h.name for h in headers.values()
                 if h.room == room and not h.internal and h.name not in NEEDS_A_LIBRARY]
        if shown:
            faces[f"{room}.hpp"] = shown
    core = [f for f in faces if f[:-len(".hpp")] not in (*BESIDE, *BY_NAME)]
    named = [f"{room}/{name}" for room, names in BY_NAME.items() for name in names if f"{room}/{name}" in headers]
    faces[UMBRELLA] = [*core, *named, VERSION]
    return faces


def check_faces(headers):
    faces = faces_of(headers)
    for name, shown in faces.items():
        if name not in headers:
            yield name, 1, "missing"
            continue
        listed = [inner for _, inner, _ in headers[name].includes()]
        for inner in sorted({f"weir/{n}" for n in shown} - set(listed)):
            yield name, 1, f"does not include <{inner}>"
        for inner in sorted(set(listed) - {f"weir/{n}" for n in shown}):
            yield name, 1, f"includes <{inner}>, which is not for everybody who includes it"
        if listed != sorted(listed):
            yield name, 1, "its includes are not sorted"
    for name in sorted(n for n, h in headers.items() if not h.room and n not in faces and n not in (VERSION, SRC)):
        yield name, 1, "is in no room, and no face of one"


def check_bodies(headers):
    """Each .ipp file is included by its header, at the end, without WEIR_SEPARATE_COMPILATION, and by src.hpp with it."""
    for name, header in headers.items():
        if header.of is None:
            continue
        if [inner for _, inner, _ in header.includes()][:1] != [f"weir/{header.of}"]:
            yield name, 1, f"does not include <weir/{header.of}> first"
        bodies = headers[header.of].bodies() if header.of in headers else []
        if ("include", f"<weir/{name}>") not in [d[1:] for d in bodies]:
            yield name, 1, f"{header.of} does not end with its include, alone or between #if {OF_BODIES} and #endif"
        conditional = bodies[-1:] and bodies[-1][1] == "endif"
        if conditional and SRC in headers and f"weir/{name}" not in [inner for _, inner, _ in headers[SRC].includes()]:
            yield SRC, 1, f"does not include <weir/{name}>"


def problems_in(root):
    """Every breach of a rule, as `file:line: what is wrong`."""
    folder = Path(root) / "include" / "weir"
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.[hi]pp"))
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
                if inner != header.of:
                    edges.setdefault(header.name, []).append(inner)
                if headers[inner].of is not None and header.name not in (headers[inner].of, SRC):
                    found.append((header.name, number, f"<{name}> is for {headers[inner].of} and {SRC} only"))
                if header.room and (wrong := check_include(header, headers[inner])):
                    found.append((header.name, number, f"<{name}>: {wrong}"))
    if cycle := cycle_in(edges):
        found.append((cycle[0], 1, "includes itself: " + " -> ".join(cycle)))
    found += check_faces({name: header for name, header in headers.items() if header.of is None})
    found += check_bodies(headers)
    return [f"include/weir/{name}:{number}: {text}" for name, number, text in found]


GOOD = {
    VERSION: ["", "#pragma once", "#define WEIR_VERSION_MAJOR 0"],
    CONFIG: [" platform, internal", "#pragma once", "#if defined(__linux__)", "#define WEIR_X 1", "#endif"],
    "platform/ring.hpp": [" platform, internal", "#pragma once", "#include <weir/platform/config.hpp>"],
    "platform/pair.hpp": [" platform, internal", "#ifndef WEIR_PLATFORM_PAIR_HPP", "#define WEIR_PLATFORM_PAIR_HPP",
                          "#if !defined(WEIR_SEPARATE_COMPILATION)", "#include <weir/platform/left.ipp>",
                          "#include <weir/platform/right.ipp>", "#endif", "#endif"],
    "platform/left.ipp": [" platform, internal", "#pragma once", "#include <weir/platform/pair.hpp>"],
    "platform/right.ipp": [" platform, internal", "#pragma once", "#include <weir/platform/pair.hpp>"],
    "measure/clock.hpp": [" measure", "#ifndef WEIR_MEASURE_CLOCK_HPP", "#define WEIR_MEASURE_CLOCK_HPP",
                          "#include <chrono>", "/*", "#if 0", "*/", 'auto x = R"(', "#define Y", ')";', "#endif"],
    "measure.hpp": ["", "#pragma once", "#include <weir/measure/clock.hpp>"],
    "report/table.hpp": [" report", "#pragma once", "#include <weir/measure/clock.hpp>", "#include <weir/version.hpp>"],
    "report/log.hpp": [" report", "#pragma once", "#include <weir/measure/clock.hpp>"],
    "report/fmt.hpp": [" report", "#pragma once", "#include <weir/report/table.hpp>"],
    "report.hpp": ["", "#pragma once", "#include <weir/report/log.hpp>", "#include <weir/report/table.hpp>"],
    "cuda/stream.hpp": [" cuda", "#pragma once", "#include <weir/measure/clock.hpp>", "std::mutex lock;"],
    "cuda.hpp": ["", "#pragma once", "#include <weir/cuda/stream.hpp>"],
    UMBRELLA: ["", "#pragma once", "#include <weir/measure.hpp>", "#include <weir/report/table.hpp>",
               "#include <weir/version.hpp>"],
}
CLOCK, RING = "measure/clock.hpp", "platform/ring.hpp"
ENDS = ["#if !defined(WEIR_SEPARATE_COMPILATION)", "#include <weir/platform/ring.ipp>", "#endif"]
RINGS = [" platform, internal", "#ifndef WEIR_PLATFORM_RING_HPP", "#define WEIR_PLATFORM_RING_HPP"]

# Changes of the good tree, and the expected problems.
BAD = [
    (CLOCK, [" report", "#pragma once"], "the first line has to be"),
    (CLOCK, ["", "#pragma once"], "the first line has to be"),
    (CLOCK, [" measure", "#pragma once", "#include <weir/report/table.hpp>"], "only rooms below"),
    ("sampling/draw.hpp", [" sampling", "#pragma once", "#include <weir/measure/clock.hpp>"], "only rooms below"),
    (CLOCK, [" measure", "#pragma once", "#include <weir/gone.hpp>"], "does not exist"),
    (CLOCK, [" measure", "#pragma once", '#include "version.hpp"'], "included as <weir/"),
    ("report/table.hpp", [" report", "#pragma once", "#include <weir/measure.hpp>"], "include a face"),
    ("report/table.hpp", [" report", "#pragma once", "#include <weir/cuda/stream.hpp>"], "beside the house"),
    (CONFIG, [" platform, internal", "#pragma once", "#include <weir/platform/ring.hpp>"], "includes itself"),
    ("cellar/ring.hpp", [" cellar", "#pragma once"], "cellar is no room"),
    ("ring.hpp", ["", "#pragma once"], "is in no room"),
    ("measure/stats.hpp", [" measure", "#pragma once"], "does not include <weir/measure/stats.hpp>"),
    ("measure.hpp", None, "missing"),
    ("report.hpp", GOOD["report.hpp"] + ["#include <weir/report/zfmt.hpp>"], "does not exist"),
    ("report.hpp", GOOD["report.hpp"][:2] + ["#include <weir/report/fmt.hpp>"] + GOOD["report.hpp"][2:], "not for everybody"),
    ("task/task.hpp", [" task", "#pragma once"], "missing"),
    (UMBRELLA, GOOD[UMBRELLA][:2] + GOOD[UMBRELLA][:1:-1], "not sorted"),
    (UMBRELLA, GOOD[UMBRELLA] + ["#include <weir/report/log.hpp>"], "not for everybody"),
    (CLOCK, [" measure", "#pragma once", "// " + "x" * MAX_COLUMNS], "more than 110 columns"),
    ("platform/ring.ipp", [" platform, internal", "#pragma once", "#include <weir/platform/ring.hpp>"], "does not end with"),
    ("platform/ring.ipp", [" platform, internal", "#pragma once"], "does not include <weir/platform/ring.hpp> first"),
    (CONFIG, [" platform, internal", "#pragma once", "#include <weir/platform/ring.ipp>"], "does not exist"),
    (RING, RINGS + ENDS[:2] + ["int i;", "#else", "#endif", "#endif"], "`#if` belongs into"),
    (SYSTEM_CALLS[0], [" platform, internal", "#pragma once", "#if 1", "#include <weir/platform/ring.hpp>", "#endif"], "on a condition"),
    (CLOCK, [" measure"], "neither `#pragma once`"),
    (CLOCK, [" measure", "#ifndef WEIR_HPP", "#define WEIR_HPP", "#endif"], "neither `#pragma once`"),
    (CLOCK, [" measure", "#pragma once", "#ifdef NDEBUG", "#endif"], "`#ifdef` belongs into"),
    (CLOCK, [" measure", "#pragma once", "  # define X 1"], "`#define` belongs into"),
    (VERSION, ["", "#pragma once", "#if 1", "#endif"], "`#if` belongs into"),
    (CLOCK, [" measure", "#pragma once", "std::mutex lock_;"], "`std::mutex` goes past the platform"),
    (CLOCK, [" measure", "#pragma once", "static thread_local int n;"], "`thread_local` goes past the platform"),
    (CLOCK, [" measure", "#pragma once", "[[gnu::noinline]] void f();"], "`[[gnu::` is not for every compiler"),
    (CLOCK, [" measure", "#pragma once", "__int128 n;"], "`__int128` is not for every compiler"),
]


def problems_of_tree(tree):
    with tempfile.TemporaryDirectory() as root:
        for name, lines in tree.items():
            if lines is None:
                continue
            room, *rest = lines
            path = Path(root) / "include" / "weir" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join([f"// weir{room}: a header", *rest]) + "\n")
        return problems_in(root)


def self_test():
    failures = [f"the good tree: {problem}" for problem in problems_of_tree(GOOD)]
    for name, content, expected in BAD:
        found = problems_of_tree({**GOOD, name: content})
        if not any(expected in problem for problem in found):
            failures.append(f"{name}: {(content or [])[:4]}: not noticed: {expected}; found: {found}")
    return failures


if __name__ == "__main__":
    sys.exit(check.run(__doc__, problems_in, self_test))
