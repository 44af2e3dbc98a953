#include <weir/report/html_markup.hpp>

#include "support/catch.hpp"

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

using weir::detail::figure_kind;
using weir::detail::no_value;
using weir::detail::plot_axis;
using weir::detail::short_number;
using weir::detail::time_markup;
using namespace std::chrono_literals;

TEST_CASE("numbers of a page are short, in every locale") {
    CHECK(short_number(0) == "0");
    CHECK(short_number(28.571428571) == "28.5714");
    CHECK(short_number(35) == "35");
    CHECK(time_markup(850us) == "850 µs");
    CHECK(time_markup(2700us) == "2.7 ms");
    CHECK(time_markup(0us) == "0");
}

namespace {

std::string texts(const plot_axis& axis) {
    std::string all;
    for (const auto& t : axis.ticks()) all += (all.empty() ? "" : " | ") + t.text;
    return all;
}

bool is(double a, double b) { return std::abs(a - b) < 1e-9; }

}  // namespace

TEST_CASE("a linear axis begins at 0, with round steps and a unit that fits") {
    const plot_axis ms = plot_axis::linear(figure_kind::time, 37e6);
    CHECK(texts(ms) == "0 | 10 | 20 | 30 | 40");
    CHECK(std::string(ms.unit()) == "ms");
    CHECK(is(ms.place(20), 0.5));
    CHECK(is(ms.place(50), 1));
    CHECK(std::string(plot_axis::linear(figure_kind::time, 999).unit()) == "ns");
    CHECK(std::string(plot_axis::linear(figure_kind::time, 1000).unit()) == "µs");
    CHECK(std::string(plot_axis::linear(figure_kind::time, 599e9).unit()) == "s");
    CHECK(std::string(plot_axis::linear(figure_kind::time, 600e9).unit()) == "min");
    CHECK(texts(plot_axis::linear(figure_kind::share, 1)) == "0 | 20 | 40 | 60 | 80 | 100");
    CHECK(texts(plot_axis::linear(figure_kind::rate, 33.3)) == "0 | 10 | 20 | 30 | 40");
    CHECK(texts(plot_axis::linear(figure_kind::count, 250'000)) == "0 | 50 | 100 | 150 | 200 | 250");
    CHECK(std::string(plot_axis::linear(figure_kind::count, 250'000).unit()) == "k");
    CHECK(texts(plot_axis::linear(figure_kind::count, 5)) == "0 | 1 | 2 | 3 | 4 | 5");
}

TEST_CASE("figures that are all 0 have an axis, too") {
    CHECK(texts(plot_axis::linear(figure_kind::time, 0)) == "0 | 0.2 | 0.4 | 0.6 | 0.8 | 1");
    CHECK(plot_axis::of_length(figure_kind::time, 0).place(0) == 0);
}

TEST_CASE("the axis of the time is exactly as long as the run") {
    const plot_axis axis = plot_axis::of_length(figure_kind::time, 50.4e9);
    CHECK(texts(axis) == "0 | 10 | 20 | 30 | 40 | 50");
    CHECK(is(axis.place(50.4), 1));
    CHECK(is(axis.place(25.2), 0.5));
}

TEST_CASE("a logarithmic axis has decades, each with its unit, and a place for 0 below them") {
    const plot_axis axis = plot_axis::logarithmic(figure_kind::time, 20e3, 37e6, false);
    CHECK(texts(axis) == "10 µs | 100 µs | 1 ms | 10 ms | 100 ms");
    CHECK(is(axis.place(0.01), 0));
    CHECK(is(axis.place(1), 0.5));
    const plot_axis zero = plot_axis::logarithmic(figure_kind::time, 20e3, 37e6, true);
    CHECK(texts(zero).starts_with("0 | 10 µs"));
    CHECK(zero.place(0) == 0);
    CHECK(zero.place(0.01) > 0.05);
    CHECK(texts(plot_axis::logarithmic(figure_kind::rate, 1, 2000, false)) ==
          "1 /s | 10 /s | 100 /s | 1 k/s | 10 k/s");
    CHECK(texts(plot_axis::logarithmic(figure_kind::count, 10, 10, false)) == "10 | 100");
    // More decades than there is room for.
    CHECK(plot_axis::logarithmic(figure_kind::time, 1, 1e12, false).ticks().size() == 7);
}

TEST_CASE("an axis is logarithmic only if figures differ widely") {
    const auto fit = [](const std::vector<std::vector<double>>& series, const std::vector<double>& over_all,
                        bool by_differences) {
        return plot_axis::fitting(figure_kind::time, series, over_all, by_differences).is_logarithmic();
    };
    CHECK_FALSE(fit({{10, 10}, {400, 400}}, {10, 400}, true));
    CHECK(fit({{10, 10}, {600, 600}}, {10, 600}, true));
    CHECK_FALSE(fit({{10, 10}, {600, 600}}, {10, 600}, false));
    CHECK(fit({{1, 1, 900}}, {10}, false));  // a spike
    CHECK_FALSE(fit({{0, 0}, {600, 600}}, {0, 600}, true));
    CHECK_FALSE(fit({{no_value}, {}}, {no_value, no_value}, true));
    CHECK_FALSE(fit({}, {}, true));
    CHECK_FALSE(plot_axis::fitting(figure_kind::share, {{0.001, 1}}, {0.001, 1}, true).is_logarithmic());
}
