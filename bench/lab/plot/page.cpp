// lab plot: writes plots as SVG files, and as one self-contained page
#include "lab/plot/page.hpp"

#include "lab/plot/style.hpp"
#include "lab/plot/wording.hpp"

#include <weir/report/escape.hpp>

namespace lab {

namespace {

using weir::detail::escaped;

std::string svg_element(const plot& p, bool in_page) {
    const std::string height = coordinate(p.height);
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"" + p.name +
                      "-title " + p.name + "-desc\" viewBox=\"0 0 " + coordinate(plot_width) + " " + height +
                      "\"";
    if (!in_page)
        out +=
            " width=\"" + coordinate(plot_width * 1.5) + "\" height=\"" + coordinate(p.height * 1.5) + "\"";
    if (in_page && p.least_width > 0) out += " style=\"min-width:" + coordinate(p.least_width) + "px\"";
    out += ">\n<title id=\"" + p.name + "-title\">" + escaped(p.title) + "</title>\n<desc id=\"" + p.name +
           "-desc\">" + escaped(p.sentence) + "</desc>\n";
    if (!in_page) out += "<style>" + svg_style() + "</style>\n";
    return out + p.content + "</svg>\n";
}

// A sentence in which figures and their units are not separated at line ends.
std::string caption(const std::string& sentence, const std::string& unit) {
    std::string text = escaped(sentence);
    for (const std::string& after : {std::string("%"), escaped(unit)}) {
        const std::string with_blank = " " + after;
        for (std::size_t at = text.find(with_blank); at != std::string::npos;
             at = text.find(with_blank, at + 1))
            if (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9') text.replace(at, 1, "&#160;");
    }
    return text;
}

}  // namespace

std::string svg_file(const plot& p) { return svg_element(p, false); }

std::string plots_page(const run_table& table, const std::vector<plot>& plots) {
    const wording words(table);
    std::vector<std::string> factors;
    for (const factor& f : table.factors) factors.push_back(f.name);
    const std::string title = table.cost_name + " of " + table.name;
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>" +
        escaped(title) + "</title>\n<style>\n" + svg_style() + page_style +
        "</style>\n</head>\n<body>\n<header>\n<h1>" + escaped(title) + "</h1>\n<p>" +
        escaped(count(table.runs.size(), "run") + " of " +
                count(configurations_of(table).size(), "configuration") + " of " +
                count(factors.size(), "factor") + "; " + (table.more_is_better ? "more" : "less") +
                " is better. Factors: " + list_text(factors) + ".") +
        "</p>\n";
    if (table.num_failed > 0)
        out += "<p>" + count(table.num_failed, "run") + " failed and " +
               (table.num_failed == 1 ? "is" : "are") + " left out.</p>\n";
    for (const std::string& note : table.notes) out += "<p class=\"quiet\">" + escaped(note) + ".</p>\n";
    out += "<nav aria-label=\"Plots\"><ul>\n";
    for (const plot& p : plots) out += "<li><a href=\"#" + p.name + "\">" + p.name + "</a></li>\n";
    out += "</ul></nav>\n</header>\n<main>\n";
    for (const plot& p : plots) {
        out += "<figure id=\"" + p.name + "\">\n<h2>" + escaped(p.title) + "</h2>\n<div class=\"drawing\"" +
               (p.least_width > 0 ? " tabindex=\"0\" role=\"group\" aria-label=\"" + escaped(p.title) + "\""
                                  : "") +
               ">\n" + svg_element(p, true) + "</div>\n<figcaption>" + caption(p.sentence, words.unit) +
               "</figcaption>\n</figure>\n";
    }
    return out +
           "</main>\n<footer><p class=\"quiet\">Point at a bar, a tile or a name for its "
           "figures.</p></footer>\n"
           "</body>\n</html>\n";
}

}  // namespace lab
