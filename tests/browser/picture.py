#!/usr/bin/env python3
"""Makes the picture of a report that README.md shows, from a page that tests/browser/pages.cpp has written.

    tests/browser/picture.py FOLDER          checks include/weir/report/page.svg against FOLDER/loader.html
    tests/browser/picture.py --write FOLDER  writes it

The run of this page is on virtual time, so its figures are the same on each machine. The picture has the graph and two
plots of the page, in the page's light colours. It uses no CSS variables and no HTML, so that any viewer shows it.
"""

import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

PICTURE = Path(__file__).resolve().parents[2] / "include/weir/report/page.svg"
SVG = "http://www.w3.org/2000/svg"
WIDTH, HEIGHT = 900, 752
GRAPH = (8, 60, 232, 606)  # left, top, width, height
PLOTS = [("readiness", 268, 98), ("ave_time", 268, 424)]
PLOT_WIDTH = 620
FONT = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif'
# The rules of the page's style that apply to the picture.
RULES = re.compile(r"^(svg text|svg\.plot|\.(grid|axis|line|s\d|sg|graph|box|queue|st-)|\[class|#arrow)")


def style_of(text):
    """The rules with each variable replaced by its value in light colours."""
    css = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", text)
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", css)
    values = dict(re.findall(r"(--\w+):\s*([^;]+);", rules[0][1]))
    classes = {s.strip()[1:]: value for s, body in rules for value in re.findall(r"--(?:line|state): ([^;]+);", body)}
    kept = []
    for selector, body in ((s.strip(), b) for s, b in rules):
        if not RULES.match(selector) or "--" in re.sub(r"var\([^)]*\)", "", body) or "width: 100%" in body:
            continue
        kept += [f"{selector} {{ {' '.join(body.split())} }}"]
    for name, value in classes.items():
        colour = value.removeprefix("var(").removesuffix(")")
        colour = values.get(colour, colour)
        if name.startswith("st-"):
            kept += [f"path.{name} {{ stroke: {colour}; }}", f".box.{name} use {{ fill: {colour}; stroke: {colour}; }}"]
        else:
            kept += [f".line.{name} path {{ stroke: {colour}; }}", f".line.{name} use {{ fill: {colour}; }}"]
    text = "\n".join(line for line in kept)
    text = re.sub(r"[\w-]+: var\(--(?:line|state)\);?", "", text)
    return re.sub(r"var\((--\w+)\)", lambda m: values[m[1]], text).replace("inherit", FONT)


def picture_of(page):
    xml.register_namespace("", SVG)
    style = style_of(re.search(r"<style>(.*?)</style>", page, re.S)[1])
    marks = re.search(r'<svg width="0".*?(<defs>.*?</defs>)</svg>', page, re.S)[1]
    title = re.search(r"<h1><bdi>(.*?)</bdi>", page)[1]
    facts = [" ".join(fact) for fact in re.findall(r"<li><b>(.*?)</b> <span>(.*?)</span>", page)]
    graph = re.search(r'<svg class="graph".*?</svg>', page, re.S)[0]
    x, y, width, height = GRAPH
    parts = [placed(graph, x, y, width, height), *legend_of(page, 268, 60)]
    for name, x, y in PLOTS:
        plot = re.search(rf'<svg class="plot" role="img" aria-labelledby="{name}-t.*?</svg>', page, re.S)[0]
        heading = re.search(r"<title[^>]*>(.*?)</title>", plot)[1]
        parts += [f'<text x="{x}" y="{y}" class="head">{heading}</text>',
                  placed(plot, x, y + 4, PLOT_WIDTH, PLOT_WIDTH * 760 // 1440)]
    body = marks + "".join(parts)
    style = "\n".join(line for line in style.splitlines()
                      if all(re.search(rf"\b{name}\b", body) for name in re.findall(r"\.(s\d+|sg|st-\w+)\b", line)))
    return (f'<svg xmlns="{SVG}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">\n'
            f"<title>A part of the page that weir::html_report writes: {title}</title>\n"
            f"<style>\n{style}\n.head {{ font-size: 17px; font-weight: 600; }} .small {{ font-size: 14px; fill: #555d66; }}\n"
            f"</style>\n{marks}\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
            f'<text x="20" y="30" font-size="22" font-weight="700">{title[0].upper() + title[1:]}</text>\n'
            f'<text x="268" y="30" class="small">{facts[0]} · {facts[3]} · {facts[4].replace(" of them a second", "")}</text>\n'
            + "\n".join(parts) + "\n</svg>\n")


def legend_of(page, x, y):
    """The lines of the first plot, side by side: key and name."""
    article = re.search(rf'<article aria-labelledby="{PLOTS[0][0]}-h">.*?</article>', page, re.S)[0]
    for key, name in re.findall(r'(<svg class="key s\d+".*?</svg>)<bdi>(.*?)</bdi>', article, re.S):
        style = re.search(r"key (s\d+)", key)[1]
        key = re.sub(r"<svg[^>]*>", f'<svg x="{x}" y="{y - 13}" width="46" height="16" viewBox="0 0 138 48">'
                                    f'<g class="line {style}">', key).replace("</svg>", "</g></svg>")
        yield f'{key}<text x="{x + 52}" y="{y}" class="small">{name}</text>'
        x += 74 + 8 * len(name)


def placed(svg, x, y, width, height):
    """An <svg> of the page, inside of the picture: without what is for programs and screen readers of the page."""
    head, rest = svg.split(">", 1)
    kind, box = re.search(r'class="(\w+)"', head)[1], re.search(r'viewBox="([^"]*)"', head)[1]
    rest = re.sub(r"<(title|desc)[^>]*>.*?</\1>", "", rest, flags=re.S)
    rest = re.sub(r' (data-\w+|aria-\w+|role)="[^"]*"', "", rest).replace('<path class="cursor" d=""/>', "")
    return f'<svg class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{box}">{rest}'


def main(arguments):
    write = arguments[:1] == ["--write"]
    page = Path(arguments[-1], "loader.html").read_text(encoding="utf-8")
    picture = picture_of(page)
    xml.fromstring(picture)
    if write:
        PICTURE.write_text(picture, encoding="utf-8")
    elif picture != PICTURE.read_text(encoding="utf-8"):
        print("include/weir/report/page.svg is not what the page shows now: tests/browser/picture.py --write FOLDER")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
