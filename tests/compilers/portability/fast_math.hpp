// Compiled with -ffast-math, which lets a compiler take each number for a finite one: what is none is refused all the
// same, and no page shows one. A part of surroundings/macros.cpp: alone it takes as long, for the same code.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_FAST_MATH_HPP
#define WEIR_TESTS_FAST_MATH_HPP

#include <weir/insight/diff.hpp>
#include <weir/report/describe.hpp>
#include <weir/report/html.hpp>
#include <weir/weir.hpp>

#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

namespace fast_math {

using namespace std::chrono_literals;

inline int failures = 0;

template <class Function>
void refuses(const char* what, Function function) {
    try {
        function();
    } catch (const std::invalid_argument&) {
        return;
    }
    std::printf("accepted: %s\n", what);
    ++failures;
}

// How often it stands there as a word.
inline std::size_t words(const std::string& text, const std::string& word) {
    const auto is_letter = [&](std::size_t at) {
        return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
    };
    std::size_t n = 0;
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        n += (at == 0 || !is_letter(at - 1)) && !is_letter(at + word.size()) ? 1 : 0;
    }
    return n;
}

// Its second stage rests in most laps, so that many figures are missing.
inline std::string page() {
    const auto f = [](int n) -> weir::task<int> {
        co_await weir::sleep_for(n == 3 ? 10s : 1ms);
        co_return n;
    };
    const auto p = weir::source(std::views::iota(0, 400)) | weir::pipe(f, {.name = "f"}) | weir::sink(8);
    const auto recorder = std::make_shared<weir::run_recorder>("r", weir::describe(p));
    weir::virtual_time time;
    auto run = p.start(time, {.lap = 500ms, .reports = {recorder}});
    while (run.get()) continue;
    return weir::html_text(recorder->record());
}

// How many fail.
inline int run() {
    // As a user's file would give them.
    for (const char* const text : {"nan", "-nan", "inf", "-inf"}) {
        const double x = std::strtod(text, nullptr);
        refuses("a weight of a sampler",
                [x] { const weir::weighted_sampler it(std::vector<double>{1.0, x}); });
        refuses("a factor of a retry", [x] { (void)weir::retry([](int n) { return n; }, {.factor = x}); });
        refuses("a level of a diff", [x] {
            (void)weir::diff(weir::pipeline_stats(), weir::pipeline_stats(), {.level = x, .explain = false});
        });
        refuses("a rate of failures", [x] { (void)weir::rate(x); });
        refuses("a weight of a merge", [x] {
            weir::merge_options how;
            how.order = weir::merge_order::weighted;
            how.weights = {1.0, x};
            weir::virtual_time time;
            auto run = (weir::merge(how, weir::source({1}), weir::source({2})) | weir::sink()).start(time);
        });
    }
    const std::string text = page();
    for (const char* const word : {"nan", "inf", "-nan", "-inf", "NaN"}) {
        if (const std::size_t n = words(text, word); n != 0) {
            std::printf("the page shows '%s' %zu times\n", word, n);
            ++failures;
        }
    }
    return failures;
}

}  // namespace fast_math

#endif
