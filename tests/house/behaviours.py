#!/usr/bin/env python3
"""Checks that each test that tests/behaviours.md or tests/promises.md names in backquotes exists.

    tests/house/behaviours.py              checks this repository
    tests/house/behaviours.py --self-test  shows that it can fail
"""

import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
# Names of types and options are in backquotes, too; the name of a test has several words.
CODE = re.compile(r"`([^`\n]+)`")
TEST_CASE = re.compile(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')


def tests_of(sources):
    names = set()
    for text in sources:
        for match in TEST_CASE.finditer(text):
            names.add("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[1])))
    return names


def missing(table, names):
    sentences = (code for code in CODE.findall(table) if code.count(" ") >= 2)
    return [name for name in sentences if name not in names]


def main():
    if sys.argv[1:] == ["--self-test"]:
        names = tests_of(['TEST_CASE("one of two " "halves") {}'])
        assert missing("| x | `one of two halves` |", names) == []
        assert missing("| x | `one of two thirds` |", names) == ["one of two thirds"]
        return 0
    sources = (p.read_text(encoding="utf-8") for p in TESTS.rglob("*.cpp"))
    names = tests_of(sources)
    result = 0
    for page in "behaviours.md", "promises.md":
        for name in missing((TESTS / page).read_text(encoding="utf-8"), names):
            print(f"tests/{page}: there is no test named: {name}")
            result = 1
    return result


if __name__ == "__main__":
    sys.exit(main())
