#!/usr/bin/env python3
"""Reads the pages that tests/browser/pages.cpp writes: no browser is needed.

    tests/browser/pages.py FOLDER       checks FOLDER/*.html
    tests/browser/pages.py --self-test FOLDER  shows, on one of these pages, that each rule can fail

- Each is well-formed XML, smaller than 500 kB, refers to nothing outside of itself and forbids itself to load anything.
- It has a heading for each part, six plots, and in each plot lines; each picture has a title, each table a caption.
- The plots of the documents' eight pipelines show, from the second lap on, what tests/programs/golden/documents_8.json says.
"""

import json
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
MOST_BYTES = 500_000
PARTS = ["pipeline", "time", "plots", "percentiles", "failures", "settings"]
PLOTS = ["ave_time", "num_tasks", "rate", "readiness", "get_time", "put_time"]
UNITS = {"ns": 1e-6, "µs": 1e-3, "ms": 1, "s": 1e3, "min": 6e4, "/s": 1, "k/s": 1e3, "%": 1, "": 1}  # in ms, /s, %


def plots_of(page):
    """{id of the plot: (unit, {name of the line: figures})}; a figure is None where there is none."""
    plots = {}
    for article in page.iter(HTML + "article"):
        svg = article.find(f".//{SVG}svg[@class='plot']")
        lines = {}
        for line in svg.iter(SVG + "g"):
            if "data-v" in line.attrib:
                lines[line.find(SVG + "title").text] = [float(v) if v else None for v in line.get("data-v").split(",")]
        plots[article.get("aria-labelledby").removesuffix("-h")] = (svg.get("data-u"), lines)
    return plots


def problems_of_page(name, text):
    if len(text) >= MOST_BYTES:
        yield f"{name}: {len(text)} bytes"
    try:
        page = xml.fromstring(text)
    except xml.ParseError as error:
        yield f"{name}: no XML: {error}"
        return
    policy = [m.get("content") for m in page.iter(HTML + "meta") if m.get("http-equiv") == "Content-Security-Policy"]
    if policy != ["default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"]:
        yield f"{name}: its policy is {policy}"
    ids = [e.get("id") for e in page.iter() if e.get("id")]
    for twice in sorted({i for i in ids if ids.count(i) > 1}):
        yield f"{name}: the id {twice} is given twice"
    for e in page.iter():
        for key, value in e.attrib.items():
            if key in ("href", "src", "srcset", "action", "data") and (not value.startswith("#") or value[1:] not in ids):
                yield f"{name}: <{e.tag.split('}')[1]}> refers to {value}"
            if key.startswith("on"):
                yield f"{name}: <{e.tag.split('}')[1]}> has {key}"
        for key in ("aria-labelledby",):
            for other in e.get(key, "").split():
                if other not in ids:
                    yield f"{name}: nothing has the id {other}"
    scripts = [e for e in page.iter() if e.tag.endswith("}script")]
    if len(scripts) != 1:
        yield f"{name}: {len(scripts)} scripts"
    if missing := [p for p in PARTS if p not in ids]:
        yield f"{name}: there is no part {missing}"
    for svg in page.iter(SVG + "svg"):
        if svg.get("role") != "img" or svg.find(SVG + "title") is None:
            yield f"{name}: a picture has no title"
    for table in page.iter(HTML + "table"):
        if not table.findtext(HTML + "caption"):
            yield f"{name}: a table has no caption"
    plots = plots_of(page)
    if list(plots) != PLOTS:
        yield f"{name}: its plots are {list(plots)}"
    if name not in ("empty", "no_time"):
        for plot, (_, lines) in plots.items():
            if not lines:
                yield f"{name}: {plot} has no lines"


def problems_of_documents(pages, expected):
    """Of {name of the pipeline: its page}; the figures are written with six digits."""
    for pipeline in expected:
        name = pipeline["name"]
        plots = plots_of(xml.fromstring(pages[name]))

        def check(plot, line, figure, tolerance):
            unit, lines = plots[plot]
            shown = [None if v is None else v * UNITS[unit] for v in lines[line][1:20]]
            if len(shown) < 18 or any(v is None or abs(v - figure) > tolerance for v in shown):
                yield f"{name}: {plot} of {line} is {shown}, not {figure}"

        for queue, figures in pipeline["expect"]["queues"].items():
            line = next(n for n in plots["rate"][1] if n.split("#")[0] == queue)
            yield from check("put_time", line, figures["ave_put_ms"], 1e-3)
            yield from check("get_time", line, figures["ave_get_ms"], 1e-3)
            yield from check("readiness", line, figures["occupancy_percent"], 1e-3)
        yield from check("rate", "sink", pipeline["expect"]["sink_qps"], 1e-3)
        for stage in pipeline["stages"]:
            if stage["op"] == "pipe":
                yield from check("ave_time", stage["name"], stage["service_ns"][0] / 1e6, 1e-3)
                rate = pipeline["expect"]["sink_qps"]
                for other in pipeline["stages"]:
                    rate *= other.get("size", 1)
                yield from check("num_tasks", stage["name"], rate * 2.52, 1.01)


def problems_in(folder):
    pages = {p.stem: p.read_bytes() for p in sorted(Path(folder).glob("*.html"))}
    if len(pages) < 16:
        yield f"{folder} has {len(pages)} pages"
    for name, text in pages.items():
        yield from problems_of_page(name, text)
    expected = json.loads((ROOT / "tests/programs/golden/documents_8.json").read_text(encoding="utf-8"))
    documents = {n.removeprefix("documents_"): t for n, t in pages.items() if n.startswith("documents_")}
    yield from problems_of_documents(documents, expected)


def self_test(folder):
    good = (Path(folder) / "documents_single_35.html").read_text(encoding="utf-8")
    expected = json.loads((ROOT / "tests/programs/golden/documents_8.json").read_text(encoding="utf-8"))[1:2]
    bad = {
        "no XML": good.replace("</main>", "", 1),
        "bytes": good.replace("</p>", " " * MOST_BYTES + "</p>", 1),
        "refers to": good.replace("<nav", "<img src=\"https://example.org/x.png\"/><nav", 1),
        "has onload": good.replace("<nav", "<nav onload=\"\"", 1),
        "its policy": good.replace("default-src 'none'", "default-src 'self'", 1),
        "has no title": re.sub(r"<title id=\"graph-t\">.*?</title>", "", good, count=1),
        "has no caption": re.sub(r"<caption>.*?</caption>", "", good, count=1),
        "scripts": good.replace("</main>", "<script>1</script></main>", 1),
        "is given twice": good.replace("<nav", "<nav id=\"plots\"", 1),
        "there is no part": good.replace("\"percentiles\"", "\"elsewhere\"").replace("#percentiles", "#elsewhere"),
        "put_time of": good.replace("data-v=\"0,0,0", "data-v=\"0,0,7"),
    }
    for says, text in bad.items():
        found = list(problems_of_page("page", text.encode()))
        if text == good:
            yield f"self-test: '{says}' changes nothing"
        if says == "put_time of":
            found += problems_of_documents({"single_35": text}, expected)
        if not any(says in f for f in found):
            yield f"self-test: '{says}' is not found; found: {found}"
    if found := [*problems_of_page("page", good.encode()), *problems_of_documents({"single_35": good}, expected)]:
        yield f"self-test: the good page: {found}"


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(__doc__)
    found = list(self_test(arguments[1]) if arguments[0] == "--self-test" else problems_in(arguments[0]))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
