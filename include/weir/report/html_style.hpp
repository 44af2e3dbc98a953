// weir report, internal: the CSS and the script of a page of HTML, and the marks on the lines of its plots
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_STYLE_HPP
#define WEIR_REPORT_HTML_STYLE_HPP

#include <weir/platform/config.hpp>

namespace weir::detail {

// Colour-blind readers can tell the eight colours of a plot's lines apart (M. Okabe, K. Ito, Color Universal
// Design, 2008; here darker or lighter, for contrast). Each of the twelve lines has its own mark, too; lines
// of the same colour have different dashes. No line is thicker than an earlier one, so that lines on top of
// each other are all seen.
inline constexpr const char* html_style = R"css(
:root { color-scheme: light dark; --back: #fff; --card: #f6f7f9; --text: #16191d; --soft: #555d66;
  --edge: #c9ced4;
  --grid: #e2e5e9; --link: #0b5cad; --focus: #0b5cad;
  --c0: #0072b2; --c1: #c65300; --c2: #00805c; --c3: #a8317f; --c4: #8a6a00; --c5: #2a8fc7;
  --c6: #3b4046; --c7: #7a5bc7; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171b; --card: #1c2026; --text: #e7eaee; --soft: #a3abb5; --edge: #434b55;
  --grid: #2b313a;
  --link: #7cc0ff; --focus: #7cc0ff;
  --c0: #4aa8e8; --c1: #f5894a; --c2: #2fc99b; --c3: #ea8cc6; --c4: #e6bf45; --c5: #a5daf7;
  --c6: #d3d8de; --c7: #b7a1f5; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, "Segoe UI",
  Roboto, "DejaVu Sans", sans-serif; }
header, main, footer { max-width: 1240px; margin: 0 auto; padding: 0 20px; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 1.4rem 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; padding-top: .5rem; border-top: 1px solid var(--edge); }
h3 { font-size: 1.08rem; margin: 0 0 .2rem; }
p { margin: .4rem 0; max-width: 76ch; }
a { color: var(--link); }
nav ul, .facts, .legend, .states { list-style: none; margin: .6rem 0; padding: 0; display: flex;
  flex-wrap: wrap; gap: .3rem 1.1rem; }
.soft, figcaption, caption, .note { color: var(--soft); font-size: .9rem; }
.note { border-left: 3px solid var(--edge); padding-left: .7rem; }
.facts { gap: .7rem; margin: 1rem 0; }
.facts li { background: var(--card); border: 1px solid var(--edge); border-radius: 8px;
  padding: .5rem .9rem; min-width: 8.5rem; flex: 1 1 8.5rem; }
.facts b { display: block; font-size: 1.3rem; font-variant-numeric: tabular-nums; }
.facts span { color: var(--soft); font-size: .86rem; }
.facts .bad b::before { content: "⚠ "; }
.verdict { font-size: 1.06rem; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
bdi { overflow-wrap: anywhere; }
figure { margin: 0; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 500px), 1fr));
  gap: 2.2rem 2.4rem; }
.plots article { min-width: 0; }
svg { display: block; }
svg text { fill: var(--text); font-family: inherit; unicode-bidi: isolate; }
svg.plot { width: 100%; height: auto; margin: .5rem 0 .2rem; }
svg.plot text { font-size: 32px; } svg.plot .tick { fill: var(--soft); } svg.plot .name {
  font-size: 30px; fill: var(--soft); }
