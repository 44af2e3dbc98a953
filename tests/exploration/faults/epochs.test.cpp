// Faults and stops in pipelines whose source begins again and again.
#include "reference.hpp"

#include "support/blocks.hpp"
#include "support/catch.hpp"

#include <weir/graph/merge.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>
#include <weir/run/invocation.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/aggregate.hpp>
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/cache.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/shuffle.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/stages/traverse.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

using faults::fragile;
using faults::item;
using faults::point;
using namespace std::chrono_literals;

namespace {

auto epochs_of(int size, std::uint64_t count, int from = 0) {
    return weir::source(weir::epochs(
                            [size, from, part = fragile()](std::uint64_t epoch) {
                                point("a source of epochs");
                                std::vector<item> all;
                                for (int i = 0; i < size; ++i) {
                                    all.emplace_back(from + 100 * static_cast<int>(epoch) + i);
                                }
                                return all;
                            },
                            count),
                        {.name = "a source of epochs"});
}

auto pass(const char* name, weir::output_order order = weir::output_order::completion) {
    return weir::pipe(
        [name](item i) -> weir::task<item> {
            co_await weir::sleep_for(weir::duration(i.value() % 3));
            point(name);
            co_return i;
        },
        {.name = name, .concurrency = 2, .output_order = order});
}

// The epochs one by one, as a thread takes them; the books are looked at in between.
struct by_epochs {
    template <class Run>
    void operator()(Run& run, faults::outcome& o, weir::executor&) const {
        for (auto& epoch : run.epochs()) {
            for (const auto& each : epoch) faults::take(o, each);
        }
    }
};

struct with_checkpoints {
    template <class Run>
    void operator()(Run& run, faults::outcome& o, weir::executor&) const {
        std::uint64_t taken = 0;
        while (auto each = run.get()) {
            faults::take(o, *each);
            taken += each->size();
            // The books need memory, too; but they are never wrong.
            try {
                const weir::checkpoint books = run.checkpoint();
                if (books.watermark() + books.ahead().size() != taken) o.wrong = "a checkpoint is wrong";
            } catch (...) {
                o.throws(std::current_exception());
            }
        }
    }
};

faults::reference drawn() {
    return faults::make_reference(
        "drawn",
        [] {
            return weir::source(weir::draws(weir::sampler({.size = 6, .seed = 3}), 2),
                                {.name = "a sampler's draws"}) |
                   weir::pipe(
                       [](weir::draw d) -> weir::task<item> {
                           co_await weir::sleep_for(weir::duration(d.index % 3));
                           point("a stage that loads");
                           co_return item(static_cast<int>(d.position));
                       },
                       {.name = "a stage that loads", .concurrency = 2}) |
                   weir::aggregate(2) | weir::sink();
        },
        faults::no_options, with_checkpoints());
}

faults::reference shuffled() {
    return faults::make_reference(
        "shuffled",
        [] {
            return epochs_of(5, 2) | weir::shuffle(3, 7) | pass("a stage with long names") |
                   weir::aggregate(3) | weir::disaggregate() | weir::sink();
        },
        faults::no_options, by_epochs());
}

// Items in places, of which none is there at first. Two slots, in an order and in none.
template <weir::output_order Order>
faults::reference filled() {
    static blocks::vectors pool;
    return faults::make_reference(
        Order == weir::output_order::input ? "filled_in_order" : "filled",
        [] {
            return epochs_of(5, 2) |
                   weir::batch_slots<std::optional<item>>(
                       pool, {.places = 2},
                       [part = fragile()](item i, std::span<std::optional<item>> place) -> weir::task<bool> {
                           co_await weir::sleep_for(weir::duration(i.value() % 3));
                           point("a stage that fills");
                           const bool is_kept = i.value() % 4 != 2;
                           place[0].emplace(std::move(i));
                           co_return is_kept;
                       },
                       {.name = "a stage that fills", .concurrency = 2, .output_order = Order}) |
                   weir::flat_map([](std::vector<std::optional<item>> batch) {
                       std::vector<item> all;
                       for (auto& each : batch) all.push_back(*std::move(each));
                       return all;
                   }) |
                   weir::sink();
        },
        faults::no_options, by_epochs());
}

faults::reference cached() {
    return faults::make_reference(
        "cached",
        [] {
            return epochs_of(4, 1) | pass("before the cache of it") | weir::cache(3) |
                   pass("after it", weir::output_order::input) | weir::sink();
        },
        faults::no_options, by_epochs());
}

// All that branches, with epochs.
faults::reference mixed() {
    using batch = std::vector<item>;
    return faults::make_reference(
        "mixed",
        [] {
            const auto part = weir::pipe(
                [](batch b) {
                    point("a part of a batch's stage");
                    return b;
                },
                {.name = "a part of a batch's stage"});
            const auto by_parity = [](const item& i) {
                point("split");
                return i.value() % 2;
            };
            return weir::merge(epochs_of(3, 2) | weir::tee(pass("on the side of the tee")),
                               epochs_of(2, 2, 10)) |
                   weir::aggregate(2) |
                   weir::split(by_parity, {.name = "split", .order = weir::split_order::branches},
                               weir::branch("even", part), weir::branch("odd")) |
                   weir::flat_map([](batch b) { return b; }) | weir::sink();
        },
        faults::no_options, by_epochs());
}

faults::reference rows() {
    return faults::make_reference(
        "rows",
        [] {
            return weir::zip(epochs_of(3, 2), epochs_of(2, 2, 10)) |
                   weir::pipe(
                       [](std::tuple<item, item> row) {
                           point("a stage of the rows");
                           return item(std::get<0>(row).value() + 1000 * std::get<1>(row).value());
                       },
                       {.name = "a stage of the rows"}) |
                   weir::sink();
        },
        faults::no_options, by_epochs());
}

// A stage adds items to itself, and makes several results of each.
faults::reference grown() {
    return faults::make_reference(
        "grown",
        [] {
            return epochs_of(2, 2) |
                   weir::traverse(
                       [](item i, weir::feeder<item>& more) -> weir::generator<item> {
                           point("a stage that grows");
                           if (i.value() % 100 < 2) more.add(item(i.value() + 10));
                           co_yield item(i.value() + 1000);
                           point("a stage that grows");
                           co_yield std::move(i);
                       },
                       {.name = "a stage that grows", .concurrency = 2}) |
                   weir::sink();
        },
        faults::no_options, by_epochs());
}

}  // namespace

