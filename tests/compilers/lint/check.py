#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks tests/compilers/lint_coroutines.

    tests/compilers/lint/check.py forms      finds what the files beside this one expect, and nothing else
    tests/compilers/lint/check.py canaries   agrees with what the compilers do: each canary of a bad form is found, no
                                   canary of a workaround or of what weir is written in is;
                                   and the page of versions counts what the table says
    tests/compilers/lint/check.py program    its options, its exit status, and what it says about misuse

A line that has `// expect: FORM...` has these findings; `// expect at LINE: FORM...` says it of another line.
"""

import importlib.machinery
import importlib.util
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
LINT = HERE.parent / "lint_coroutines"
CANARIES = HERE.parent / "canaries"


def load(path):
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


def run(*arguments):
    done = subprocess.run([sys.executable, str(LINT), *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def findings(output):
    """(file name, line) -> forms, and the sentences."""
    found, sentences = {}, []
    for line in output.splitlines():
        file, number, sentence, form = re.match(r"(.+):(\d+):\d+: warning: (.+) \[weir-coroutine-(\w+)\]$",
                                                line).groups()
        found.setdefault((Path(file).name, int(number)), Counter())[form] += 1
        sentences.append((form, sentence))
    return found, sentences


def expectations(path):
    expected = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := re.search(r"// expect(?: at (\d+))?: ([\w ]+)$", line):
            expected[path.name, int(match[1] or number)] = Counter(match[2].split())
    return expected


def check_forms():
    problems = []
    expected = {}
    # Each file in a call of its own: what one declares must not help another.
    found, sentences = {}, []
    for path in sorted(HERE.iterdir()):
        if path.suffix not in (".cpp", ".md"):
            continue
        here = expectations(path)
        expected |= here
        status, output, complaint = run(path)
        if status != (1 if here else 0) or complaint:
            problems.append(f"{path.name}: exit status {status}, {complaint}")
        some, said = findings(output)
        found |= some
        sentences += said
    for place in sorted(expected.keys() | found.keys()):
        wanted, got = expected.get(place, Counter()), found.get(place, Counter())
        # Two of a form in a line have the same sentence, and that is said once.
        if set(wanted) != set(got):
            problems.append(f"{place[0]}:{place[1]}: expected {' '.join(wanted) or 'nothing'}, found "
                            f"{' '.join(got) or 'nothing'}")
    lint = load(LINT)
    for key, sentence in lint.SENTENCES.items():
        pattern = re.escape(re.sub(r"\{+\d*\.*\}+", "\0", sentence)).replace("\0", ".*").replace("\\.*", ".*")
        times = sum(form == key.split()[0] and re.fullmatch(pattern, said) is not None for form, said in sentences)
        if times < 2:
            problems.append(f"the sentence of `{key}` is shown {times} times; two variants are the least")
    return problems


def check_canaries():
    canaries = load(CANARIES / "run")
    table = canaries.Table(canaries.TABLE.read_text(encoding="utf-8"))
    _, output, complaint = run(CANARIES)
    found, _ = findings(output)
    problems = [complaint] if complaint else []
    counts = Counter()
    for family in canaries.read_families():
        for canary in family.canaries:
            here = {form for (file, line), forms in found.items() for form in forms
                    if file == family.path.name and canary.first <= line <= canary.last}
            counts[canary.kind] += 1
            cells = table.rows[canary.name]
            fails = [column for column, cell in cells.items() if column.startswith("g++ 12") and cell != "ok"]
            if canary.kind == "bad" and here != {canary.form}:
                problems.append(f"{canary.name}: is `bad {canary.form}`, but the lint finds "
                                f"{' '.join(sorted(here)) or 'nothing'}")
            if canary.kind in ("workaround", "library") and here:
                problems.append(f"{canary.name}: is `{canary.kind}`, but the lint finds {' '.join(sorted(here))}")
            if canary.kind == "bad" and not fails:
                problems.append(f"{canary.name}: is `bad`, but g++ 12 gets it right: make it `clean`")
            if canary.kind == "clean" and fails:
                problems.append(f"{canary.name}: is `clean`, but g++ 12 fails: make it `bad`, or `other` where no "
                                "lint can see it")
    for form in load(LINT).FORMS:
        if not any(canary.form == form for family in canaries.read_families() for canary in family.canaries):
            problems.append(f"no canary shows the form `{form}`")
    problems += check_versions(table)
    print(", ".join(f"{number} {kind}" for kind, number in counts.items()))
    return problems


def count_of(table, form, column):
    """What becomes of the form's canaries with a compiler: `28 hang, 1 crash`."""
    of_form = [cells for name, cells in table.rows.items() if table.kinds[name] == f"bad {form}"]
    fails = Counter()
    for cells in of_form:
        verdicts = [v for mode in ("-O0", "-O2") for v in cells[f"{column} {mode}"].split("|") if v != "ok"]
        fails.update(verdicts[:1])
    wrong = ", ".join(f"{number} {verdict}" for verdict, number in fails.most_common())
    right = len(of_form) - fails.total()
    return f"{wrong}, {right} ok" if wrong and right else wrong or "ok"


