#!/usr/bin/env python3
"""Checks rules for the repository as a whole, from the text alone.

    tests/house/house.py [ROOT]                        checks ROOT (the default: this repository)
    tests/house/house.py --compile COMPILER [FLAG...]  compiles each header alone, with its program in
        tests/house/alone.txt, and with the warnings that users may enable
    tests/house/house.py --self-test                   shows, on a small tree, that each rule can fail

The rules (tests/house/layers.py has those for single headers):
- Each include/weir/ROOM/X.hpp has a test tests/unit/ROOM/X.test.cpp (of cuda/ and mpi/: tests/ROOM/X.test.cpp), which includes the
  header first. Otherwise ELSEWHERE has the file that tests it, and the reason. layers.py checks what a face includes.
- Each header with a docstring (`///`) has a program in tests/house/alone.txt, which includes no other header of the library
  and shows that the header is usable alone. Otherwise NOT_ALONE has the reason.
- Each atomic operation that is not seq_cst has a comment with the reason, near it, or, if it is relaxed, near the
  variable. The comment is on a line of its own or behind the operation. For an acquire or release it names the
  operation that it pairs with.
- Each place where a coroutine is suspended has a comment that says where the coroutine is resumed.
- The library has at most MAX_MACROS macros without guards, and three that choose the kind of Asio, for asio/ only.
"""

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import check  # noqa: E402

MAX_MACROS = 7
OF_ASIO = {"WEIR_ASIO_FILE", "WEIR_ASIO_KIND", "WEIR_ASIO_LIBRARY"}
NEAR = 6  # lines above an operation
ABOVE = 3  # lines above a variable
ALONE = "tests/house/alone.txt"
PAIRS = re.compile(r"\bpairs? with\b")

ELSEWHERE = {
    "src.hpp": ("tests/packaging/run", "compiled with WEIR_SEPARATE_COMPILATION alone"),
    "report/html_plots.hpp": ("tests/browser/pages.py", "what the plots of pages show"),
    "report/html_sections.hpp": ("tests/browser/pages.cpp", "pages of runs of all kinds"),
    "report/html_style.hpp": ("tests/browser/check.py", "how pages look in a browser"),
    "stages/running_batch_slots.hpp": ("tests/unit/stages/batch_slots.test.cpp", "the stage that batch_slots describes"),
    "stages/stage_task.hpp": ("tests/unit/stages/stage_worker.test.cpp", "a base of each worker"),
    "mpi/link.hpp": ("tests/mpi/channel.test.cpp", "what the ranks of a channel tell each other"),
    "mpi/item_link.hpp": ("tests/mpi/channel.test.cpp", "the items of one rank of a channel"),
    "version.hpp": ("tests/packaging/run", "three numbers, which each build file reads its version from"),
}

# Headers that need a library or compiler feature that may be missing; for CUDA and MPI there are stand-ins.
NEEDS_A_LIBRARY = re.compile(r"(asio|execution)[/.]|report/(fmt|format|sqlite\w*)[.]|src[.]hpp")

# Headers or folders.
NOT_ALONE = {
    "asio/": "each needs Asio, which not everybody has",
    "execution/": "each needs an implementation of std::execution, which not everybody has",
    "report/fmt.hpp": "needs {fmt}, which not everybody has",
    "report/format.hpp": "needs std::format, which not everybody has",
    "report/sqlite.hpp": "needs SQLite, which not everybody has",
}


def header_names(root):
    folder = root / "include" / "weir"
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.hpp"))


def file_names(root):
    """Headers, and the .ipp files with bodies of their functions."""
    folder = root / "include" / "weir"
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.[hi]pp"))


def own_includes(text):
    return re.findall(r'^#include [<"](weir/[^>"]+)[>"]', text, re.MULTILINE)


def is_face(root, name):
    return "/" not in name and (root / "include" / "weir" / name.removesuffix(".hpp")).is_dir()


