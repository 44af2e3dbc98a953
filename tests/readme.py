#!/usr/bin/env python3
"""Checks that every C++ block of README.md stands, to the letter but for its indentation and the
formatter's marks, in the example that the comment before it names. Examples are compiled and run, so the
README can't rot. And that it has 200 lines at most, with code by the twentieth; and that every file that
it, or a text in .github, links to or names with its folder is there.

tests/readme.py [README]
tests/readme.py --self-test   shows that it can fail
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?:<!-- from (?P<source>\S+) -->\n)?```cpp\n(?P<code>.*?)```", re.S)


LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")
NAMED = re.compile(r"`((?:tests|bench|examples|include|\.ci|\.github)/[\w./-]*)")


def missing(text, folder, exists):
    """The files that a text links to, beside itself, or names from the top, and that are not there."""
    files = [f"{folder}{link}" for link in LINK.findall(text)] + NAMED.findall(text)
    return [f"'{file}' does not exist" for file in files if not exists(file)]


def too_long(text):
    lines = text.splitlines()
    found = [] if len(lines) <= 200 else [f"{len(lines)} lines, of 200 at most"]
    first = next((i for i, line in enumerate(lines, 1) if line.startswith("```")), len(lines) + 1)
    return found if first <= 20 else found + ["no code by line 20"]


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
    assert too_long("\n" * 20 + "```\n") and too_long("```\n" * 201) and not too_long("\n```\n")
    there = {"tests/run", ".github/A.md"}.__contains__
    assert not missing("[a](A.md#b), [c](https://d.e/f), `tests/run --long`", ".github/", there)
    assert missing("[a](A.md)", "", there) == ["'A.md' does not exist"]
    assert missing("`tests/walk`", "", there) == ["'tests/walk' does not exist"]
    print("readme.py: the self-test passed")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        text = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "README.md").read_text()
        bad = [f"README.md: {line}" for line in problems(text, read_file) + too_long(text)]
        for name, folder in [("README.md", ""), *((f".github/{p.name}", ".github/") for p in ROOT.glob(".github/*.md"))]:
            bad += [f"{name}: {line}"
                    for line in missing((ROOT / name).read_text(), folder, lambda f: (ROOT / f).exists())]
        print(*bad, sep="\n")
        sys.exit(1 if bad else 0)
