#!/usr/bin/env python3
"""Checks that wrong code is refused with a message, and that each message is tested.

    tests/house/refusals.py [ROOT]                        compares ROOT/include/weir with ROOT/tests/refusals
    tests/house/refusals.py --compile COMPILER [FLAG...]  compiles each tests/refusals/*.fail.cpp with that compiler
    tests/house/refusals.py --count COMPILER [FLAG...]    lists those of these programs with more than two errors
    tests/house/refusals.py --self-test                   shows, on small trees, that each rule can fail

The rules:
- Each message of a `static_assert` or a `[[nodiscard("...")]]` is expected by a *.fail.cpp in one of FOLDERS. The first line
  of that file is `// expect-error: <part of the message>`; the compiler's first error line must contain this part. Few
  errors may follow, counted where the programs are compiled together: --count lists the programs with three or more.
- Each expectation of a test is part of such a message.
- A public concept is required by a `static_assert` with a message, or by another such concept.
- Only copy and move operations are deleted, because a compiler prints no message of the library for a deleted function.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import check  # noqa: E402

# Tests whose error is a missing include, or a missing WEIR_SEPARATE_COMPILATION.
WITHOUT_OTHERS = {"run_checkpoint_without_epochs.fail.cpp", "src_without_separate_compilation.fail.cpp"}
# Messages that are never the first error.
SECOND = "what is wrong is said above"
TOGETHER = 48  # programs in one source
MOST = 4  # errors that a program may get; the compilers differ in what they add to the sentence
STRING = r'"((?:\\.|[^"\\\n])*)"'


def text_of(literals):
    return "".join(re.findall(STRING, literals)).replace('\\"', '"')


def without_comments(text):
    return re.sub(rf"{STRING}|//[^\n]*", lambda m: m[0] if m[0][0] == '"' else "", text)


def argument(text, start):
    """What stands in the parentheses whose inside begins at `start`."""
    depth = 1
    for match in re.compile(rf"{STRING}|[()]").finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return text[start:match.start()]
    return text[start:]


class Header:
    def __init__(self, text):
        text = without_comments(text)
        self.said = []  # (what is asserted, the text, line)
        for match in re.finditer(r"static_assert\(|\[\[nodiscard\((?=\s*\")", text):
            inside = argument(text, match.end())
            if said := text_of(inside):
                self.said.append((inside, said, text.count("\n", 0, match.start()) + 1))
        # The definitions of public concepts. A name between the braces of detail belongs to it.
        public = re.sub(r"namespace [\w: ]*\bdetail \{.*?\n\}  (?=\n|$)|namespace [\w: ]*\bdetail \{.*?\n\}\s*?\n",
                        "", text, flags=re.DOTALL)
        self.concepts = dict(re.findall(r"\bconcept (\w+) =(.*?);\n", public, re.DOTALL))
        self.deleted = [(text.count("\n", 0, m.start()) + 1, m[0].strip())
                        for m in re.finditer(r"[^;{}]*= delete;", text)
                        if not re.search(r"(\w+)(& operator=)?\((const )?\1&{1,2}\) = delete", m[0])]


# Tests outside of tests/refusals need a library, or its absence, which only CTest knows.
FOLDERS = ("refusals", "cuda", "mpi", "unit/asio", "unit/execution")


def expectations(folders):
    for path in sorted(p for folder in folders for p in folder.glob("*.fail.cpp")):
        lines = path.read_text(encoding="utf-8").split("\n")
        match = re.match(r"// expect-error: (.+)", lines[0])
        yield path, match[1] if match else None


def problems_in(root):
    include = Path(root) / "include" / "weir"
    headers = {p.relative_to(include).as_posix(): Header(p.read_text(encoding="utf-8"))
               for p in sorted(include.rglob("*.[hi]pp"))}
    expected = list(expectations(Path(root) / "tests" / folder for folder in FOLDERS))
    said = [(name, *each) for name, header in headers.items() for each in header.said]
    for name, _, text, line in said:
        if SECOND not in text and not any(e and e in text for _, e in expected):
            yield f"include/weir/{name}:{line}: no *.fail.cpp expects: {text}"
    for path, text in expected:
        if text is None:
            yield f"tests/{path.parent.name}/{path.name}:1: has to be `// expect-error: <text>`"
        elif not any(text in s for _, _, s, _ in said):
            yield f"tests/{path.parent.name}/{path.name}:1: no header says: {text}"
    concepts = {c: (name, d) for name, header in headers.items() for c, d in header.concepts.items()}
    asked = " ".join(condition for _, condition, _, _ in said)
    for concept, (name, _) in concepts.items():
        users = asked + " ".join(d for other, (_, d) in concepts.items()
                                 if other != concept and re.search(rf"\b{other}<", asked))
        if not re.search(rf"\b{concept}<", users):
            yield f"include/weir/{name}: no static_assert asks for the concept {concept}, and says so"
    for name, header in headers.items():
        for line, declaration in header.deleted:
            yield f"include/weir/{name}:{line}: deleted without a sentence, use static_assert: {declaration}"


def first_error(output):
    return next((line for line in output.split("\n") if "error: " in line), "")


def has_format(compiler, flags):
    made = subprocess.run([compiler, "-std=c++20", *flags, "-x", "c++", "-E", "-"], capture_output=True, text=True,
                          input="#include <version>\nlibrary: __cpp_lib_format\n")
    return "library: __cpp_lib_format" not in made.stdout


def joined(programs):
    """One source of all these [(name, text)], each in a namespace and under its name, behind what all include."""
    includes = sorted({line for _, text in programs for line in re.findall(r"^#include .*", text, re.MULTILINE)})
    parts = [f'namespace program_{number} {{\n#line 1 "{name}"\n{re.sub(r"^#include .*", "", text, flags=re.MULTILINE)}\n}}\n'
             for number, (name, text) in enumerate(programs)]
    return "\n".join(includes) + "\n" + "".join(parts)


def errors_in(output, clang):
    """{program: the error lines that one of its lines has led to}, of what is said about a joined source."""
    found, context, error = {}, [], None

    def settle():
        names = re.findall(r"([^\s/]+[.]fail[.]cpp):\d", error.split(": ")[0]) if error else []
        if error and (names := names or re.findall(r"([^\s/]+[.]fail[.]cpp):\d", "\n".join(context))):
            found.setdefault(names[-1], []).append(error)

    for line in output.split("\n"):
        kind = re.search(r": (?:fatal )?(error|warning|note): ", line)
        if clang:  # which names the lines that have led to an error behind it
            if kind and kind[1] != "note":
                settle()
                context, error = [], line if kind[1] == "error" else None
            elif kind and error and re.search("requested here|while ", line):
                context.append(line)
        elif kind:  # g++ names them before it
            error = line if kind[1] == "error" else None
            settle()
            context, error = [], None
        else:
            context.append(line)
    settle()
    return found


def compile_all(root, compiler, flags, most=MOST):
    """What a compiler first says to each of them, and to which it says more than `most` errors. All headers are read only
    once. The programs are compiled together, as most that they instantiate is the same; and alone if that doesn't show that
    each is refused as it should be."""
    clang = "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout

    def judge(case, status, errors):
        path, expected = case
        if status == 0:
            return f"{path.name}: this compiles, and must not"
        first = first_error(errors)
        return None if expected in first else f"{path.name}: not said first: {expected}\n  but: {first}"

    def unsure(case, _, errors):
        found = errors_in(errors, clang)
        long.extend((len(said), name, said[1]) for name, said in found.items() if len(said) > most)
        return [(path, expected) for path, expected in case[1]
                if not expected or expected not in found.get(path.name, [""])[0]]

    long = []
    with tempfile.TemporaryDirectory() as folder:
        header = Path(folder) / "all.hpp"
        header.write_text("#include <weir/simulation.hpp>\n#include <weir/weir.hpp>\n")
        read = Path(folder) / ("all.pch" if clang else "all.hpp.gch")
        # clang otherwise instantiates, in each program, what the headers themselves use: half of its time.
        once = ["-fpch-instantiate-templates"] if clang else []
        separate = "-DWEIR_SEPARATE_COMPILATION"  # without the bodies of functions, which have no message
        subprocess.run([compiler, "-std=c++20", *check.WARNINGS, *flags, *once, separate, f"-I{root}/include",
                        "-x", "c++-header", header, "-o", read], check=True)
        known = [separate, *(["-include-pch", str(read)] if clang else ["-include", str(header)])]
        cases = [case for case in expectations([root / "tests" / "refusals"])
                 if case[0].name != "format_is_missing.fail.cpp" or not has_format(compiler, flags)]
        together = [case for case in cases if case[0].name not in WITHOUT_OTHERS]
        groups = []
        for start in range(0, len(together), TOGETHER):
            some = together[start:start + TOGETHER]
            source = Path(folder) / f"group_{start}.cpp"
            source.write_text(joined([(path.name, path.read_text(encoding="utf-8")) for path, _ in some]), encoding="utf-8")
            groups.append((source, some))
        # In a namespace `main` is a function as others: it has to return something.
        every = ["-ferror-limit=0", "-fno-caret-diagnostics"] if clang else ["-fmax-errors=0", "-fno-diagnostics-show-caret"]
        left = [case for some in check.syntax_of_all(compiler, [*flags, *known, *every, "-Wno-return-type"], root, groups, unsure)
                for case in some]
        for number, name, second in sorted(long, reverse=True):
            yield f"{name}: {number} errors, more than {most}; the second one: {second}"
        yield from check.syntax_of_all(compiler, ["-Wfatal-errors", *flags, *known], root, left, judge)
        apart = [case for case in cases if case[0].name in WITHOUT_OTHERS]
        yield from check.syntax_of_all(compiler, ["-Wfatal-errors", *flags], root, apart, judge)


GOOD = {
    "include/weir/a.hpp": "namespace weir {\ntemplate <class A>\nconcept part = true;\n"
                          "template <class A>\nconcept whole = part<A>;\n"
                          'static_assert(whole<A>, "weir: a whole is "\n    "one"); // "not (this\n'
                          'class [[nodiscard("keep it")]] a {\n    a(const a&) = delete;\n'
                          "    a& operator=(a&&) = delete;\n};\n}\n",
    "tests/refusals/a_whole.fail.cpp": "// expect-error: weir: a whole is one\n",
    "tests/refusals/a_kept.fail.cpp": "// expect-error: keep it\n",
}
BAD = [
    ("tests/refusals/a_kept.fail.cpp", "keep it", "keep them", "no *.fail.cpp expects: keep it"),
    ("tests/refusals/a_kept.fail.cpp", "keep it", "keep them", "no header says: keep them"),
    ("tests/refusals/a_kept.fail.cpp", "expect-error", "expects", "has to be"),
    ("include/weir/a.hpp", "static_assert(whole<A>", "static_assert(true", "asks for the concept whole"),
    ("include/weir/a.hpp", "concept whole = part<A>", "concept whole = true", "asks for the concept part"),
    ("include/weir/a.hpp", "a(const a&) = delete", "void f(int) = delete", "deleted without a sentence"),
]


SAID_BY_GCC = """a.hpp: In instantiation of 'f<int>':
one.fail.cpp:4:5:   required from here
a.hpp:7:3: error: static assertion failed: weir: first
a.hpp:7:3: note: two.fail.cpp:1:1 is a note
two.fail.cpp: In function 'int main()':
two.fail.cpp:9:1: error: second
one.fail.cpp:5:1: error: later
"""
SAID_BY_CLANG = """a.hpp:7:3: error: static assertion failed: weir: first
a.hpp:8:3: note: in instantiation of 'f<int>' requested here
one.fail.cpp:4:5: note: in instantiation of 'g<int>' requested here
two.fail.cpp:9:1: warning: a warning
two.fail.cpp:9:1: error: second
a.hpp:1:2: note: candidate
one.fail.cpp:5:1: error: later
"""


def self_test():
    for said, clang in ((SAID_BY_GCC, False), (SAID_BY_CLANG, True)):
        found_in = errors_in(said, clang)
        if found_in != {"one.fail.cpp": ["a.hpp:7:3: error: static assertion failed: weir: first",
                                         "one.fail.cpp:5:1: error: later"],
                        "two.fail.cpp": ["two.fail.cpp:9:1: error: second"]}:
            yield f"the errors of programs that are compiled together, {clang=}: {found_in}"

    def found(tree):
        with tempfile.TemporaryDirectory() as root:
            for name, text in tree.items():
                path = Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(problems_in(root))

    yield from (f"the good tree: {problem}" for problem in found(GOOD))
    for name, old, new, expected in BAD:
        problems = found({**GOOD, name: GOOD[name].replace(old, new)})
        if not any(expected in problem for problem in problems):
            yield f"{name}: {new}: not noticed: {expected}; found: {problems}"


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--count":
        for problem in compile_all(check.ROOT, sys.argv[2], sys.argv[3:], most=2):
            print(problem, flush=True)
        sys.exit(0)
    sys.exit(check.run(__doc__, problems_in, self_test, compile_all))