def unmirrored(root, elsewhere):
    names = header_names(root)
    for name in names:
        if is_face(root, name):
            continue
        folder = "tests" if name.startswith(("cuda/", "mpi/")) else "tests/unit"
        mirror = root / folder / (name.removesuffix(".hpp") + ".test.cpp")
        if name in elsewhere:
            if mirror.exists():
                yield f"tests/house/house.py: {name} has a test of its own now: take it out of ELSEWHERE"
            if not (root / elsewhere[name][0]).exists():
                yield f"tests/house/house.py: {name} is tested by {elsewhere[name][0]}, which does not exist"
        elif not mirror.exists():
            yield f"include/weir/{name}: has no {mirror.relative_to(root).as_posix()}"
        elif own_includes(mirror.read_text(encoding="utf-8"))[:1] != [f"weir/{name}"]:
            yield f"{mirror.relative_to(root).as_posix()}: does not include <weir/{name}> first"
    for name in set(elsewhere) - set(names):
        yield f"tests/house/house.py: {name} is in ELSEWHERE and does not exist"


def alone(root):
    """{header: what is compiled with it}."""
    parts = re.split(r"^== (\S+)\n", (root / ALONE).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def not_alone(root):
    names = header_names(root)
    for name, text in alone(root).items():
        if name not in names:
            yield f"{ALONE}: {name} does not exist"
        if own_includes(text):
            yield f"{ALONE}: {name}: includes of the library only itself"


def not_shown_alone(root, excused):
    """What NOT_ALONE should say, and what it shouldn't."""
    used, table = set(), alone(root)
    for name in header_names(root):
        text = (root / "include" / "weir" / name).read_text(encoding="utf-8")
        shown = name in table
        reasons = {key for key in excused if name == key or key.endswith("/") and name.startswith(key)}
        if not shown and "///" in text and not reasons:
            yield f"include/weir/{name}: has no row in {ALONE}"
        if not shown and "///" in text:
            used |= reasons
    for key in sorted(set(excused) - used):
        yield f"tests/house/house.py: {key} needs no excuse any more: take it out of NOT_ALONE"


def pairs(lines):
    """Whether they say with what something pairs; the sentence may go over the end of a line."""
    comments = " ".join(line.split("//", 1)[1].strip() for line in lines if "//" in line)
    return PAIRS.search(comments) is not None


def has_comment(lines):
    return any("// " in line and "// for std::" not in line for line in lines)


def weak_orders(root):
    """(header, line number, code, order, whether a comment argues for it) of each that is not seq_cst."""
    headers = {name: (root / "include" / "weir" / name).read_text(encoding="utf-8").split("\n")
               for name in file_names(root)}
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
                yield name, i + 1, line.strip(), order, said


def unargued(root):
    for name, number, code, order, said in weak_orders(root):
        if not said:
            yield f"include/weir/{name}:{number}: no comment says why {order}: {code}"


def unsaid_resumptions(root):
    for name in file_names(root):
        lines = (root / "include" / "weir" / name).read_text(encoding="utf-8").split("\n")
        for i, line in enumerate(lines):
            if not re.search(r"(?<!::)\bawait_suspend\((std::coroutine_handle|handle)\b", line.split("//")[0]):
                continue
            if not any("//" in near and re.search(r"resume", near, re.IGNORECASE)
                       for near in lines[max(0, i - NEAR):i]):
                yield f"include/weir/{name}:{i + 1}: no comment says where the coroutine is resumed"


def macros_of(root):
    """Without guards, and those of Asio."""
    macros = set()
    for name in file_names(root):
        text = (root / "include" / "weir" / name).read_text(encoding="utf-8")
        guard = "WEIR_" + re.sub(r"\W", "_", name).upper()
        macros |= set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.MULTILINE)) - {guard}
    return macros - OF_ASIO


def too_many_macros(root):
    macros = macros_of(root)
    if len(macros) > MAX_MACROS:
        yield f"include/weir: {len(macros)} macros, {MAX_MACROS} are allowed: {' '.join(sorted(macros))}"


