#!/usr/bin/env python3
"""Judges the repository as a newcomer would, row by row. Exits with 1 if a row is missed.

    tests/house/rubric.py [ROOT]                        the rows that need only the text (the default: this repository)
    tests/house/rubric.py --compile COMPILER [FLAG...]  also the rows that need a compiler: the command in README.md, and
                                                        the processor time of headers as a multiple of <thread>
    tests/house/rubric.py --self-test                   shows, on a changed copy of this repository, that each row can
                                                        be missed

A row is a function that takes the root and returns the measured figure and a list of problems. Rows that another script of
this folder checks completely call that script, and print its problems.
"""

import contextlib
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import docs  # noqa: E402
import documents  # noqa: E402
import house  # noqa: E402
import layers  # noqa: E402
import refusals  # noqa: E402
import weight  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
COMMAND = re.compile(r"^`(g\+\+ -std=c\+\+20 -Iinclude (examples/\S+\.cpp) -pthread && \./a\.out)`", re.MULTILINE)
MOST_OF_CMAKE, MOST_OF_MESON = 80, 40
SECONDS_TO_SUCCESS = 60
# Maximum processor time to compile, as a multiple of <thread>.
COSTS = {"weir.hpp": 2.8, "task/task.hpp": 1.05}


def text_of(root, name):
    path = root / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def headers_of(root):
    return {name: text_of(root, f"include/weir/{name}") for name in house.header_names(root)}


def promise(root):
    """README's first lines say what the library guarantees."""
    first = text_of(root, "README.md").splitlines()[:5]
    at = next((i for i, line in enumerate(first, 1) if re.search(r"\b(promises|guarantees)\b", line)), None)
    return f"line {at} of README.md", [] if at else ["README.md: no promise in its first five lines"]


def first_success(root):
    """Code by line 20, and one command that shows what it does."""
    text = text_of(root, "README.md")
    lines = text.splitlines()
    at = next((i for i, line in enumerate(lines, 1) if line.startswith("```cpp")), None)
    wrong = [] if at and at <= 20 else ["README.md: no code by line 20"]
    command = COMMAND.search(text)
    if not command or not (root / command[2]).is_file():
        wrong.append("README.md: no line with the one command that compiles and runs an example")
    return f"code at line {at}", wrong


def tree(root):
    """Each header's first line names its room, and include/weir/README.md has a row for each room."""
    headers, text = headers_of(root), text_of(root, "include/weir/README.md")
    named = [n for n, code in headers.items() if re.match(r"// weir[ :,\w]*: \S", code)]
    wrong = [f"include/weir/{n}:1: doesn't say which room it is" for n in headers if n not in named]
    wrong += [f"include/weir/README.md: says nothing of {room}/" for room in layers.ROOMS.split() if f"| `{room}/` |" not in text]
    return f"{len(named)} of {len(headers)} headers name their room", wrong


def edges_of(root):
    """{(folder, folder)} that include one another, for headers in folders."""
    return {(name.split("/")[0], inner.split("/")[1]) for name, code in headers_of(root).items()
            for inner in house.own_includes(code) if "/" in name and inner.count("/") == 2}


def one_way(root):
    """No two folders include each other, and no header includes upwards or itself."""
    edges = edges_of(root)
    pairs = sorted((a, b) for a, b in edges if a < b and (b, a) in edges)
    wrong = [f"include/weir: {a}/ and {b}/ include each other" for a, b in pairs]
    return f"{len(pairs)} pairs of folders both ways", wrong + [p for p in layers.problems_in(root) if "includ" in p]


def usable_alone(root):
    """Each header that users may include has a program of its own that needs no other."""
    wrong = [*house.not_alone(root), *house.not_shown_alone(root, house.NOT_ALONE)]
    return f"{len(house.alone(root))} headers shown alone", wrong


