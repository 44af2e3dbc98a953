#include "lab/plot/plots.hpp"

#include "lab/data/input_error.hpp"
#include "lab/plot/page.hpp"
#include "lab/plot/scale.hpp"
#include "lab/plot/strips.hpp"
#include "lab/plot/style.hpp"
#include "lab/plot/tiles.hpp"
#include "lab/plot/treemap.hpp"
#include "lab/tables.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace {

using lab::configuration;

lab::run_table article() {
    lab::read_options options;
    options.file = LAB_TESTS "/article/runs.csv";
    options.cost = "time_per_task_us";
    return lab::read_runs(options);
}

lab::plot plot_of(const lab::run_table& table, const std::string& name,
                  const std::vector<std::string>& keep = {}) {
    lab::study study(table, {keep, {}, {}});
    return lab::plots_of(study, {name}).at(0);
}

bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

std::size_t count_of(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
}

// Each element that is opened is closed, in order.
bool is_well_formed(const std::string& xml) {
    std::vector<std::string> open;
    for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
        const std::size_t end = xml.find('>', at);
        if (end == std::string::npos) return false;
        const bool closes = xml[at + 1] == '/';
        const std::size_t begin = at + (closes ? 2 : 1);
        const std::string name = xml.substr(begin, xml.find_first_of(" >/\n", begin) - begin);
        if (closes) {
            if (open.empty() || open.back() != name) return false;
            open.pop_back();
        } else if (xml[end - 1] != '/') {
            open.push_back(name);
        }
    }
    return open.empty();
}

lab::tile_table tiles(const std::vector<std::string>& names) {
    const std::size_t n = names.size();
    lab::tile_table result{names, {}, {}, "us"};
    result.values.assign(n, std::vector<double>(n, 0.0));
    result.kinds.assign(n, std::vector<lab::tile_kind>(n, lab::tile_kind::known));
    return result;
}

}  // namespace

TEST_CASE("plot: an axis ends at round figures, also below 0") {
    lab::scale s = lab::scale::linear(-37, 112, 4);
    s.between(0, 100);
    CHECK(s.low() == -50);
    CHECK(s.high() == 150);
    CHECK(s.ticks().front().text == "−50");
    CHECK(s.at(-50) == 0);
    CHECK(s.at(150) == 100);
    CHECK(s.at(1e9) == 100);
    CHECK(lab::scale::linear(0, 0.3, 4).ticks()[1].text == "0.1");
    CHECK(lab::scale::linear(0, 1, 4).ticks()[1].text == "0.25");
    CHECK(lab::scale::linear(0, 4e6, 4).ticks()[1].text == "1M");
}

TEST_CASE("plot: an axis of one figure, of none, or of a huge one beside a tiny span has few ticks") {
    for (const auto& [low, high] : std::vector<std::pair<double, double>>{
             {5, 5}, {0, 0}, {1e15, 1e15 + 1}, {-3, -3}, {NAN, 1}, {1e-300, 2e-300}}) {
        const lab::scale s = lab::scale::linear(low, high, 5);
        CHECK(s.low() < s.high());
        CHECK(s.ticks().size() >= 2);
        CHECK(s.ticks().size() < 12);
    }
}

TEST_CASE("plot: a logarithmic axis has ticks at 1, 2 and 5") {
    const lab::scale s = lab::scale::logarithmic(60, 1200);
    std::vector<double> values;
    for (const auto& tick : s.ticks()) values.push_back(std::round(tick.value));
    CHECK(values == std::vector<double>{100, 200, 500, 1000});
}

TEST_CASE("plot: boxes of a treemap fill it, each as large as its share, none on another") {
    const std::vector<double> sizes{6, 6, 4, 3, 2, 2, 1};
    const auto boxes = lab::squarified(sizes, {0, 0, 600, 400});
    REQUIRE(boxes.size() == sizes.size());
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        CHECK(std::abs(boxes[i].width * boxes[i].height - sizes[i] * 10000) < 1e-6);
        CHECK(std::max(boxes[i].width / boxes[i].height, boxes[i].height / boxes[i].width) < 3);
        for (std::size_t j = 0; j < i; ++j) {
            const double wide = std::min(boxes[i].x + boxes[i].width, boxes[j].x + boxes[j].width) -
                                std::max(boxes[i].x, boxes[j].x);
            const double high = std::min(boxes[i].y + boxes[i].height, boxes[j].y + boxes[j].height) -
                                std::max(boxes[i].y, boxes[j].y);
            CHECK((wide < 1e-6 || high < 1e-6));
        }
    }
}