def unrequired(root):
    """What comes first of all in each header are the sentences for compilers that can't compile it."""
    first = "platform/config.hpp"
    if first not in header_names(root):
        return
    for name in file_names(root):
        text = (root / "include" / "weir" / name).read_text(encoding="utf-8")
        if name not in (first, "version.hpp") and not re.search(r"\A(?:[^#]|#(?!include))*#include <weir/", text):
            yield f"include/weir/{name}: includes no header of the library first; at least <weir/{first}>"


def problems_in(root, elsewhere, excused):
    root = Path(root)
    for rule in (unrequired, not_alone, unargued, unsaid_resumptions, too_many_macros):
        yield from rule(root)
    yield from unmirrored(root, elsewhere)
    yield from not_shown_alone(root, excused)


def closures(root):
    """{header: what of the library it includes, in the end}."""
    direct = {name: set(i.removeprefix("weir/") for i in
                        own_includes((root / "include" / "weir" / name).read_text(encoding="utf-8")))
              for name in header_names(root)}
    known = {}

    def of(name):
        if name not in known:
            known[name] = set()  # in case of a cycle, which layers.py reports
            known[name] = set().union(*({i} | of(i) for i in direct.get(name, ())))
        return known[name]

    return {name: of(name) for name in direct}


def others_included(root, included):
    """{header: which headers of others it includes, in the end; without those of its own .ipp files}."""
    def of(path):
        return set(re.findall(r"^#include <(?!weir/)([^>]+)>", path.read_text(encoding="utf-8"), re.MULTILINE)
                   if path.exists() else ())

    folder = root / "include" / "weir"
    own = {name: of(folder / name) for name in header_names(root)}
    whole = {name: own[name].union(*(of(folder / bodies) for bodies in re.findall(
        r"^#include <weir/(\S+\.ipp)>", (folder / name).read_text(encoding="utf-8"), re.MULTILINE))) for name in own}
    return {name: own[name].union(*(whole[i] for i in all if i in whole)) for name, all in included.items()}


def to_compile(included, others, programs):
    """Lists of headers, each compiled as if it were alone: it includes itself what comes before it in its list, and what
    the programs of these headers include."""
    lists = []
    for name in sorted(included, key=lambda n: (len(included[n]), n)):
        fitting = [l for l in lists if l[-1] in included[name]
                   and all(set(re.findall(r"#include <([^>]+)>", programs.get(n, ""))) <= others[name] for n in l)]
        if fitting:
            max(fitting, key=lambda l: len(included[l[-1]])).append(name)
        else:
            lists.append([name])
    return lists


def source_of(names, programs):
    """Each header, and behind it its program, in a namespace unless it specialises a template of the library."""
    text = ""
    for number, name in enumerate(names):
        program = programs.get(name, "")
        code = re.sub(r"^#include .*\n", "", program, flags=re.MULTILINE)
        if code.strip() and "template <>" not in code:
            code = f"namespace program_{number} {{\n{code}}}\n"
        text += f"#include <weir/{name}>\n" + "".join(re.findall(r"^#include .*\n", program, re.MULTILINE)) + code
    return text


def compile_all(root, compiler, flags):
    def judge(case, status, errors):
        return f"{case[1]}: does not compile:\n{errors}" if status else None

    stand_ins = [f"-isystem{root}/tests/{room}/stand_in/include" for room in ("cuda", "mpi")]  # for those who have neither
    programs = alone(root)
    included = {name: all for name, all in closures(root).items() if not NEEDS_A_LIBRARY.match(name)}
    with tempfile.TemporaryDirectory() as folder:
        cases = []
        for names in to_compile(included, others_included(root, included), programs):
            path = Path(folder) / names[-1].replace("/", ".").replace(".hpp", ".cpp")
            path.write_text(source_of(names, programs), encoding="utf-8")
            cases.append((path, ", ".join(names)))
        yield from check.syntax_of_all(compiler, [*check.users_warnings(compiler), *flags, *stand_ins], root, cases, judge)


