#!/usr/bin/env python3
"""Checks what a reader may expect of the repository as a whole, reading nothing but the text.

    tests/house.py [ROOT]                        checks ROOT (the default: this repository)
    tests/house.py --compile COMPILER [FLAG...]  compiles tests/alone: each header's main idea, with it alone
    tests/house.py --self-test                   shows, on a small tree, that each rule can fail

The rules (those of a single header are in tests/layers.py):
- Each include/weir/X.hpp has its tests/X.test.cpp, which includes it first; or ELSEWHERE says which file
  tests it, and why.
- Each header that tells users of something (`///`) has its tests/alone/X.cpp, which shows that this header
  is enough for it; or NOT_ALONE says why not. That file includes of the library only <weir/X.hpp>.
- Of an atomic operation that is not seq_cst a comment says why: near it, or, if it is relaxed, near the
  variable. The comment has a line of its own or stands behind the operation. Of one that acquires or
  releases it says so, or with what the operation pairs.
- The library has at most MAX_MACROS macros, guards aside; and three that say which Asio it is, for asio/ alone.
"""

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))
import check  # noqa: E402

MAX_MACROS = 6
OF_ASIO = {"WEIR_ASIO_FILE", "WEIR_ASIO_KIND", "WEIR_ASIO_LIBRARY"}
NEAR = 12  # lines above an operation
ABOVE = 3  # lines above a variable

ELSEWHERE = {
    "version.hpp": ("tests/packaging/run", "three numbers, which each build file reads its version from"),
}

# Headers, or folders of them.
NOT_ALONE = {
    "asio/": "each needs Asio, which not everybody has",
    "epoch_range.hpp": "what run::epochs() gives, which is in run.hpp",
    "fan_in.hpp": "an option of merge.hpp",
    "fmt.hpp": "needs {fmt}, which not everybody has",
    "format.hpp": "needs std::format, which not everybody has",
    "running_split.hpp": "an option of split.hpp",
    "simulation/explore_pipeline.hpp": "takes a pipeline, which pipeline.hpp makes",
}


def header_names(root):
    folder = root / "include" / "weir"
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.hpp"))


def own_includes(text):
    return re.findall(r'^#include [<"](weir/[^>"]+)[>"]', text, re.MULTILINE)


def unmirrored(root, elsewhere):
    names = header_names(root)
    for name in names:
        mirror = root / "tests" / (name[: -len(".hpp")] + ".test.cpp")
        if name in elsewhere:
            if mirror.exists():
                yield f"tests/house.py: {name} has a test of its own now: take it out of ELSEWHERE"
            if not (root / elsewhere[name][0]).exists():
                yield f"tests/house.py: {name} is tested by {elsewhere[name][0]}, which does not exist"
        elif not mirror.exists():
            yield f"include/weir/{name}: has no tests/{mirror.relative_to(root / 'tests').as_posix()}"
        elif own_includes(mirror.read_text(encoding="utf-8"))[:1] != [f"weir/{name}"]:
            yield f"{mirror.relative_to(root).as_posix()}: does not include <weir/{name}> first"
    for name in set(elsewhere) - set(names):
        yield f"tests/house.py: {name} is in ELSEWHERE and does not exist"


def alone(root):
    return sorted((root / "tests" / "alone").rglob("*.cpp"))


def not_alone(root):
    for path in alone(root):
        name = path.relative_to(root / "tests" / "alone").with_suffix(".hpp").as_posix()
        if own_includes(path.read_text(encoding="utf-8")) != [f"weir/{name}"]:
            yield f"{path.relative_to(root).as_posix()}: includes of the library only <weir/{name}>"


def not_shown_alone(root, excused):
    """What NOT_ALONE should say, and what it shouldn't."""
    used = set()
    for name in header_names(root):
        text = (root / "include" / "weir" / name).read_text(encoding="utf-8")
        shown = (root / "tests" / "alone" / name).with_suffix(".cpp").exists()
        reasons = {key for key in excused if name == key or key.endswith("/") and name.startswith(key)}
        if not shown and "///" in text and not reasons:
            yield f"include/weir/{name}: has no tests/alone/{name[: -len('.hpp')]}.cpp"
        if not shown and "///" in text:
            used |= reasons
    for key in sorted(set(excused) - used):
        yield f"tests/house.py: {key} needs no excuse any more: take it out of NOT_ALONE"


def pairs(lines):
    return any(re.search(r"//.*\b(pairs? with|acquire|release|acq_rel)\b", line) for line in lines)


def has_comment(lines):
    return any("// " in line and "// for std::" not in line for line in lines)