def check_versions(table):
    """The cells of versions.md that are measured."""
    page = CANARIES / "versions.md"
    rows = [[cell.strip() for cell in line.split("|")[1:-1]]
            for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    columns = next(row[1:] for row in rows if row[1:2] == ["g++ 12.2"])
    found = {row[0]: row[1:] for row in rows if row[0] in load(LINT).FORMS}  # the last table that has it
    for form in load(LINT).FORMS:
        wanted = [count_of(table, form, column) for column in columns]
        if found.get(form) != wanted:
            yield f"versions.md: the row of `{form}` has to be: | {' | '.join([form, *wanted])} |"


def check_program():
    problems = []

    def expect(what, result, status, pattern, stream=1):
        if result[0] != status or not re.search(pattern, result[stream], re.DOTALL):
            problems.append(f"{what}: exit status {result[0]}, says:\n{result[1]}{result[2]}")

    expect("--help", run("--help"), 0, "condition .*handler ")
    for form in load(LINT).FORMS:
        expect(f"--explain {form}", run("--explain", form), 0, rf"^{form}\n\n.*// (wrong|refused).*// right|{form}")
    expect("--explain", run("--explain"), 0, "condition\n\n.*handler\n\n")
    expect("--explain nonsense", run("--explain", "nonsense"), 2, "there is no form 'nonsense'", 2)
    expect("nothing to read", run(), 2, "name the files or folders", 2)
    expect("an unknown option", run("--nonsense", HERE), 2, "unknown option: --nonsense", 2)
    expect("an option without its value", run("--exclude"), 2, "--exclude needs a value", 2)
    expect("no such file", run(HERE / "none.cpp"), 2, "there is no .*none.cpp", 2)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "inner").mkdir()
        (folder / ".hidden").mkdir()
        bad = "task<> f(channel& c, int n) {\n    co_await c.put(item{n});\n}\n"
        (folder / "inner" / "a.hpp").write_text(bad)
        (folder / ".hidden" / "a.hpp").write_text(bad)
        (folder / "b.txt").write_text(bad)
        expect("a folder", run(folder), 1, r"^\S+inner/a.hpp:2:24: warning: `item\{\.\.\.\}` inside[^\n]+ \[weir-coroutine-braces\]\n$")
        expect("a file", run(folder / "b.txt"), 1, r"b.txt:2:24: warning: .*braces")
        expect("--not-aggregate", run("--not-aggregate", "item", folder), 0, "^$")
        expect("--exclude", run("--exclude", folder / "inner", folder), 0, "^$")
        (folder / "item.hpp").write_text("struct item {\n    explicit item(int);\n    name n;\n};\n")
        expect("a constructor in another file", run(folder), 0, "^$")
        (folder / "item.hpp").write_text("struct item {\n    name n;\n};\n")
        expect("an aggregate in another file", run(folder), 1, "braces")
        (folder / "inner" / "a.hpp").write_text("task<> f(channel& c, int n) { co_await c.put(item(n, 3)); }\n")
        expect("parentheses of an aggregate in another file", run(folder), 1, r"a.hpp:1:50: warning: `item\(\.\.\.\)`")
        (folder / "c.cpp").write_text("task<> item(int n, int m) {\n    co_await turn();\n}\n")
        expect("a function that is called as an aggregate of another file", run(folder), 0, "^$")
        (folder / "broken.cpp").write_text("task<> f() { ) ] co_await g({1}); }}} \"\n R\"(\n")
        expect("brackets that don't match", run(folder / "broken.cpp"), 1, "braces")
        places = "/* a\nb */ task<> f(channel& c) { int n = 0; co_await c.put({n, 2}); }\n" + (
            "#define PUT \\\n  co_await *p; c\n" "auto t = R\"(\n)\"; task<> g(int* p) { int n = 0; co_await *p; }\n")
        (folder / "places.cpp").write_text(places)
        expect("columns", run(folder / "places.cpp"), 1,
               r"^\S+:2:55: [^\n]+braces\]\n\S+:4:3: [^\n]+refused\]\n\S+:6:35: [^\n]+refused\]\n$")

        # What a build asks for.
        project, stamp = folder / "a project", folder / "a stamp"
        (project / "include" / "app").mkdir(parents=True)
        (project / "main.cpp").write_text('#include "near.hpp"\n#include <app/far.hpp>\n#include <vector>\n')
        (project / "near.hpp").write_text('#pragma once\n#include "near.hpp"\n')
        (project / "include" / "app" / "far.hpp").write_text(bad)
        (project / "icon.png").write_bytes(b"\x89PNG")
        asked = ("--stamp", stamp, "--headers", project / "include", project / "main.cpp", project / "icon.png")
        expect("--headers", run(*asked), 1, r"^/\S+ project/include/app/far.hpp:2:24: warning: ")
        if stamp.exists():
            problems.append("--stamp: is written though something was found")
        (project / "include" / "app" / "far.hpp").write_text("")
        expect("--stamp", run(*asked), 0, "^$")
        read = re.findall(r"^    (?:.*/)?a\\ project/(\S+)(?: \\)?$", Path(f"{stamp}.d").read_text(), re.MULTILINE)
        if not stamp.exists() or read != ["main.cpp", "near.hpp", "include/app/far.hpp"]:
            problems.append(f"--stamp: writes of {read}")
        expect("a folder that can't be written to", run("--stamp", folder / "none" / "stamp", project), 2,
               "none/stamp.d: No such file", 2)
        expect("without --headers", run(project / "main.cpp"), 0, "^$")
        (folder / "empty.cpp").write_text("")
        expect("an empty file", run(folder / "empty.cpp"), 0, "^$")
    return problems


def main(arguments):
    checks = {"forms": check_forms, "canaries": check_canaries, "program": check_program}
    if not arguments or any(name not in checks for name in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    problems = [problem for name in arguments for problem in checks[name]()]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
