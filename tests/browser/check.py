#!/usr/bin/env python3
"""Opens the pages that tests/browser/pages.cpp writes in a headless Chromium.

    tests/browser/check.py BROWSER FOLDER [NAME...]    all of FOLDER/*.html, or those that are named
    tests/browser/check.py --self-test BROWSER FOLDER  shows, on one of them, that each rule can fail

Each is opened at 1280 and at 400 pixels, in light and in dark, and must then
- have nothing on the console, and ask for nothing but itself;
- show everything: each line of each plot lies inside of its picture, each label inside of it and beside the others, and no text of the
  page is outside of the window or fainter than the 4.5 : 1 of WCAG (3 : 1 for lines);
- do what keys ask for: the slider, the legend, and everything that can be reached by Tab has its focus seen;
- print on some sheets.
Screenshots and prints lie in FOLDER/seen/.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import devtools  # noqa: E402

SIZES = [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]

# Each returns a list of problems.
LAYOUT = r"""(() => {
  // Of a text in a box: what of it the box shows.
  const seen = e => { const a = e.getBoundingClientRect(), b = e.closest(".box"); if (!b) return a; const c = b.querySelector("use").getBoundingClientRect();
    return {left: Math.max(a.left, c.left), right: Math.min(a.right, c.right), top: a.top, bottom: a.bottom}; };
  const found = [], inside = (a, b, by) => a.left >= b.left - by && a.right <= b.right + by && a.top >= b.top - by && a.bottom <= b.bottom + by;
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page is " + document.documentElement.scrollWidth + " wide");
  for (const svg of document.querySelectorAll("svg.plot, svg.graph")) {
    const box = svg.getBoundingClientRect(), name = svg.querySelector("title").textContent;
    if (box.width < 100 || box.height < 50) found.push(name + " has no size");
    for (const shape of svg.querySelectorAll(".line path, text")) {
      if (!shape.getBoundingClientRect().width && !shape.getBoundingClientRect().height && !/h0/.test(shape.getAttribute("d") || "")) found.push(name + ": nothing is drawn of " + (shape.getAttribute("d") || shape.textContent));
      if (!inside(seen(shape), box, 6)) found.push(name + ": outside: " + (shape.textContent || shape.getAttribute("d").slice(0, 40)));
    }
    const texts = [...svg.querySelectorAll("text")].map(t => [seen(t), t.textContent]);
    if (texts.length < 400) texts.forEach(([a, x], i) => texts.slice(i + 1).forEach(([b, y]) => {
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3) found.push(name + ": '" + x + "' on '" + y + "'");
    }));
    if (svg.matches(".plot") && getComputedStyle(svg.querySelector("text")).fontSize && svg.querySelector("text").getBoundingClientRect().height < 9) found.push(name + ": letters are too small");
  }
  for (const e of document.querySelectorAll("main *, header *")) {
    if (e.closest("svg, .scroll, details:not([open])")) continue;
    const box = e.getBoundingClientRect();
    if (box.width && (box.right > innerWidth + 1 || box.left < -1)) found.push("outside: " + e.tagName + " " + e.textContent.slice(0, 40));
  }
  return found;
})()"""

CONTRAST = r"""(() => {
  const found = new Set(), probe = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgb = c => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = c; probe.fillRect(0, 0, 1, 1); return [...probe.getImageData(0, 0, 1, 1).data]; };
  const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05); };
  const back = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
  const judge = (what, color, e, least) => { const r = ratio(rgb(color), back(e)); if (r < least) found.add(what + ": " + r.toFixed(2) + " : 1"); };
  for (const e of document.querySelectorAll("p, li, h1, h2, h3, th, td, caption, summary, span, output, label, a, b, button")) {
    if (e.textContent.trim() && !e.closest("[aria-hidden]")) judge(e.tagName + "." + e.className, getComputedStyle(e).color, e, 4.5);
  }
  for (const e of document.querySelectorAll("svg.plot text")) judge("text." + e.className.baseVal, getComputedStyle(e).fill, e, 4.5);
  for (const e of document.querySelectorAll("svg.plot .line:not(.sg) path")) judge(e.parentElement.className.baseVal, getComputedStyle(e).stroke, e, 3);
  return [...found];
})()"""

KEYS = r"""(() => { const plot = document.querySelector(".plots article:nth-child(5)"), input = plot.querySelector("input"), button = plot.querySelector(".legend button");
  return {when: plot.querySelector("output").textContent, value: button && button.querySelector(".v").textContent, cursor: plot.querySelector(".cursor").getAttribute("d"),
    away: plot.querySelectorAll(".line.away").length, pressed: button && button.getAttribute("aria-pressed"), dim: plot.querySelector("svg.plot").classList.contains("dim"),
    other: document.querySelector(".plots output").textContent}; })()"""


def problems_of_keys(page):
    state = page.evaluate(KEYS)
    if state["when"] != "whole run":
        yield f"before anything, the plots show {state['when']}"
    page.evaluate("document.querySelector('.plots article:nth-child(5) input').focus()")
    page.key("Home", 36)
    page.key("ArrowRight", 39)
    moved = page.evaluate(KEYS)
    several = page.evaluate("document.querySelector('.plots input').max > 0")
    if several and not (moved["when"].startswith(tuple("0123456789")) and moved["cursor"] and moved["other"] == moved["when"]):
        yield f"the slider's keys show {moved}"
    page.key("Escape", 27)
    if page.evaluate(KEYS)["when"] != "whole run":
        yield "Escape does not lead back to the whole run"
    page.evaluate("document.querySelector('.plots article:nth-child(5) svg.plot').scrollIntoView({block: 'center'})")
    x, y = page.evaluate("(() => { const b = document.querySelector('.plots article:nth-child(5) svg.plot').getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    if page.evaluate(KEYS)["when"] == "whole run":
        yield "pointing at a plot shows no lap"
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    if page.evaluate(KEYS)["when"] != "whole run":
        yield "pointing elsewhere does not lead back to the whole run"
    if state["pressed"] is None:
        return
    page.evaluate("document.querySelector('.plots article:nth-child(5) .legend button').focus()")
    if not page.evaluate(KEYS)["dim"]:
        yield "the focus on a name does not show its line"
    page.key("Enter", 13, "\r")
    if (away := page.evaluate(KEYS))["away"] != 1 or away["pressed"] != "false":
        yield f"Enter on a name does not hide its line: {away}"
    page.key(" ", 32, " ")
    if page.evaluate(KEYS)["away"] != 0:
        yield "Space on a name does not show its line again"


def problems_of_focus(page):
    """What Tab reaches, and whether that is seen."""
    page.evaluate("document.activeElement.blur(), scrollTo(0, 0)")
    reached = []
    for _ in range(60):
        page.key("Tab", 9)
        reached.append(page.evaluate("(() => { const e = document.activeElement, s = getComputedStyle(e); return [e.tagName, s.outlineStyle !== 'none']; })()"))
    for tag in sorted({tag for tag, seen in reached if not seen and tag != "BODY"}):
        yield f"the focus on <{tag}> is not seen"
    for tag in {"A", "BUTTON", "INPUT", "SUMMARY"} - {tag for tag, _ in reached}:
        yield f"Tab reaches no <{tag}>"


def problems_of_page(browser, path, width, scheme, seen=None):
    page = devtools.Page(browser, path.as_uri(), width, scheme)
    found = page.evaluate(LAYOUT) + page.evaluate(CONTRAST)
    if page.evaluate("document.querySelectorAll('svg.plot').length") != 6:
        found.append("there are no six plots")
    if seen:
        (seen / f"{path.stem}_{width}_{scheme}.png").write_bytes(page.screenshot())
    found += problems_of_keys(page)
    if (width, scheme) == SIZES[0]:
        if path.stem == "production":
            found += problems_of_focus(page)
        pdf = page.pdf()
        if len(pdf) < 5000:
            found.append("nothing is printed")
        if seen:
            (seen / f"{path.stem}.pdf").write_bytes(pdf)
    found += page.problems()
    page.close()
    return [f"{path.stem}, {width} {scheme}: {f}" for f in found]


def problems_in(program, folder, names):
    seen = folder / "seen"
    seen.mkdir(exist_ok=True)
    with devtools.Browser(program) as browser:
        for path in sorted(folder.glob("*.html")):
            if not names or path.stem in names:
                for width, scheme in SIZES:
                    yield from problems_of_page(browser, path, width, scheme, seen)


def self_test(program, folder):
    good = (folder / "documents_single_35.html").read_text(encoding="utf-8")
    bad = {
        "request: http": good.replace("default-src 'none'", "default-src *", 1).replace("<nav", "<img src=\"http://127.0.0.1:9/x.png\"/><nav", 1),
        "log: error": good.replace("<nav", "<img src=\"http://127.0.0.1:9/x.png\"/><nav", 1),
        "console: log": good.replace("\"use strict\";", "console.log(1);", 1),
        "exception": good.replace("\"use strict\";", "setTimeout(function () { throw new Error(\"x\"); }, 0);", 1),
        "the page is": good.replace("<nav", "<div style=\"width: 1500px\">x</div><nav", 1),
        "nothing is drawn": re.sub(r"(<title>35ms</title><path d=\")[^\"]*", r"\1", good, count=1),
        "outside: M": re.sub(r"(<title>35ms</title><path d=\")[^\"]*", r"\1M200 300 1600 300", good, count=1),
        "on 'time since": good.replace("y=\"740\"", "y=\"676\""),
        "P.: 1": good.replace("p { margin", "p { color: #ddd; margin", 1),
        "line s0: 1": good.replace("--c0: #0072b2", "--c0: #eee", 1),
        "no six plots": good.replace("class=\"plot\"", "class=\"plan\"", 1).replace("\"svg.plot\"", "\"svg[role]\""),
        "does not hide its line": good.replace("line.classList.toggle(\"away\")", "false", 1),
        "the slider's keys": good.replace("input.addEventListener(\"input\"", "input.addEventListener(\"other\"", 1),
    }
    with devtools.Browser(program) as browser:
        for says, text in {"": good, **bad}.items():
            path = folder / "self_test.html"
            path.write_text(text, encoding="utf-8")
            found = problems_of_page(browser, path, *SIZES[0])
            if says and text == good:
                yield f"self-test: '{says}' changes nothing"
            if bool(says) != any(says in f for f in found):
                yield f"self-test: '{says}' is not what is found, but {found}"
            path.unlink()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        problems = list(self_test(sys.argv[2], Path(sys.argv[3]).resolve()))
    else:
        problems = list(problems_in(sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3:]))
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(1 if problems else 0)