TEST_CASE("plot: treatments whose interactions are strongly negative are the last of the tiles") {
    lab::tile_table t = tiles({"a", "b", "c", "d", "e"});
    t.values[0][3] = t.values[3][0] = -50;
    t.values[1][2] = t.values[2][1] = 40;
    t.values[1][4] = t.values[4][1] = -2;
    const auto order = lab::seriated(t);
    CHECK(std::set<std::size_t>(order.end() - 2, order.end()) == std::set<std::size_t>{0, 3});
    CHECK(order[2] != 2);  // what is only positive comes before what is a little negative
    CHECK(lab::seriated(tiles({"a", "b"})) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("plot: many points are thinned, the same each time, in order") {
    const auto some = lab::thinned(10000, lab::most_points);
    CHECK(some.size() == lab::most_points);
    CHECK(std::is_sorted(some.begin(), some.end()));
    CHECK(some == lab::thinned(10000, lab::most_points));
    const auto even = std::count_if(some.begin(), some.end(), [](std::size_t i) { return i % 2 == 0; });
    CHECK(std::abs(even - 2000) < 150);
    CHECK(lab::thinned(3, lab::most_points) == std::vector<std::size_t>{0, 1, 2});
    CHECK(lab::thinned_text(4000).empty());
    CHECK(has(lab::thinned_text(4001), "4000 of 4001 points"));
}

TEST_CASE("plot: a few extremes don't fade the colours of all others") {
    lab::strip_row row{"a", {}};
    for (int i = 0; i < 99; ++i) row.strips.push_back({1, i % 2 == 0 ? 0.5 : -0.5});
    row.strips.push_back({1, 20});
    CHECK(lab::colour_limit({row}) == 0.5);
    CHECK(lab::level_style(-1) == "v0");
    CHECK(lab::level_style(0) == "v7");
    CHECK(lab::level_style(9) == "v14");
}

TEST_CASE("plot: the article's figures are in the sentences") {
    const lab::run_table table = article();
    CHECK(has(plot_of(table, "means").sentence, "cfg_no_init_logging saves 325 µs on average"));
    const std::string waterfall = plot_of(table, "waterfall-time").sentence;
    CHECK(has(waterfall, "from 1182 to 61 µs"));
    CHECK(has(waterfall, "by −942 µs"));
    CHECK(has(plot_of(table, "waterfall-rate").sentence, "to 16393 per second"));
    CHECK(has(plot_of(table, "crossing").sentence, "affinity helps where it was above 234.8 µs before"));
    CHECK(has(plot_of(table, "interactions").sentence, "both together are 358 µs more than the sum"));
    CHECK(has(plot_of(table, "treemap").sentence, "61 µs (5.2 %) remain"));
    CHECK(has(plot_of(table, "scatter").title, "src_submit_biglogs_remove"));
    CHECK(has(plot_of(table, "scatter-flipped").title, "Before and after src_submit_biglogs_remove"));
    CHECK(has(plot_of(table, "scree").sentence, "550 sequences"));
}

TEST_CASE("plot: the strongest two are kept out where one depends on the other, or those that are named") {
    const lab::run_table table = article();
    const std::string both = plot_of(table, "means-kept").sentence;
    CHECK(has(both, "Of the 32 of 128 runs without cfg_no_init_logging and src_submit_biglogs_remove"));
    CHECK(has(plot_of(table, "means-kept", {"affinity"}).sentence, "Of the 64 of 128 runs without affinity"));
    CHECK_THROWS_AS(plot_of(table, "means-kept", {"nosuch"}), lab::input_error);
    const auto alone =
        lab_tests::factorial(3, [](const configuration& v) { return 100 - 50 * v[0] - 3 * v[1]; });
    CHECK(has(plot_of(alone, "means-kept").sentence, "Of the 4 of 8 runs without a, b is the best"));
}

TEST_CASE("plot: a name that there isn't is refused with those there are") {
    const lab::run_table table = article();
    lab::study study(table);
    try {
        lab::plots_of(study, {"pie"});
        FAIL("not refused");
    } catch (const lab::input_error& refused) {
        CHECK(has(refused.what(), "there is no plot pie; there are means, "));
    }
}

TEST_CASE("plot: each plot is a well-formed image with a title and a sentence, the same each time") {
    const lab::run_table table = article();
    lab::study study(table);
    lab::study again(table);
    const auto plots = lab::plots_of(study, {});
    CHECK(plots.size() == lab::plot_names().size());
    for (const lab::plot& p : plots) {
        INFO(p.name);
        CHECK_FALSE(p.empty);
        CHECK_FALSE(p.sentence.empty());
        const std::string svg = lab::svg_file(p);
        CHECK(is_well_formed(svg));
        CHECK(has(svg, "role=\"img\""));
        CHECK(has(svg, "<title id=\"" + p.name + "-title\">"));
        CHECK_FALSE(has(svg, "nan"));
        CHECK_FALSE(has(svg, "inf "));
        CHECK(p.content == lab::plots_of(again, {p.name}).at(0).content);
    }
}

TEST_CASE("plot: the page has every plot and asks for nothing else") {
    const lab::run_table table = article();
    lab::study study(table);
    const auto plots = lab::plots_of(study, {});
    const std::string page = lab::plots_page(table, plots);
    CHECK(count_of(page, "<figcaption>") == plots.size());
    CHECK(count_of(page, "<svg ") == plots.size());
    CHECK(count_of(page, "http") == plots.size());  // the name of SVG's language
    CHECK_FALSE(has(page, "url("));
    CHECK_FALSE(has(page, "src="));
    CHECK_FALSE(has(page, "<script"));
}

TEST_CASE("plot: names are text, whatever they look like") {
    auto table =
        lab_tests::factorial(2, [](const configuration& v) { return 9 - 3 * v[0] - 2 * v[1] * v[0]; });
    table.name = "<i>\".csv";
    table.factors[0].name = "<b>&\"x\"";
    table.factors[1].name = "\xff a very long name of a factor that goes on and on, and on again";
    lab::study study(table);
    const auto plots = lab::plots_of(study, {});
    for (const lab::plot& p : plots) {
        INFO(p.name);
        CHECK(is_well_formed(lab::svg_file(p)));
        CHECK_FALSE(has(lab::svg_file(p), "<b>"));
    }
    const std::string page = lab::plots_page(table, plots);
    CHECK(has(page, "&lt;b&gt;&amp;&quot;x&quot;"));
    CHECK_FALSE(has(page, "<i>"));
    CHECK_FALSE(has(page, "\xff"));
}

TEST_CASE("plot: with one factor and two runs what can't be drawn says why") {
    const auto table = lab_tests::factorial(1, [](const configuration& v) { return 5 - 2 * v[0]; });
    lab::study study(table);
    std::set<std::string> empty;
    for (const lab::plot& p : lab::plots_of(study, {})) {
        if (p.empty) empty.insert(p.name);
        CHECK(is_well_formed(lab::svg_file(p)));
        CHECK(has(p.sentence, p.empty ? "Nothing to draw: " : "."));
    }
    CHECK(empty == std::set<std::string>{"means-kept", "means-both", "scatter-flipped", "crossing",
                                         "fit-pairs", "interactions", "biplot", "scree", "runs"});
    CHECK(has(plot_of(table, "interactions").sentence, "there is one factor, so there are no pairs"));
}

TEST_CASE("plot: a cost below 0 has neither rate nor area nor logarithm") {
    const auto table = lab_tests::factorial(2, [](const configuration& v) { return 5 - 9 * v[0] - v[1]; });
    CHECK(has(plot_of(table, "waterfall-rate").sentence, "isn't positive"));
    CHECK(has(plot_of(table, "treemap").sentence, "there is no area"));
    CHECK_FALSE(plot_of(table, "waterfall-time").empty);
    CHECK(has(plot_of(table, "colours").sentence, "3 deltas without a logarithm are left out"));
}

TEST_CASE("plot: where nothing helps there is no path, and nothing to draw of it") {
    const auto table = lab_tests::factorial(2, [](const configuration& v) { return 1 + v[0] + 2 * v[1]; });
    for (const char* name : {"waterfall-time", "waterfall-rate-nicest", "treemap", "shapley"}) {
        const lab::plot p = plot_of(table, name);
        CHECK(p.empty);
        CHECK(has(p.sentence, "is better than it"));
        CHECK(has(p.content, "is better than it"));
    }
}

TEST_CASE("plot: pairs that the runs can't tell are hatched, and the sentence says so") {
    auto table = lab_tests::factorial(5, [](const configuration& v) {
        return 100 - 10 * v[0] - 20 * v[1] - 8 * v[3] * v[4] + lab_tests::scattered(v);
    });
    std::erase_if(table.runs,
                  [](const lab::measured_run& run) { return run.values[0] == 1 && run.values[1] == 1; });
    const lab::plot p = plot_of(table, "interactions");
    CHECK(has(p.content, "class=\"hatch\""));
    CHECK(has(p.sentence, "Hatched: 1 pair that these runs can't tell from others (a*b: never on together)"));
}

TEST_CASE("plot: of a rate more is better") {
    auto table = lab_tests::factorial(2, [](const configuration& v) { return 10 + 5 * v[0] - v[1]; });
    table.more_is_better = true;
    CHECK(has(plot_of(table, "means").sentence, "a gains 5 cost on average"));
    CHECK(has(plot_of(table, "treemap").sentence, "10 cost (66.7 %) were there at the start"));
}

TEST_CASE(
    "plot: how many runs would have been enough is marked, or said not to be known before all were made") {
    const auto table =
        lab_tests::factorial(6, [](const configuration& v) { return 100 - 60 * v[0] - 20 * v[1]; });
    const lab::plot settled = plot_of(table, "runs");
    CHECK(has(settled.sentence, "of 64 runs on, in an order by lot, each estimate stayed"));
    CHECK(has(settled.content, "class=\"mark\""));
    CHECK(has(settled.content, "a</text>"));
    auto late = lab_tests::factorial(4, [](const configuration& v) {
        return 100 + 50 * v[2] * v[3] +
               lab_tests::scattered(v);  // c and d are first together in the last four runs
    });
    late.has_times = true;
    const lab::plot moving = plot_of(late, "runs");
    CHECK(has(moving.sentence, "Before the last of 16 runs, in the order in which they were made, some"));
    CHECK(has(moving.sentence, "half of that takes about four times as many runs"));
    CHECK_FALSE(has(moving.content, "class=\"mark\""));
}

TEST_CASE("plot: single changes of a treatment that is named, coloured by another that is") {
    const lab::run_table table = article();
    lab::study study(table, {{}, "cfg_no_init_logging", "affinity"});
    const auto plots = lab::plots_of(study, {"means-kept", "scatter", "scatter-flipped", "crossing"});
    CHECK(plots[1].title == "Before and after cfg_no_init_logging, by affinity");
    CHECK(plots[2].title == "Before and after affinity, by cfg_no_init_logging");
    CHECK(has(plots[3].sentence, "cfg_no_init_logging never helps at one end"));
    CHECK(has(plots[0].sentence, "without cfg_no_init_logging and src_submit_biglogs_remove"));
    lab::study crossing(table, {{}, "affinity", {}});
    CHECK(has(lab::plots_of(crossing, {"crossing"})[0].sentence, "affinity helps where it was above"));
    CHECK_THROWS_WITH(lab::study(table, {{}, "nosuch", {}}),
                      Catch::Matchers::ContainsSubstring(
                          "no two runs differ in nosuch alone (--treatment); there are such of ") &&
                          Catch::Matchers::ContainsSubstring("affinity"));
    CHECK_THROWS_WITH(lab::study(table, {{}, "affinity", "affinity"}),
                      Catch::Matchers::ContainsSubstring("can't be coloured by affinity (--colour)"));
}

TEST_CASE("plot: with tiers the nicest treatments come first, and the story is another") {
    auto table = lab_tests::factorial(2, [](const configuration& v) { return 100 - 60 * v[0] - 20 * v[1]; });
    table.factors[0].tier = 4;
    CHECK_FALSE(has(plot_of(table, "waterfall-time-nicest").sentence, "greedy path again"));
    table.factors[0].tier = 1;
    CHECK(has(plot_of(table, "waterfall-time-nicest").sentence, "greedy path again"));
}

TEST_CASE("plot: long names are shortened in the middle, and still told apart") {
    CHECK(lab::short_name("short", 5) == "short");
    CHECK(lab::short_name("cfg_some_long_name_09", 11) == "cfg_s…me_09");
    CHECK(lab::short_name("äöüäöüäöü", 5) == "äö…öü");
    const lab::row_labels labels({std::string(40, 'x'), std::string(41, 'x'), "y"});
    CHECK(labels.texts[0] != labels.texts[1]);
    CHECK(labels.texts[2] == "y");
}
