#!/usr/bin/env python3
"""Checks the documents of the repository: each *.md, and each *.md that another file names.

    tests/house/documents.py [ROOT]       checks ROOT (the default: this repository)
    tests/house/documents.py --self-test  shows, on small trees, that each rule can fail

The rules:
- The target of each relative link exists, and so does the heading or the line range that the link names behind `#`.
- Each file exists that a page names in backquotes or in its text with its folder (`tests/run`, include/weir/task.hpp).
- A row of a table that names headers, as `room/x.hpp` or, behind `room/` in its first column, as `x.hpp`, names
  existing headers of include/weir. Each function in such a row, `f()`, is declared in one of these headers.
- A C++ block comes from a compiled file: the comment before the block names that file, and the block is in that file
  to the letter, except for the indentation and the marks for clang-format.
- A *.md file that a source file or a script names with its folder exists.
- In each README.md and in CONTRIBUTING.md, a sentence has at most MOST_WORDS words. Text in backquotes counts as one
  word, text in parentheses as none. (CONTRIBUTING.md asks for 25.) No sentence begins with "Who".
"""

import re
import sys
import tempfile
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import check  # noqa: E402

BLOCK = re.compile(r"(?:<!-- from (?P<source>\S+) -->\n)?```cpp\n(?P<code>.*?)```", re.S)
ANY_BLOCK = re.compile(r"^( *)```.*?^ *```$", re.S | re.M)
LINK = re.compile(r"\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]*))?\)|\bsrc=\"(?!\w+:)([^\"]+)\"")
FOLDERS = r"(?:tests|bench|examples|include|\.ci|\.github)"
NAMED = re.compile(rf"[` (]({FOLDERS}/[\w./-]*[\w/])")
NAMED_PAGE = re.compile(rf"(?<![\w/]){FOLDERS}/[\w./-]*\.md\b")
# A fixture of the lint: its blocks do not compile.
NOT_READ = {"tests/compilers/lint/blocks.md"}
MOST_WORDS = 32
TEXTS = {".py", ".hpp", ".cpp", ".cppm", ".txt", ".cmake", ".sh", ".tsv", ".build", ""}


