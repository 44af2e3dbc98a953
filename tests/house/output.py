#!/usr/bin/env python3
"""Checks that the first program of README.md prints what README.md shows, apart from the figures.

    tests/house/output.py PROGRAM      runs PROGRAM, which is built from examples/01_hello_pipeline.cpp
    tests/house/output.py --self-test  shows that the check can fail

README.md leaves out the lines in place of which it has `...`. Of the verdict the first clause is compared: which stage is
the bottleneck, and why. The predictions behind it depend on the load of the machine.
"""
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent.parent / "README.md"
FIGURE = re.compile(r"(?<![\w'#.])<?\d[\d.]*(?: [kM]?/s\b| (?:ns|us|ms|s|%)(?!\w))?|(?<= )-(?= |$)")


def shown_in(readme):
    return re.search(r"01_hello_pipeline\.cpp[^\n]* prints:\n\n```text\n(.*?)```", readme, re.S).group(1)


def without_figures(text):
    # The rules above and below the columns are as long as their widest figure.
    return [re.sub("--+", "--", " ".join(FIGURE.sub(" # ", line).split())) for line in text.splitlines() if line.strip(" -")]


def problems(shown, printed):
    table, _, end = shown.partition("...\n")
    wanted = without_figures(table)
    for want, have in zip(wanted, without_figures(printed)[:len(wanted)] + len(wanted) * ["nothing"]):
        if want != have:
            yield f"README.md shows `{want}`, and the program prints `{have}`"
    want, have = (without_figures(text.partition("verdict: ")[2].partition(";")[0].replace("\n", " ")) for text in (end, printed))
    if want != have:
        yield f"README.md shows the verdict {want}, and the program prints {have}"


def self_test(shown):
    printed = shown.replace("...\n", "process: 0.1 of 2 processors busy\n").replace("53.6 ms", "1.2 s").replace("<1", " 3")
    yield from problems(shown, printed)
    for right, wrong in (("square  ", "sum     "), ("off\n", "of\n"), ("is the bottleneck", "is slow"), ("'square' is", "'sum' is")):
        if right not in printed or not list(problems(shown, printed.replace(right, wrong, 1))):
            yield f"not noticed: `{wrong}` instead of `{right}`"


if __name__ == "__main__":
    _, program = sys.argv
    text = shown_in(README.read_text(encoding="utf-8"))
    found = list(self_test(text) if program == "--self-test" else
                 problems(text, subprocess.run([program], check=True, capture_output=True, encoding="utf-8").stdout))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(1 if found else 0)