TEST_CASE("each fault in what is drawn is told, and the books are right") { explore_faults(drawn()); }
TEST_CASE("each fault in batches whose places are filled is told, and nothing is lost") {
    explore_faults(filled<weir::output_order::completion>());
    explore_faults(filled<weir::output_order::input>());
}
TEST_CASE("each fault in epochs that are shuffled is told, and nothing is lost") {
    explore_faults(shuffled());
}
TEST_CASE("each fault in a cache is told, and nothing is lost") { explore_faults(cached()); }
TEST_CASE("each fault where epochs branch is told, and nothing is lost") { explore_faults(mixed()); }
TEST_CASE("each fault in rows of epochs is told, and nothing is lost") { explore_faults(rows()); }
TEST_CASE("each fault in epochs of a stage that grows is told, and nothing is lost") {
    explore_faults(grown());
}

TEST_CASE("what is drawn can be stopped at each step") { explore_stops(drawn()); }
TEST_CASE("batches whose places are filled can be stopped at each step") {
    explore_stops(filled<weir::output_order::completion>());
    explore_stops(filled<weir::output_order::input>());
}
TEST_CASE("epochs that are shuffled can be stopped at each step") { explore_stops(shuffled()); }
TEST_CASE("a cache can be stopped at each step") { explore_stops(cached()); }
TEST_CASE("epochs that branch can be stopped at each step") { explore_stops(mixed()); }
TEST_CASE("rows of epochs can be stopped at each step") { explore_stops(rows()); }
TEST_CASE("epochs of a stage that grows can be stopped at each step") { explore_stops(grown()); }