GOOD = {
    "include/weir/a.hpp": "/// For users.\n#define WEIR_A_HPP\n#define WEIR_X 1\n"
                          + "#include <atomic>  // for std::atomic\n"
                          + "\n" * NEAR + "a.load(std::memory_order_acquire);  // pairs with b\n"
                          + "\n" * NEAR + "n_.load(std::memory_order_relaxed);\n"
                          + "\n" * NEAR + "std::atomic<int> n_{0};  // a count\n"
                          + "// Resumes there.\nvoid await_suspend(std::coroutine_handle<> h);\n",
    "include/weir/b.hpp": "",
    "include/weir/c/d.hpp": "/// For users who have more.\n",
    "include/weir/c.hpp": "#include <weir/c/d.hpp>\n",
    "tests/unit/a.test.cpp": '#include <weir/a.hpp>\n#include "support/catch.hpp"\n#include <weir/b.hpp>\n',
    "tests/other.test.cpp": "",
    "tests/unit/c/d.test.cpp": "#include <weir/c/d.hpp>\n",
    ALONE: "# A table.\n\n== a.hpp\n#include <vector>\n",
}
BAD = [
    ("include/weir/e.hpp", "", "has no tests/unit/e.test.cpp"),
    ("tests/unit/b.test.cpp", "#include <weir/b.hpp>\n", "take it out of ELSEWHERE"),
    ("tests/unit/a.test.cpp", "#include <weir/b.hpp>\n#include <weir/a.hpp>\n", "does not include <weir/a.hpp> first"),
    ("tests/other.test.cpp", None, "tests/other.test.cpp, which does not exist"),
    ("include/weir/b.hpp", None, "is in ELSEWHERE and does not exist"),
    (ALONE, GOOD[ALONE] + "#include <weir/b.hpp>\n", "a.hpp: includes of the library only itself"),
    (ALONE, GOOD[ALONE] + "\n== gone.hpp\n", "gone.hpp does not exist"),
    ("include/weir/platform/config.hpp", "", "weir/b.hpp: includes no header of the library first"),
    (ALONE, "", "a.hpp: has no row in"),
    (ALONE, GOOD[ALONE] + "\n== c/d.hpp\n", "c/ needs no excuse"),
    ("include/weir/a.hpp", GOOD["include/weir/a.hpp"].replace("  // pairs with b", ""), "says why acquire"),
    ("include/weir/a.hpp", GOOD["include/weir/a.hpp"].replace("// pairs with b", "// acquire"), "says why acquire"),
    ("include/weir/a.hpp", GOOD["include/weir/a.hpp"].replace("  // a count", ""), "says why relaxed"),
    ("include/weir/a.hpp", GOOD["include/weir/a.hpp"].replace("// Resumes", "// Goes on"), "where the coroutine is res"),
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
    # d includes b and c, which both include a; f includes e, without what the program of e includes.
    lists = to_compile({"a": set(), "b": {"a"}, "c": {"a"}, "d": {"a", "b", "c"}, "e": set(), "f": {"e"}},
                       {"a": set(), "b": set(), "c": set(), "d": {"vector"}, "e": set(), "f": {"set"}},
                       {"b": "#include <vector>\n", "e": "#include <map>\n"})
    if lists != [["a", "b", "d"], ["e"], ["c"], ["f"]]:
        yield f"what is compiled together: {lists}"
    source = source_of(["a", "b"], {"a": "#include <map>\nint f();\n"})
    if source != "#include <weir/a>\n#include <map>\nnamespace program_0 {\nint f();\n}\n#include <weir/b>\n":
        yield f"the source of two: {source}"
    for name, text, expected in BAD:
        problems = found({**GOOD, name: text})
        if not any(expected in problem for problem in problems):
            yield f"{name}: not noticed: {expected}; found: {problems}"


if __name__ == "__main__":
    sys.exit(check.run(__doc__, lambda root: problems_in(root, ELSEWHERE, NOT_ALONE), self_test, compile_all))