@media (max-width: 560px) { svg.plot text, svg.plot .name { font-size: 44px; } }
.grid { stroke: var(--grid); stroke-width: 2; } .axis { stroke: var(--soft); stroke-width: 2; fill: none; }
.cursor { stroke: var(--text); stroke-width: 2; stroke-dasharray: 4 6; }
.line path { fill: none; stroke: var(--line); stroke-linecap: round; stroke-linejoin: round; }
.line use, .key use { fill: var(--line); stroke: var(--back); stroke-width: 3; }
.s0 { --line: var(--c0); } .s0 path { stroke-width: 10; }
.s1 { --line: var(--c1); } .s1 path { stroke-width: 9; stroke-dasharray: 26 14; }
.s2 { --line: var(--c2); } .s2 path { stroke-width: 8; stroke-dasharray: 3 15; }
.s3 { --line: var(--c3); } .s3 path { stroke-width: 7; stroke-dasharray: 26 14 3 14; }
.s4 { --line: var(--c4); } .s4 path { stroke-width: 6.5; }
.s5 { --line: var(--c5); } .s5 path { stroke-width: 6; stroke-dasharray: 14 10; }
.s6 { --line: var(--c6); } .s6 path { stroke-width: 5.5; stroke-dasharray: 3 10; }
.s7 { --line: var(--c7); } .s7 path { stroke-width: 5; stroke-dasharray: 20 9 3 9 3 9; }
.s8 { --line: var(--c0); } .s8 path { stroke-width: 5; stroke-dasharray: 2 12; }
.s9 { --line: var(--c1); } .s9 path { stroke-width: 4.5; stroke-dasharray: 10 8; }
.s10 { --line: var(--c2); } .s10 path { stroke-width: 4.5; }
.s11 { --line: var(--c3); } .s11 path { stroke-width: 4; stroke-dasharray: 16 8; }
.sg { --line: var(--edge); } .sg path { stroke-width: 3; }
.key path { fill: none; stroke: var(--line); stroke-linecap: round; }
.dim .line { opacity: .13; } .dim .line.on { opacity: 1; }
.line.away { display: none; }
.legend { gap: .15rem .2rem; }
.legend button { display: flex; align-items: center; gap: .45rem; font: inherit; font-size: .9rem;
  text-align: left; color: inherit;
  background: none; border: 1px solid transparent; border-radius: 6px; padding: .15rem .5rem;
  min-height: 30px; }
.js .legend button { cursor: pointer; } .js .legend button:hover { border-color: var(--edge);
  background: var(--card); }
.legend button[aria-pressed=false] { opacity: .55; text-decoration: line-through; }
.legend .v { font-variant-numeric: tabular-nums; color: var(--soft); }
.key { width: 46px; height: 16px; flex: none; }
.when { display: none; } .js .when:not(.alone) { display: flex; gap: .6rem; align-items: center;
  font-size: .9rem; color: var(--soft); }
.when input { flex: 1 1 auto; min-width: 0; accent-color: var(--c0); height: 24px; } .when output {
  flex: 0 0 11.5em; font-variant-numeric: tabular-nums; }
.guide { margin: .5rem 0; padding-left: 1.1rem; font-size: .93rem; } .guide li { margin: .25rem 0; }
details { margin: .5rem 0; } summary { cursor: pointer; min-height: 28px; }
.scroll { overflow: auto; max-width: 100%; } .tall { max-height: 85vh; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; margin: .4rem 0; }
caption { text-align: left; padding: .2rem 0; }
th, td { unicode-bidi: isolate; padding: .25rem .6rem; border-bottom: 1px solid var(--grid);
  text-align: right; vertical-align: top; white-space: nowrap; }
thead th { border-bottom-color: var(--edge); } th.l, td.l { text-align: left; }
tbody th { text-align: left; font-weight: 600; white-space: normal; overflow-wrap: anywhere;
  min-width: 6.5em; max-width: 14em; }
