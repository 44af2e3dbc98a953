#!/usr/bin/env python3
"""Checks that every C++ block of README.md stands, to the letter but for its indentation and the
formatter's marks, in the example that the comment before it names. Examples are compiled and run, so the README can't rot.

tests/readme.py [README]
tests/readme.py --self-test   shows that it can fail
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?:<!-- from (?P<source>\S+) -->\n)?```cpp\n(?P<code>.*?)```", re.S)


def problems(text, read):
    found = []
    blocks = list(BLOCK.finditer(text))
    if not blocks:
        found.append("no C++ block at all")
    for block in blocks:
        first = block["code"].splitlines()[0]
        if block["source"] is None:
            found.append(f"'{first}': no comment names the example that it comes from")
            continue
        lines = textwrap.dedent(block["code"]).splitlines()
        source = read(block["source"])
        if source is None:
            found.append(f"'{first}': {block['source']} does not exist")
            continue
        source = [line for line in source.splitlines() if "clang-format" not in line]
        starts = [i for i in range(len(source)) if source[i].strip() == lines[0].strip()]
        if not any(
            textwrap.dedent("\n".join(source[i : i + len(lines)])).splitlines() == lines
            for i in starts
        ):
            found.append(f"'{first}': not as it stands in {block['source']}")
    return found


def read_file(name):
    path = ROOT / name
    return path.read_text() if path.is_file() else None


def self_test():
    files = {"a.cpp": "int main() {\n    int x = 1;\n    return x;\n}\n"}.get
    good = "<!-- from a.cpp -->\n```cpp\nint x = 1;\nreturn x;\n```\n"
    assert problems(good, files) == []
    assert problems(good.replace("x = 1", "x = 2"), files)
    assert problems(good.replace("a.cpp", "b.cpp"), files)
    assert problems("```cpp\nint x;\n```\n", files)
    assert problems("no code\n", files)
    print("readme.py: the self-test passed")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        name = sys.argv[1] if len(sys.argv) > 1 else ROOT / "README.md"
        bad = problems(pathlib.Path(name).read_text(), read_file)
        for line in bad:
            print(f"README.md: {line}")
        sys.exit(1 if bad else 0)