def anchors_in(text):
    """The fragments of a page's headings, as the forge makes them."""
    found = []
    for title in re.findall(r"^#+ +(.*)$", ANY_BLOCK.sub("", text), re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        anchor = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
        found.append(anchor if anchor not in found else f"{anchor}-{found.count(anchor)}")
    return found


def broken_links(root, page, text):
    for target, anchor, image in LINK.findall(ANY_BLOCK.sub("", text)):
        path = (page.parent / (target or image)) if target or image else page
        if not path.exists() or not path.resolve().is_relative_to(root.resolve()):
            yield f"links to '{target or image}', which does not exist"
        elif anchor and path.suffix == ".md" and anchor not in anchors_in(path.read_text(encoding="utf-8")):
            yield f"links to '{target}#{anchor}', and there is no such heading"


def unnamed_files(root, text):
    yield from (f"names '{file}', which does not exist" for file in NAMED.findall(text) if not (root / file).exists())


def unfound(text, read):
    """What a row of a table names of the library and what does not exist. `read` gives a header's text, or None."""
    for row in (line for line in text.splitlines() if line.startswith("| ")):
        room = next(iter(re.findall(r"^\| `(\w+)/` \|", row)), None)
        headers = [h if "/" in h or room is None else f"{room}/{h}" for h in re.findall(r"`([a-z_/]+\.hpp)`", row)]
        texts = {h: read(h) for h in headers if "/" in h}
        yield from (f"include/weir/{h} does not exist" for h, found in texts.items() if found is None)
        for name in re.findall(r"`(\w+)\(\)`", row) if texts else ():
            if not any(found and re.search(rf"\b{name}\(", found) for found in texts.values()):
                yield f"'{name}()' is in none of {', '.join(texts)}"


def wrong_blocks(text, read):
    """C++ blocks that are not in the file that they name. `read` gives a file's text, or None."""
    for block in BLOCK.finditer(text):
        first = block["code"].splitlines()[0]
        if block["source"] is None:
            yield f"'{first}': no comment names the file that this block comes from"
            continue
        lines = textwrap.dedent(block["code"]).splitlines()
        source = read(block["source"])
        if source is None:
            yield f"'{first}': {block['source']} does not exist"
            continue
        source = [line for line in source.splitlines() if "clang-format" not in line]
        starts = [i for i in range(len(source)) if source[i].strip() == lines[0].strip()]
        if not any(textwrap.dedent("\n".join(source[i:i + len(lines)])).splitlines() == lines for i in starts):
            yield f"'{first}': not as it is in {block['source']}"


def sentences_of(text):
    """The sentences of paragraphs, list items and cells of tables, without code blocks and headings."""
    paragraphs = [""]
    for line in ANY_BLOCK.sub("", text).splitlines():
        if line.startswith("|"):
            paragraphs += [*re.split(r"(?<!\\)\|", line)[1:-1], ""]
        elif not line.strip() or line.startswith(("#", "<")):
            paragraphs.append("")
        elif re.match(r"\s*(- |\d+\. )", line):
            paragraphs.append(line.strip())
        else:
            paragraphs[-1] += f" {line.strip()}"
    for paragraph in paragraphs:
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
        plain = re.sub(r"\([^()]*\)", "", re.sub(r"`[^`]*`", "X", plain))
        yield from (s.strip(" -*") for s in re.split(r"[.!?;:][\"*]*(?:\s+|$)", plain))


def wordy_sentences(text):
    for sentence in sentences_of(text):
        words = re.findall(r"[\w'’-]+", sentence)
        if len(words) > MOST_WORDS:
            yield f"{len(words)} words in a sentence; at most {MOST_WORDS} are allowed: '{sentence[:60]}...'"
        if words[:1] == ["Who"]:
            yield f"a sentence begins with 'Who': '{sentence[:60]}...'"


def files_of(root):
    """The files of the repository, without what is built in it."""
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        hidden = parts[0].startswith(".") and parts[0] not in (".github", ".ci")
        if not hidden and not parts[0].startswith("build") and "__pycache__" not in parts and path.is_file():
            yield path


def problems_in(root):
    def read(name):
        path = root / name
        return path.read_text(encoding="utf-8") if path.is_file() else None

    def read_header(name):
        """With the bodies of its functions in .ipp files."""
        text = read(f"include/weir/{name}")
        return text and "".join([text, *(read(f"include/{bodies}") or "" for bodies in re.findall(r"<(weir/\S+\.ipp)>", text))])

    for path in files_of(root):
        name = path.relative_to(root).as_posix()
        if path.suffix == ".md" and name not in NOT_READ:
            text = path.read_text(encoding="utf-8")
            for problem in (*broken_links(root, path, text), *unnamed_files(root, text),
                            *unfound(text, read_header), *wrong_blocks(text, read)):
                yield f"{name}: {problem}"
            if path.name in ("README.md", "CONTRIBUTING.md"):
                yield from (f"{name}: {problem}" for problem in wordy_sentences(text))
        elif path.suffix in TEXTS and name != "tests/house/documents.py":
            text = path.read_text(encoding="utf-8", errors="replace")
            for page in NAMED_PAGE.findall(text):
                if not (root / page).exists():
                    yield f"{name}: names '{page}', which does not exist"


GOOD = {
    "README.md": "# A page\n\nThis is a sentence. " + "word " * 32 + ". More.\n\n"
                 "[a](#a-page) [b](examples/README.md#two-words-and-code) [c](https://d.e/f)\n\n"
                 "`examples/run --help`, examples/a.cpp\n\n| x | `a/b.hpp`: `c()` |\n| `a/` | `b.hpp` |\n| y | `d()` |\n\n"
                 "<!-- from examples/a.cpp -->\n```cpp\nint x = 1;\nreturn x;\n```\n",
    "examples/README.md": "# Two words, and `code`\n\n```sh\n# no heading, [no link](nowhere)\n```\n![b](../b.svg)\n",
    "examples/a.cpp": "// See examples/README.md.\nint main() {\n    int x = 1;\n    return x;\n}\n",
    "examples/run": "", "b.svg": "", "include/weir/a/b.hpp": "void c();\n", "build/README.md": "[a](b)\n",
}
# File, replaced text, new text, and the expected problem.
BAD = [
    ("README.md", "#a-page", "#b-page", "no such heading"),
    ("README.md", "#two-words-and-code", "#two", "no such heading"),
    ("README.md", "examples/README.md#", "examples/TEXT.md#", "'examples/TEXT.md', which does not exist"),
    ("README.md", "`examples/run", "`examples/ran", "names 'examples/ran'"),
    ("README.md", ", examples/a.cpp", ", examples/b.cpp", "names 'examples/b.cpp'"),
    ("README.md", "`a/b.hpp`", "`a/c.hpp`", "include/weir/a/c.hpp does not exist"),
    ("README.md", "| `b.hpp`", "| `c.hpp`", "include/weir/a/c.hpp does not exist"),
    ("README.md", "`c()`", "`d()`", "'d()' is in none of a/b.hpp"),
    ("README.md", "int x = 1", "int x = 2", "not as it is in examples/a.cpp"),
    ("README.md", "from examples/a.cpp", "from examples/b.cpp", "examples/b.cpp does not exist"),
    ("README.md", "<!-- from examples/a.cpp -->\n", "", "no comment names the file"),
    ("README.md", ". More.", "more. More.", "33 words in a sentence"),
    ("README.md", "This is", "Who is", "begins with 'Who'"),
    ("examples/README.md", "../b.svg", "../c.svg", "'../c.svg', which does not exist"),
    ("examples/README.md", "../b.svg", "../../b.svg", "'../../b.svg', which does not exist"),
    ("examples/a.cpp", "examples/README.md", "examples/TEXT.md", "names 'examples/TEXT.md'"),
]


def problems_of(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, "tree", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return list(problems_in(Path(folder, "tree")))


def self_test():
    yield from (f"the good tree: {problem}" for problem in problems_of(GOOD))
    for name, old, new, expected in BAD:
        if GOOD[name].count(old) != 1:
            yield f"occurs {GOOD[name].count(old)} times in {name}: {old!r}"
        found = problems_of({**GOOD, name: GOOD[name].replace(old, new)})
        if not any(expected in problem for problem in found):
            yield f"{name}: {old!r} -> {new!r}: not noticed: {expected}; found: {found}"
    if anchors_in("# A\n## A\n") != ["a", "a-1"]:
        yield "two headings with one text have one anchor"


if __name__ == "__main__":
    sys.exit(check.run(__doc__, problems_in, self_test))