def size(root):
    """Half of the headers have 220 lines at most, and none has more than 300."""
    sizes = {f"include/weir/{name}": code.count("\n") for name, code in headers_of(root).items()}
    figure = f"median {statistics.median(sizes.values()):g}, longest {max(sizes.values())} lines"
    return figure, list(weight.problems_of_sizes(sizes))


def misuse(root):
    """What is wrong is refused by a sentence, which is tested with two compilers."""
    wrong = list(refusals.problems_in(root))
    tests = text_of(root, "tests/CMakeLists.txt")
    wrong += [f"tests/CMakeLists.txt: no test {name}" for name in ("fail.each_is_refused", "fail.by_another_compiler")
              if f"NAME {name} " not in tests]
    return f"{len(list(root.glob('tests/refusals/*.fail.cpp')))} programs that are refused", wrong


def docstrings(root):
    """Docstrings say all that applies; where a coroutine is suspended, a comment says where it is resumed."""
    wrong = [*docs.problems_in(root), *house.unsaid_resumptions(root)]
    said = sum(len(re.findall(r"///.*\bResumes:", code)) for code in headers_of(root).values())
    return f"{len(wrong)} parts missing, {said} docstrings with `Resumes:`", wrong


def atomics(root):
    """Each atomic operation that isn't seq_cst is argued for."""
    weak = len(list(house.weak_orders(root)))
    return f"{weak} orders weaker than seq_cst", list(house.unargued(root))


def mirrored(root):
    """Tests mirror the headers, have as many lines at least, and run with sanitizers."""
    wrong = list(house.unmirrored(root, house.ELSEWHERE))
    lines = sum(code.count("\n") for code in headers_of(root).values())
    tests = sum(text_of(root, p.relative_to(root)).count("\n") for p in root.glob("tests/**/*.[ch]pp"))
    if tests < lines:
        wrong.append(f"tests: {tests} lines, for {lines} of headers")
    steps = re.search(r"^steps=\((.*)\)", text_of(root, ".ci/run"), re.MULTILINE)
    wrong += [f".ci/run: has no step {step}" for step in ("thread_sanitizer", "address_sanitizer")
              if not steps or step not in steps[1].split()]
    return f"{tests / lines:.2f} lines of tests a line", wrong


def compiled_pages(root):
    """README's code stands in an example, which is compiled and run."""
    text = text_of(root, "README.md")
    wrong = documents.wrong_blocks(text, lambda name: text_of(root, name) or None)
    return f"{len(documents.BLOCK.findall(text))} blocks of code", [f"README.md: {p}" for p in wrong]


def build_files(root):
    """Short build files, which give users no flag, and are installed and fetched in a test."""
    cmake, meson, doors = (text_of(root, n) for n in ("CMakeLists.txt", "meson.build", "tests/packaging/run"))
    wrong = [f"{name}: {text.count(chr(10))} lines; {most} are allowed" for name, text, most in
             (("CMakeLists.txt", cmake, MOST_OF_CMAKE), ("meson.build", meson, MOST_OF_MESON))
             if text.count("\n") > most]
    flags = re.findall(r"\b(add_compile_options|add_definitions|CMAKE_CXX_FLAGS|target_compile_options|"
                       r"target_compile_definitions)\b", cmake)
    wrong += [f"CMakeLists.txt: {flag} reaches users" for flag in flags]
    wrong += [f"tests/packaging/run: no door_{door}" for door in ("cmake", "fetch_content", "subdirectory", "meson")
              if f"door_{door}() {{" not in doors]
    return f"{cmake.count(chr(10))} and {meson.count(chr(10))} lines", wrong


def macros(root):
    """Seven macros at most, and conditions in the platform and beside the house only."""
    found = house.macros_of(root)
    wrong = list(house.too_many_macros(root))
    wrong += [p for p in layers.problems_in(root) if "belongs into" in p]
    return f"{len(found)} macros", wrong


