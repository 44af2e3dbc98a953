// Stages that take items and put the same items, whatever the type of the items is: tests try each of them.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_ITEM_STAGES_HPP
#define WEIR_TESTS_SUPPORT_ITEM_STAGES_HPP

#include <weir/stages/filter.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/shuffle.hpp>

#include <cstddef>
#include <tuple>
#include <utility>

namespace item_stages {

// A new stage of this kind is added here, with arguments with which no item is dropped. Schedules then stop it at
// each step, faults break it at each point, and every compiler compiles it. Each function gets the capacity of the
// queue behind the stage, and returns the stage.
inline constexpr std::tuple all{
    [](std::size_t capacity) { return weir::pipe([](auto item) { return item; }, {.capacity = capacity}); },
    [](std::size_t capacity) {
        return weir::filter([](const auto&) { return true; }, {.capacity = capacity});
    },
    [](std::size_t capacity) { return weir::take(1'000'000, {.capacity = capacity}); },
    [](std::size_t capacity) { return weir::skip(0, {.capacity = capacity}); },
    [](std::size_t capacity) { return weir::shuffle(2, 1, {.capacity = capacity}); },
};

inline constexpr std::size_t count = std::tuple_size_v<decltype(all)>;

// `from` with all of these stages behind it.
template <class Pipeline>
auto behind(Pipeline from, std::size_t capacity) {
    return std::apply([&](const auto&... each) { return (std::move(from) | ... | each(capacity)); }, all);
}

// Calls `f` with the stage of this number, from 0.
template <class F>
void visit(std::size_t number, std::size_t capacity, F f) {
    std::size_t at = 0;
    std::apply([&](const auto&... each) { ((at++ == number ? f(each(capacity)) : void()), ...); }, all);
}

}  // namespace item_stages

#endif
