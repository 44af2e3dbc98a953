#!/usr/bin/env python3
"""Checks the rooms of bench/lab, the measurement lab, and of bench/indicators, which uses the lab, from the text alone.

    tests/house/rooms.py [ROOT]       checks ROOT/bench (the default: this repository's)
    tests/house/rooms.py --self-test  shows, on small trees, that each rule can fail

The rules: a file lies in a room and begins with `// HOUSE ROOM: <one sentence>`. It includes files of its own room, of the rooms
before it, and of any room of a house below. The guard of a header is made from its path. A file has at most 300
lines of at most 125 columns.
"""

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import check  # noqa: E402

# Houses and rooms, from the bottom up.
HOUSES = {
    "lab": ["data", "stats", "design", "driver", "analysis", "plot", "commands"],
    "indicators": ["emit", "contract", "record", "store", "machine", "runner", "advice", "commands"],
}
MAX_LINES = 300
MAX_COLUMNS = 125


def problems_of(path, house, room, text):
    lines = text.splitlines()
    rooms = HOUSES[house]
    if room not in rooms:
        yield 1, f"{room} is no room; see HOUSES in tests/house/rooms.py"
        return
    if not (room == "commands" and path.name == "main.cpp") and not re.match(rf"// {house} {room}: \S", text):
        yield 1, f"the first line has to be `// {house} {room}: <one sentence>`"
    if path.suffix == ".hpp":
        guard = f"{house}_{room}_{path.stem}_HPP".upper()
        if f"#ifndef {guard}\n#define {guard}\n" not in text:
            yield 2, f"no guard named {guard}"
    if len(lines) > MAX_LINES:
        yield MAX_LINES, f"more than {MAX_LINES} lines"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS and '"' not in line:
            yield number, f"more than {MAX_COLUMNS} columns"
        if match := re.match(rf'#include "({"|".join(HOUSES)})/(\w+)/', line):
            other_house, other = match.groups()
            houses = list(HOUSES)
            if houses.index(other_house) > houses.index(house):
                yield number, f"{other_house} is not below {house}"
            elif other_house == house and (other not in rooms or rooms.index(other) > rooms.index(room)):
                yield number, f"{other} is not below {room}"


def problems_in(root):
    for house in HOUSES:
        for path in sorted((root / "bench" / house).glob("**/*.?pp")):
            name = path.relative_to(root)
            for number, problem in problems_of(path, house, path.parent.name, path.read_text(encoding="utf-8")):
                yield f"{name}:{number}: {problem}"


def self_test():
    guard = "#ifndef LAB_STATS_A_HPP\n#define LAB_STATS_A_HPP\n#endif\n"
    cases = {
        "": ("stats/a.hpp", "// lab stats: a\n" + guard),
        "indicators is not below lab": ("stats/a.cpp", '// lab stats: a\n#include "indicators/store/b.hpp"\n'),
        "plot is not below": ("stats/a.cpp", '// lab stats: a\n#include "lab/plot/b.hpp"\n'),
        "first line": ("stats/a.cpp", "// stats\n"),
        "no guard": ("stats/a.hpp", "// lab stats: a\n"),
        "no room": ("attic/a.cpp", "// lab attic: a\n"),
        "300 lines": ("stats/a.cpp", "// lab stats: a\n" * 301),
        "125 columns": ("stats/a.cpp", "// lab stats: " + "a" * 115 + "\n"),
    }
    for expected, (name, text) in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bench/lab" / name
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
            found = "; ".join(problems_in(Path(folder)))
            if (expected not in found) if expected else found:
                yield f"expected '{expected}' of {name}, found '{found}'"


if __name__ == "__main__":
    sys.exit(check.run(__doc__, problems_in, self_test))