def where_to_change(root):
    """The version is written once; what breaks programs comes first in the list of changes."""
    version = text_of(root, "include/weir/version.hpp")
    number = ".".join(re.findall(r"define WEIR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", version))
    wrong = [f"{name}: has the version, {number}, too" for name in ("CMakeLists.txt", "meson.build")
             if number and re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", text_of(root, name))]
    if not number:
        wrong.append("include/weir/version.hpp: has no version")
    changes = re.search(r"^## [^\n]*\n+(\w+)", text_of(root, "include/weir/CHANGES.md"), re.MULTILINE)
    if not changes or changes[1] != "Breaking":
        wrong.append("include/weir/CHANGES.md: what breaks does not come first")
    if "# Where to change what" not in text_of(root, "include/weir/README.md"):
        wrong.append("include/weir/README.md: does not say where to change what")
    return f"version {number}, in one file", wrong


ROWS = [promise, first_success, tree, one_way, usable_alone, size, misuse, docstrings, atomics, mirrored,
        compiled_pages, build_files, macros, where_to_change]


def command_of_readme(root, compiler, flags):
    """README's command, in a clone of nothing but what is there."""
    command = COMMAND.search(text_of(root, "README.md"))[1].split(" && ")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(root / "include", copy / "include")
        shutil.copytree(root / "examples", copy / "examples")
        before = os.times()
        made = subprocess.run([compiler, *flags, *command[0].split()[1:]], cwd=copy, capture_output=True, text=True)
        ran = subprocess.run(command[1].split(), cwd=copy, capture_output=True, text=True) if made.returncode == 0 else made
        seconds = os.times().elapsed - before.elapsed
    wrong = [f"README.md: its command fails: {ran.stderr}"] if ran.returncode or not ran.stdout else []
    if seconds > SECONDS_TO_SUCCESS:
        wrong.append(f"README.md: its command takes {seconds:.0f} s; {SECONDS_TO_SUCCESS} are allowed")
    return f"{seconds:.1f} s", wrong


def cost_of_headers(root, compiler, flags):
    """What the headers cost a compiler beside <thread>: the least of several, in turns."""
    def processor_time(name):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([compiler, "-std=c++20", "-DWEIR_NO_COROUTINE_WARNING", *flags, f"-I{root}/include",
                        "-fsyntax-only", "-x", "c++", "-"],
                       input=f"#include <{name}>\n", text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    names = {"thread": "thread", **{name: f"weir/{name}" for name in COSTS}}
    turns = [{key: processor_time(name) for key, name in names.items()} for _ in range(7)]
    least = {key: min(turn[key] for turn in turns) for key in names}
    ratios = {name: least[name] / least["thread"] for name in COSTS}
    wrong = [f"include/weir/{name}: {ratio:.2f} times <thread>; {COSTS[name]} are allowed"
             for name, ratio in ratios.items() if ratio > COSTS[name]]
    return ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()) + " times <thread>", wrong


def judge(rows):
    """Prints each (number, title, figure, what is wrong); returns whether none is missed."""
    good = True
    for number, title, (figure, wrong) in rows:
        print(f"{number:2}  {'MISSED' if wrong else 'ok':6}  {title}: {figure}", flush=True)
        print(*(f"            {problem}" for problem in wrong), sep="\n", end="\n" if wrong else "")
        good = good and not wrong
    return good


def title_of(row):
    return row.__doc__.strip().rstrip(".")


# (row, file, replaced text, new text; None: the file is deleted; "": the new text is appended)
BREAKS = [
    (promise, "README.md", "guarantees", "hopes"),
    (first_success, "README.md", "```cpp\n", "```text\n"),
    (first_success, "README.md", "`g++ -std", "`c++ -std"),
    (tree, "include/weir/task/sleep.hpp", "// weir task", "// task"),
    (tree, "include/weir/README.md", "| `task/` |", "| `tasks/` |"),
    (one_way, "include/weir/task/sleep.hpp", "", "#include <weir/channel/channel.hpp>\n"),
    (usable_alone, "tests/house/alone.txt", "== task/sleep.hpp", "== task/slept.hpp"),
    (size, "include/weir/task/sleep.hpp", "", "\n" * 300),
    (misuse, "tests/refusals/delayed_action_cancel_discarded.fail.cpp", None, None),
    (misuse, "tests/CMakeLists.txt", "NAME fail.by_another_compiler ", "NAME nothing "),
    (docstrings, "include/weir/task/sleep.hpp", "Suspends:", "Waits:"),
    (docstrings, "include/weir/task/sleep.hpp", "// Resumes on", "// Goes on"),
    (atomics, "include/weir/task/sleep.hpp", "pairs with", "goes with"),
    (mirrored, "tests/unit/task/sleep.test.cpp", None, None),
    (mirrored, ".ci/run", " thread_sanitizer ", " "),
    (compiled_pages, "README.md", "weir::thread_pool pool(3);", "weir::thread_pool pool(4);"),
    (build_files, "CMakeLists.txt", "", "\n" * MOST_OF_CMAKE),
    (build_files, "meson.build", "", "\n" * MOST_OF_MESON),
    (build_files, "CMakeLists.txt", "", "add_compile_options(-O2)\n"),
    (build_files, "tests/packaging/run", "door_fetch_content() {", "door_fetched() {"),
    (macros, "include/weir/platform/config.hpp", "", "".join(f"#define WEIR_{i}\n" for i in range(7))),
    (macros, "include/weir/task/sleep.hpp", "", "#if 1\n#endif\n"),
    (where_to_change, "include/weir/version.hpp", "WEIR_VERSION_", "VERSION_"),
    (where_to_change, "include/weir/CHANGES.md", "Breaking:", "Added:"),
]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        kept = {"include", "tests", "examples", ".ci", ".github", "CMakeLists.txt", "meson.build", "README.md"}
        shutil.copytree(ROOT, copy, ignore=lambda at, names: [
            n for n in names if (Path(at) == ROOT and n not in kept) or n in ("__pycache__", "build")])
        for row, name, text, change in BREAKS:
            path = copy / name
            before = path.read_text(encoding="utf-8")
            if text is None:
                path.unlink()
            elif text not in before:
                yield f"{name}: '{text}' is not there, so {row.__name__} can't be tried"
            else:
                path.write_text(before.replace(text, change) if text else before + change, encoding="utf-8")
            if not row(copy)[1]:
                yield f"{row.__name__}: not missed, though {name} was changed: {text!r}, {change!r}"
            path.write_text(before, encoding="utf-8")
        if untried := {row.__name__ for row in ROWS} - {broken[0].__name__ for broken in BREAKS}:
            yield f"nothing shows that these can be missed: {untried}"
        with contextlib.redirect_stdout(None):
            if judge([(1, "a row", ("0", ["wrong"]))]) or not judge([(1, "a row", ("0", []))]):
                yield "judge: does not say whether a row is missed"


def main(arguments):
    if arguments == ["--self-test"]:
        problems = list(self_test())
        print(*problems, sep="\n", end="\n" if problems else "")
        return 1 if problems else 0
    compiles = len(arguments) > 1 and arguments[0] == "--compile"
    if not compiles and (len(arguments) > 1 or any(a.startswith("-") for a in arguments)):
        print(__doc__, file=sys.stderr)
        return 2
    root = ROOT if compiles or not arguments else Path(arguments[0])
    rows = [(i, title_of(row), row(root)) for i, row in enumerate(ROWS, 1)]
    if compiles:
        rows += [(2, title_of(command_of_readme), command_of_readme(root, arguments[1], arguments[2:])),
                 (6, title_of(cost_of_headers), cost_of_headers(root, arguments[1], arguments[2:]))]
    good = judge(rows)
    if not compiles:
        print("not measured: README's command, and what headers cost a compiler: --compile COMPILER")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
