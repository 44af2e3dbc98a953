// What the scenarios of pipelines share.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SCHEDULES_PIPELINES_HPP
#define WEIR_TESTS_SCHEDULES_PIPELINES_HPP

#include "support.hpp"

#include "support/causes.hpp"

#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace schedules {

using weir::duration;
using weir::output_order;

// How many slots, in which order they give, and how many places their queue has: part of the schedule. With the
// order of the input an early item needs a place.
struct manner {
    explicit manner(world& w)
        : slots(1 + 2 * w.draw(2)), ordered(w.draw(2) == 1),
          capacity(ordered && slots != 1 ? 1 + w.draw(4) : 1) {}
    bool keeps_order() const { return ordered || slots == 1; }
    output_order order() const { return ordered ? output_order::input : output_order::completion; }
    // Of a source, one stage and a sink whose other queues are as small as can be: what the source holds, its
    // queue, the slots, the last queue with the sink's.
    std::size_t most_under_way() const { return 1 + 1 + slots + capacity + 2; }

    std::size_t slots;
    bool ordered;
    std::size_t capacity;
};

// A source, one stage, a sink; the other queues have capacity 1.
template <class Make, class F>
auto line(Make from, F function, const manner& how) {
    weir::stage_options stage;
    stage.name = "work";
    stage.concurrency = how.slots;
    stage.output_order = how.order();
    stage.capacity = how.capacity;
    return weir::source(std::move(from), {.capacity = 1}) | weir::pipe(std::move(function), stage) |
           weir::sink(1);
}

// An item as it comes, in the order that was asked for.
inline void take(consumer& to, const item& here, const manner& how) {
    if (how.keeps_order()) {
        to.got_next(here);
    } else {
        to.got_in_any_order(here);
    }
}

template <class Run>
void take_all(Run& run, consumer& to, const manner& how) {
    while (auto next = run.get()) take(to, *next, how);
}

// The bound on what is under way holds after every step.
inline void bound(world& w, const ledger& book, std::size_t most) {
    w.always([&book, most] {
        world::check(book.alive() <= most, "no more items are under way than there are places and slots");
    });
}

// Takes some time over an item, one that is asked to stop too.
struct naps {
    weir::task<item> operator()(item i) const {
        co_await weir::sleep_for(duration(static_cast<weir::duration::rep>(i.nth() * 2 % 5)));
        co_return std::move(i);
    }
};

// A source that takes its time, and then gives two.
struct slow_maker {
    slow_maker(ledger& to, std::size_t items) : from(to, items) {}
    weir::task<std::optional<item>> operator()() {
        co_await weir::sleep_for(duration(from.left % 2 == 0 ? 0 : 2));
        co_return from();
    }
    maker from;
};

// How a run ended: the failure, if it was one.
struct ending {
    bool failed = false;
    std::string stage;  // of the first failure
    std::size_t item = 0;
    std::string inside;  // what is nested
};
template <class Taking>
ending end_of(Taking taking) {
    ending e;
    try {
        taking();
    } catch (const weir::pipeline_failure& f) {
        e.failed = true;
        e.stage = f.failures().front().stage;
        e.item = static_cast<std::size_t>(f.failures().front().item);
        try {
            causes::rethrow_cause(f);
        } catch (const std::exception& inner) {
            e.inside = inner.what();
        }
    }
    return e;
}

}  // namespace schedules

#endif