td.t { text-align: left; white-space: pre-wrap; overflow-wrap: anywhere; min-width: 14em; }
td.t.long { min-width: min(75vw, 32em); }
.graph { width: 100%; height: auto; margin: 0 auto; }
.graph text { font-size: 12.5px; } .graph .strong { font-weight: 700; font-size: 13.5px; }
[class^=st-] { stroke: var(--state); stroke-width: 8px; }
.box { clip-path: url(#inside); } .box use { fill: var(--state); fill-opacity: .2; stroke: var(--state); }
.box use + use { stroke-width: 8px; }
.queue path { fill: none; stroke: var(--soft); stroke-width: 1.6; marker-end: url(#arrow); }
  #arrow path { fill: var(--soft); }
.queue text { fill: var(--soft); paint-order: stroke; stroke: var(--back); stroke-width: 4px; }
.two { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 2rem; align-items: start; }
@media (max-width: 900px) { .two { grid-template-columns: minmax(0, 1fr); } header, main, footer {
  padding: 0 14px; } }
.swatch { display: inline-block; width: 14px; height: 14px; border-radius: 3px; background: var(--state);
  margin-right: .4rem; vertical-align: -2px; border: 1px solid var(--soft); }
.bars > div { margin: .55rem 0; } .bars .row { display: flex; justify-content: space-between; gap: 1rem;
  font-size: .9rem; }
.bars .row span { color: var(--soft); text-align: right; }
.bars svg { width: 100%; height: 20px; background: var(--card); border-radius: 3px; } .bars path {
  stroke-width: 20px; }
.range { width: 160px; height: 16px; } .range path { stroke: var(--c0); stroke-width: 4px; }
  .range path + path { stroke-width: 10px; } .range path + path + path { stroke: var(--c1);
  stroke-width: 14px; }
.scale { display: grid; grid-template-columns: 1fr 2fr 2fr 2fr 1fr; color: var(--soft); font-size: .8rem;
  text-align: center; }
.scale :first-child { text-align: left; } .scale :last-child { text-align: right; }
footer { padding-top: 1rem; padding-bottom: 3rem; }
.skip { position: absolute; left: -9999px; } .skip:focus { left: 8px; top: 8px; background: var(--back);
  padding: .4rem .8rem; }
@media (prefers-reduced-motion: no-preference) { .line { transition: opacity .12s; } }
@media print {
  :root { color-scheme: light; font-size: 12.5px; --back: #fff; --card: #f6f7f9; --text: #000; --soft: #444;
    --edge: #aaa; --grid: #ddd; --link: #000; --c0: #0072b2; --c1: #c65300; --c2: #00805c; --c3: #a8317f;
    --c4: #8a6a00; --c5: #2a8fc7; --c6: #3b4046; --c7: #7a5bc7; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 1rem; }
  nav, .js .when:not(.alone), details.data, .skip { display: none; }
  header, main, footer { max-width: none; padding: 0 1mm; }
  article, tr, .facts, .bars > div, figure { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .scroll, .tall { overflow: visible; max-height: none; }
  .two { display: block; }
  .graph { max-height: 14cm; min-width: 0 !important; }
  th, td { white-space: normal; }
  .plots { grid-template-columns: 1fr 1fr; gap: .8cm; }
  svg.plot text, svg.plot .name { font-size: 36px; }
}
@page { margin: 14mm; }
)css";

// SVG to which a page refers: the arrow head of the pipeline's graph, and the marks of a plot's lines.
inline constexpr const char* html_marks =
    "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\" "
    "focusable=\"false\"><defs>\n"
    "<marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"5\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" "
    "orient=\"auto\">"
    "<path d=\"M0 0L10 5L0 10z\"/></marker>\n"
    "<path id=\"mark0\" d=\"M-13 0a13 13 0 1 0 26 0a13 13 0 1 0 -26 0z\"/><path id=\"mark1\" d=\"M-12 "
    "-12h24v24h-24z\"/>\n"
    "<path id=\"mark2\" d=\"M0 -16L15 11H-15z\"/><path id=\"mark3\" d=\"M0 -17L14 0L0 17L-14 0z\"/>\n"
    "<path id=\"mark4\" d=\"M0 16L15 -11H-15z\"/><path id=\"mark5\" d=\"M-5 "
    "-15h10v10h10v10h-10v10h-10v-10h-10v-10h10z\"/>\n"
    "<path id=\"mark6\" d=\"M-16 -6h32v12h-32z\"/><path id=\"mark7\" d=\"M-6 -16h12v32h-12z\"/>\n"
    "<path id=\"mark8\" d=\"M0 -17L5 -5L17 0L5 5L0 17L-5 5L-17 0L-5 -5z\"/><path id=\"mark9\" d=\"M-16 0L11 "
    "-15V15z\"/>\n"
    "<path id=\"mark10\" d=\"M16 0L-11 -15V15z\"/><path id=\"mark11\" d=\"M-14 -12L0 -4L14 -12L6 0L14 12L0 "
    "4L-14 12L-6 0z\"/>\n"
    "</defs></svg>\n";

// Shows the figures at the pointer or the slider, and hides the lines that a reader clicks in a legend. A
// page works without the script, too. The script has no `<` and no `&`, because the page is XML.
inline constexpr const char* html_script = R"js(
(function () {
  "use strict";
  var root = document.documentElement, main = document.querySelector("main");
  var bounds = main.dataset.t.split(","), unit = main.dataset.u;
  var all = [].slice.call(document.querySelectorAll(".plots article"));
  root.classList.add("js");
  function each(list, call) { [].forEach.call(list, call); }
  function show(lap) {  // null: the whole run
    all.forEach(function (plot) {
      var svg = plot.querySelector("svg.plot"), xs = svg.dataset.x.split(","),
          input = plot.querySelector(".when input");
      var when = lap === null ? "whole run" : bounds[lap] + " to " + bounds[+lap + 1] + " " + unit;
      if (lap !== null) { input.value = lap; }
      input.setAttribute("aria-valuetext", when);
      plot.querySelector("output").textContent = when;
      svg.querySelector(".cursor").setAttribute("d", lap === null ? "" : "M" + xs[lap] + " 90V620");
      each(plot.querySelectorAll(".legend button"), function (b) {
        var v = b.querySelector(".v"), line = svg.querySelector(".line.s" + b.dataset.s);
        var value = lap === null ? "" : line.dataset.v.split(",")[lap];
        v.textContent = lap === null ? v.dataset.whole : value === "" ? "none" : value + " " + svg.dataset.u;
      });
    });
  }
  all.forEach(function (plot) {
    var svg = plot.querySelector("svg.plot"), xs = svg.dataset.x.split(","),
        input = plot.querySelector(".when input");
    function mark(line) {
      svg.classList.toggle("dim", !!line);
      each(svg.querySelectorAll(".line"), function (l) { l.classList.toggle("on", l === line); });
    }
    input.addEventListener("input", function () { show(input.value); });
    input.addEventListener("keydown", function (e) { if (e.key === "Escape") { show(null); } });
    svg.addEventListener("pointermove", function (e) {
      var box = svg.getBoundingClientRect(), x = (e.clientX - box.left) / box.width * 1440, best = 0;
      xs.forEach(function (at, i) { if (Math.abs(xs[best] - x) > Math.abs(at - x)) { best = i; } });
      show(best);
    });
    svg.addEventListener("pointerleave", function () { show(null); });
    each(plot.querySelectorAll(".legend button"), function (b) {
      var line = svg.querySelector(".line.s" + b.dataset.s);
      b.setAttribute("aria-pressed", "true");
      b.addEventListener("click", function () {
        var away = line.classList.toggle("away");
        b.setAttribute("aria-pressed", String(!away));
      });
      function on(event, which) { b.addEventListener(event, function () { mark(which); }); }
      on("pointerenter", line);
      on("focus", line);
      on("pointerleave", null);
      on("blur", null);
    });
    each(svg.querySelectorAll(".line"), function (l) {
      l.addEventListener("pointerenter", function () { mark(l); });
      l.addEventListener("pointerleave", function () { mark(null); });
    });
  });
  each(document.querySelectorAll(".scroll"), function (s) {
    var first = s.querySelector(".box");  // of a wide graph, its beginning
    if (first) {
      var left = first.getBoundingClientRect().left - s.getBoundingClientRect().left;
      s.scrollLeft += left - s.clientWidth / 2 + 80;
    }
    if (s.scrollWidth > s.clientWidth + 1 || s.scrollHeight > s.clientHeight + 1) { s.tabIndex = 0; }
  });
})();
)js";

}  // namespace weir::detail

#endif
