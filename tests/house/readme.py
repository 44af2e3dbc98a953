#!/usr/bin/env python3
"""Checks that every C++ block of README.md stands, to the letter but for its indentation and the
formatter's marks, in the example that the comment before it names. Examples are compiled and run, so the
README can't rot. And that it has 160 lines at most, with code by the twentieth; and that every file that
it, or a text in .github, links to or names with its folder is there. A row of a table that names headers, as `room/x.hpp`
or, behind `room/` in its first column, as `x.hpp`, names such that are there, and functions, `f()`, of one of these.

Of the examples: each source has under 100 lines, of which the first two, and no third, say what it shows. Those
in files of their own are numbered from 01 on. README names each example, the numbered ones in their order.

tests/house/readme.py [README]
tests/house/readme.py --self-test   shows that it can fail
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?:<!-- from (?P<source>\S+) -->\n)?```cpp\n(?P<code>.*?)```", re.S)


LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")
NAMED = re.compile(r"[` (]((?:tests|bench|examples|include|\.ci|\.github)/[\w./-]*[\w/])")


def missing(text, folder, exists):
    """The files that a text links to, beside itself, or names from the top, and that are not there."""
    files = [f"{folder}{link}" for link in LINK.findall(text)] + NAMED.findall(text)
    return [f"'{file}' does not exist" for file in files if not exists(file)]


def options_out_of_order(text, header):
    """README lists the options of a stage and of a run, for whoever a compiler tells of their order."""
    for what, struct in (("a stage", "stage_options"), ("a run", "run_options")):
        body = re.search(r"struct %s \{\n(.*?)\n\};" % struct, header, re.S).group(1)
        declared = [n for n in re.findall(r"^    [\w:<>&*,() ]+? (\w+) = ", body, re.M) if n != "where"]
        listed = re.search(r"Of %s: `([^`]*)`" % what, text)
        if listed is None or re.split(r",\s*", listed.group(1)) != declared:
            yield f"the options of {what} are {', '.join(declared)}, in this order"


def unfound(text, read):
    """What a row names of the library and that is not there. `read`: the text of a header, or None."""
    for row in (line for line in text.splitlines() if line.startswith("| ")):
        room = next(iter(re.findall(r"^\| `(\w+)/` \|", row)), None)
        headers = [h if "/" in h or room is None else f"{room}/{h}" for h in re.findall(r"`([a-z_/]+\.hpp)`", row)]
        texts = {h: read(h) for h in headers if "/" in h}
        yield from (f"include/weir/{h} does not exist" for h, found in texts.items() if found is None)
        for name in re.findall(r"`(\w+)\(\)`", row) if texts else ():
            if not any(found and re.search(rf"\b{name}\(", found) for found in texts.values()):
                yield f"'{name}()' is in none of {', '.join(texts)}"


def too_long(text):
    lines = text.splitlines()
    found = [] if len(lines) <= 160 else [f"{len(lines)} lines, of 160 at most"]
    first = next((i for i, line in enumerate(lines, 1) if line.startswith("```")), len(lines) + 1)
    return found if first <= 20 else found + ["no code by line 20"]


def examples_named_in(text):
    return re.findall(r"`(\w+)(?: [^`]*)?`", text)


def problems_of_examples(files, readme):
    """`files`: the text of each source, by its path in examples/."""
    found = []
    for name, text in sorted(files.items()):
        lines = text.splitlines()
        if len(lines) >= 100:
            found.append(f"examples/{name}: {len(lines)} lines; under 100 are read at once, so split it by ideas")
        comments = [line.startswith("// ") and "SPDX-" not in line for line in lines[:3]]
        if comments != [True, True, False]:
            found.append(f"examples/{name}: two lines at its begin, no more and no less, say what it shows")
    alone = sorted(name.removesuffix(".cpp") for name in files if "/" not in name)
    for number, name in enumerate(alone, 1):
        if not name.startswith(f"{number:02}_"):
            found.append(f"examples/{name}.cpp: as one of a path, its name begins with {number:02}_")
    named = examples_named_in(readme)
    if [name for name in named if name in alone] != alone:
        found.append("README.md: names the numbered examples once each, in their order")
    for folder in sorted({name.split("/")[0] for name in files if name.endswith("/main.cpp")} - set(named)):
        found.append(f"README.md: does not name the example {folder}")
    return found


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
    assert too_long("\n" * 20 + "```\n") and too_long("```\n" * 161) and not too_long("\n```\n")
    there = {"tests/run", ".github/A.md"}.__contains__
    assert not missing("[a](A.md#b), [c](https://d.e/f), `tests/run --long`", ".github/", there)
    assert missing("[a](A.md)", "", there) == ["'A.md' does not exist"]
    assert missing("`tests/walk`", "", there) == ["'tests/walk' does not exist"]
    assert missing("`sh tests/walk`, tests/walk.", "", there) == ["'tests/walk' does not exist"] * 2
    header = {"a/b.hpp": "void c();"}.get
    assert not list(unfound("| x | `a/b.hpp`: `c()` |\n| `a/` | `b.hpp` |\n| y | `b.hpp`, `d()` |", header))
    assert list(unfound("| x | `a/c.hpp` |", header)) == ["include/weir/a/c.hpp does not exist"]
    assert list(unfound("| `a/` | `b.hpp`, `c.hpp` |", header)) == ["include/weir/a/c.hpp does not exist"]
    assert list(unfound("| x | `a/b.hpp`: `d()` |", header)) == ["'d()' is in none of a/b.hpp"]
    options = "struct stage_options {\n    int a = 1;\n    b<c> d = {};\n};\nstruct run_options {\n    int e = 0;\n};\n"
    assert not list(options_out_of_order("Of a stage: `a, d`. Of a run: `e`.", options))
    assert list(options_out_of_order("Of a stage: `d, a`. Of a run: `e`.", options)) == [
        "the options of a stage are a, d, in this order"]
    example = "// Shows\n// it.\nint main() {}\n"
    path = {"01_a.cpp": example, "02_b.cpp": example, "c/main.cpp": example, "c/d.hpp": example}
    assert problems_of_examples(path, "`01_a`, `02_b` (two), `c [FILE]`") == []
    for wrong, readme in (({"02_b.cpp": example + "\n" * 97}, "`01_a`, `02_b`, `c`"),
                          ({"c/d.hpp": "// Shows it.\nint main() {}\n"}, "`01_a`, `02_b`, `c`"),
                          ({"c/d.hpp": "// Shows\n" + example}, "`01_a`, `02_b`, `c`"),
                          ({"04_e.cpp": example}, "`01_a`, `02_b`, `04_e`, `c`"),
                          ({}, "`02_b`, `01_a`, `c`"), ({}, "`01_a`, `02_b`")):
        assert len(problems_of_examples({**path, **wrong}, readme)) == 1, (wrong, readme)
    print("readme.py: the self-test passed")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        text = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "README.md").read_text()
        bad = [f"README.md: {line}" for line in problems(text, read_file) + too_long(text)]
        bad += problems_of_examples({p.relative_to(ROOT / "examples").as_posix(): p.read_text()
                                     for p in ROOT.glob("examples/**/*.[ch]pp")}, text)
        for name, folder in [("README.md", ""), *((f".github/{p.name}", ".github/") for p in ROOT.glob(".github/*.md"))]:
            page = (ROOT / name).read_text()
            code = problems(page, read_file) if "```cpp" in page else []
            bad += [f"{name}: {line}"
                    for line in [*(code if name != "README.md" else []), *missing(page, folder, lambda f: (ROOT / f).exists()),
                                 *unfound(page, lambda h: read_file(f"include/weir/{h}")),
                                 *(options_out_of_order(page, read_file("include/weir/run/stage_options.hpp"))
                                   if name == "README.md" else [])]]
        print(*bad, sep="\n")
        sys.exit(1 if bad else 0)
