// weir report, internal: what a page does where it is pointed at, and by keys
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_HTML_SCRIPT_HPP
#define WEIR_REPORT_HTML_SCRIPT_HPP

#include <weir/platform/requirements.hpp>

namespace weir::detail {

// Without it the page has all but the figures of one instant. It stands in XML: no `<` and no `&`.
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
