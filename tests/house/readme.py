#!/usr/bin/env python3
"""Checks README.md, the guide (examples/README.md) and the form of the examples.

    tests/house/readme.py [ROOT]       checks ROOT (the default: this repository)
    tests/house/readme.py --self-test  shows that each rule can fail

- README.md has at most 150 lines, and code by line 20; each of its C++ blocks is in an example (tests/house/documents.py).
- Each source of an example has under 100 lines. The first two lines, and not the third, are comments that say what the
  example shows.
- A source of an example includes a header of weir that declares each name of weir that the source uses; and the standard
  header of each name for which a comment on an include, here or in include/weir, names a header. In CI examples are
  compiled together, where one could use what another one includes.
- The examples in files of their own are numbered from 01 on. The guide has a section for each example: a heading that
  begins with the example's name. The numbered examples are in their order.
- The glossary of .github/CONTRIBUTING.md has at most 40 terms, each once, with a meaning of one sentence.
- The guide lists the options of a stage and of a run in the order in which they are declared, because designated
  initialisers need that order.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import documents  # noqa: E402
from documents import check  # noqa: E402

MOST_LINES, CODE_BY_LINE, MOST_TERMS = 150, 20, 40
GUIDE = "examples/README.md"
INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)
DECLARATION = (r"\b(?:class|struct|concept|enum|using|namespace) (?:\[\[.*?\]\] )?(?:weir::)?%(name)s\b|[&*> ]%(name)s\("
               r"|\b%(name)s(?: =|\{)")
GLOSSARY = ".github/CONTRIBUTING.md"


def options_out_of_order(text, header):
    for what, struct in (("a stage", "stage_options"), ("a run", "run_options")):
        body = re.search(r"struct %s \{\n(.*?)\n\};" % struct, header, re.S).group(1)
        declared = [n for n in re.findall(r"^    [\w:<>&*,() ]+? (\w+) = ", body, re.M) if n != "where"]
        listed = re.search(r"Of %s: `([^`]*)`" % what, text)
        if listed is None or re.split(r",\s*", listed.group(1)) != declared:
            yield f"{GUIDE}: the options of {what} are {', '.join(declared)}, in this order"


def wrong_form(text):
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        yield f"README.md: {len(lines)} lines; at most {MOST_LINES} are allowed"
    if not any(line.startswith("```") for line in lines[:CODE_BY_LINE]):
        yield f"README.md: no code by line {CODE_BY_LINE}"
    if not documents.BLOCK.search(text):
        yield "README.md: no C++ block"


def problems_of_examples(files, guide):
    """`files`: the text of each source, by its path in examples/."""
    for name, text in sorted(files.items()):
        lines = text.splitlines()
        if len(lines) >= 100:
            yield f"examples/{name}: {len(lines)} lines; an example has under 100, so split it by ideas"
        comments = [line.startswith("// ") and "SPDX-" not in line for line in lines[:3]]
        if comments != [True, True, False]:
            yield f"examples/{name}: exactly its first two lines say what it shows"
    alone = sorted(name.removesuffix(".cpp") for name in files if "/" not in name)
    for number, name in enumerate(alone, 1):
        if not name.startswith(f"{number:02}_"):
            yield f"examples/{name}.cpp: the name of this example begins with {number:02}_"
    sections = re.findall(r"^#+ `?(\w+)", guide, re.M)
    if [name for name in sections if name in alone] != alone:
        yield f"{GUIDE}: has one section for each numbered example, in their order"
    for folder in sorted({name.split("/")[0] for name in files if name.endswith("/main.cpp")} - set(sections)):
        yield f"{GUIDE}: has no section for the example {folder}"


def standard_headers(headers):
    """The standard headers of each name: `#include <vector>  // for std::vector`. `headers`: texts by name."""
    found = {}
    for text in headers.values():
        for header, names in re.findall(r"^#include <(\w+)> +// for (.*)$", text, re.M):
            for name in re.findall(r"std::(\w+)", names):
                found.setdefault(name, set()).add(header)
    found["chrono"] = {"chrono"}  # weir's own headers get a part of it from elsewhere
    for name in ("move", "size_t"):  # from every header of a container
        found.pop(name, None)
    return found


def missing_includes(files, headers):
    """`files`: as in problems_of_examples. `headers`: the text of each header of weir, by the name that includes it."""
    standard = standard_headers({**headers, **files})
    for name, text in sorted(files.items()):
        included = set(INCLUDE.findall(text))
        for own in list(included):
            included |= set(INCLUDE.findall(files.get(f"{name.rpartition('/')[0]}/{own}", "")))
        reached, left = set(), list(included)
        while left:
            header = left.pop()
            if header in headers and header not in reached:
                reached.add(header)
                left += INCLUDE.findall(headers[header])
        declared = "".join(headers[header] for header in reached)
        code = re.sub(r"//.*", "", text)
        for used in sorted(set(re.findall(r"\bstd::(\w+)", code))):
            if used in standard and not standard[used] & included:
                yield f"examples/{name}: includes no header of std::{used}: {' or '.join(sorted(standard[used]))}"
        for used in sorted(set(re.findall(r"\bweir::(\w+)", code))):
            if not re.search(DECLARATION % {"name": used}, declared):
                yield f"examples/{name}: includes no header of weir::{used}"


def wrong_glossary(text):
    lines = text.partition("## Glossary")[2].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")][1:]
    terms = [term for names, *_ in rows for term in names.split(", ")]
    if not 0 < len(rows) <= MOST_TERMS:
        yield f"{GLOSSARY}: {len(rows)} terms; 1 to {MOST_TERMS} are allowed"
    yield from (f"{GLOSSARY}: explains {term} twice" for term in sorted({t for t in terms if terms.count(t) > 1}))
    for names, *meaning in rows:
        if len(meaning) != 1 or not re.fullmatch(r"[A-Z](?:[^.]|[.](?! ))*[.]", meaning[0]):
            yield f"{GLOSSARY}: the meaning of {names} is not one sentence"


def texts_in(folder, pattern):
    return {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in folder.glob(pattern)}


def problems_in(root):
    guide = (root / GUIDE).read_text(encoding="utf-8")
    yield from wrong_form((root / "README.md").read_text(encoding="utf-8"))
    examples = texts_in(root / "examples", "**/*.[ch]pp")
    yield from problems_of_examples(examples, guide)
    yield from missing_includes(examples, texts_in(root / "include", "weir/**/*.[hi]pp"))
    yield from wrong_glossary((root / GLOSSARY).read_text(encoding="utf-8"))
    options = root / "include/weir/run/stage_options.hpp"
    yield from options_out_of_order(guide, options.read_text(encoding="utf-8"))


def self_test():
    code = "\n```cpp\nint x;\n```\n"
    form = {"at most": "\n" * 150 + code, "no code by": "\n" * 20 + code, "no C++": "\n```text\n```\n"}
    for expected, text in form.items():
        if not any(expected in problem for problem in wrong_form(text)):
            yield f"README.md: not noticed: {expected}"
    yield from wrong_form(code + "\n" * 145)

    glossary = "## Glossary\n| term | meaning |\n|---|---|\n| a, b | One of a.hpp. |\n| c | Two; or so. |\n"
    yield from wrong_glossary(glossary)
    for wrong in ("| d | One. Two. |\n", "| b | Again. |\n", "| e | no sentence |\n",
                  "".join(f"| t{i} | One. |\n" for i in range(39))):
        if len(list(wrong_glossary(glossary + wrong))) != 1:
            yield f"the glossary: not noticed, or more than once: {wrong!r}"

    options = "struct stage_options {\n    int a = 1;\n    b<c> d = {};\n};\nstruct run_options {\n    int e = 0;\n};\n"
    yield from options_out_of_order("Of a stage: `a, d`. Of a run: `e`.", options)
    if list(options_out_of_order("Of a stage: `d, a`. Of a run: `e`.", options)) != [
            f"{GUIDE}: the options of a stage are a, d, in this order"]:
        yield "options out of order are not noticed"

    example = "// Shows\n// it.\nint main() {}\n"
    path = {"01_a.cpp": example, "02_b.cpp": example, "c/main.cpp": example, "c/d.hpp": example}
    guide = "## 01_a: one\n## `02_b`\n### c\n"
    yield from problems_of_examples(path, guide)
    for wrong, text in (({"02_b.cpp": example + "\n" * 97}, guide), ({"c/d.hpp": "// Shows it.\nint main() {}\n"}, guide),
                        ({"c/d.hpp": "// Shows\n" + example}, guide), ({"04_e.cpp": example}, guide + "## 04_e\n"),
                        ({}, "## 02_b\n## 01_a\n## c\n"), ({}, "## 01_a\n## 02_b\n")):
        if len(list(problems_of_examples({**path, **wrong}, text))) != 1:
            yield f"not noticed, or more than once: {wrong}, {text!r}"

    headers = {"weir/a.hpp": "#include <weir/b.hpp>\n#include <vector>  // for std::vector\n",
               "weir/b.hpp": "namespace weir {\nclass b;\n}\n"}
    right = "#include <weir/a.hpp>\n#include <vector>\nstd::vector<weir::b> x;  // std::map, weir::c\nstd::other y;\n"
    yield from missing_includes({"c/main.cpp": right, "c/d.cpp": '#include "main.cpp"\nstd::vector<weir::b> z;\n'}, headers)
    for wrong in ("#include <vector>", "#include <weir/a.hpp>"):
        if len(list(missing_includes({"c/main.cpp": right.replace(wrong, "")}, headers))) != 1:
            yield f"not noticed, or more than once: {wrong} is missing"


if __name__ == "__main__":
    sys.exit(check.run(__doc__, problems_in, self_test))