def unargued(root):
    headers = {name: (root / "include" / "weir" / name).read_text(encoding="utf-8").split("\n")
               for name in header_names(root)}
    argued = {match[1] for lines in headers.values() for i, line in enumerate(lines)
              if (match := re.search(r"(?:[aA]tomic<.*>&?|counter) (\w+)[{;(]", line))
              and has_comment(lines[max(0, i - ABOVE):i + 1])}
    for name, lines in headers.items():
        for i, line in enumerate(lines):
            code = line.split("//")[0]
            near = lines[max(0, i - NEAR):i + 1]
            for order in re.findall(r"memory_order_(relaxed|consume|acquire|release|acq_rel)", code):
                used = set(re.findall(r"(\w+)(?:\(\))?\.(?:load|store|exchange|fetch_\w+|compare_\w+)\(", code))
                said = has_comment(near) or used <= argued if order == "relaxed" else pairs(near)
                if not said:
                    yield f"include/weir/{name}:{i + 1}: no comment says why {order}: {line.strip()}"
                    break


def too_many_macros(root):
    macros = set()
    for name in header_names(root):
        text = (root / "include" / "weir" / name).read_text(encoding="utf-8")
        guard = "WEIR_" + re.sub(r"\W", "_", name).upper()
        macros |= set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.MULTILINE)) - {guard}
    macros -= OF_ASIO
    if len(macros) > MAX_MACROS:
        yield f"include/weir: {len(macros)} macros, {MAX_MACROS} are allowed: {' '.join(sorted(macros))}"


def problems_in(root, elsewhere, excused):
    root = Path(root)
    for rule in (not_alone, unargued, too_many_macros):
        yield from rule(root)
    yield from unmirrored(root, elsewhere)
    yield from not_shown_alone(root, excused)


def compile_all(root, compiler, flags):
    def judge(case, status, errors):
        return f"{case[0]}: does not compile:\n{errors}" if status else None

    runtime = f"-I{root}/tests/cuda/stand_in/include"  # of CUDA, for those who have none
    yield from check.syntax_of_all(compiler, [*flags, runtime], root, [(path,) for path in alone(root)], judge)


GOOD = {
    "include/weir/a.hpp": "/// For users.\n#define WEIR_A_HPP\n#define WEIR_X 1\n"
                          + "#include <atomic>  // for std::atomic\n"
                          + "\n" * NEAR + "a.load(std::memory_order_acquire);  // pairs with b\n"
                          + "\n" * NEAR + "n_.load(std::memory_order_relaxed);\n"
                          + "\n" * NEAR + "std::atomic<int> n_{0};  // a count\n",
    "include/weir/b.hpp": "",
    "include/weir/c/d.hpp": "/// For users who have more.\n",
    "tests/a.test.cpp": '#include <weir/a.hpp>\n#include "support/catch.hpp"\n#include <weir/b.hpp>\n',
    "tests/other.test.cpp": "",
    "tests/c/d.test.cpp": "#include <weir/c/d.hpp>\n",
    "tests/alone/a.cpp": "#include <weir/a.hpp>\n#include <vector>\n",
}
BAD = [
    ("include/weir/c.hpp", "", "has no tests/c.test.cpp"),
    ("tests/b.test.cpp", "#include <weir/b.hpp>\n", "take it out of ELSEWHERE"),
    ("tests/a.test.cpp", "#include <weir/b.hpp>\n#include <weir/a.hpp>\n", "does not include <weir/a.hpp> first"),
    ("tests/other.test.cpp", None, "tests/other.test.cpp, which does not exist"),
    ("include/weir/b.hpp", None, "is in ELSEWHERE and does not exist"),
    ("tests/alone/a.cpp", "#include <weir/a.hpp>\n#include <weir/b.hpp>\n", "only <weir/a.hpp>"),
    ("tests/alone/a.cpp", None, "has no tests/alone/a.cpp"),
    ("tests/alone/c/d.cpp", "#include <weir/c/d.hpp>\n", "c/ needs no excuse"),
    ("include/weir/a.hpp", GOOD["include/weir/a.hpp"].replace("  // pairs with b", ""), "says why acquire"),
    ("include/weir/a.hpp", GOOD["include/weir/a.hpp"].replace("// pairs with b", "// a look"), "says why acquire"),
    ("include/weir/a.hpp", GOOD["include/weir/a.hpp"].replace("  // a count", ""), "says why relaxed"),
    ("include/weir/b.hpp", "".join(f"#define WEIR_{i}\n" for i in range(MAX_MACROS)), "macros,"),
]


def self_test():
    def found(tree):
        with tempfile.TemporaryDirectory() as root:
            for name, text in tree.items():
                path = Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if text is not None:
                    path.write_text(text)
            return list(problems_in(root, {"b.hpp": ("tests/other.test.cpp", "so")}, {"c/": "so"}))

    yield from (f"the good tree: {problem}" for problem in found(GOOD))
    for name, text, expected in BAD:
        problems = found({**GOOD, name: text})
        if not any(expected in problem for problem in problems):
            yield f"{name}: not noticed: {expected}; found: {problems}"


if __name__ == "__main__":
    sys.exit(check.run(__doc__, lambda root: problems_in(root, ELSEWHERE, NOT_ALONE), self_test, compile_all))
