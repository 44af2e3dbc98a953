// Stages with several inputs or outputs, stopped or failing at every step, or left alone.
// SPDX-License-Identifier: BSL-1.0
#include "pipelines.hpp"

#include <weir/graph/branch.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

using schedules::at_any_step;
using schedules::consumer;
using schedules::end_of;
using schedules::ending;
using schedules::item;
using schedules::ledger;
using schedules::maker;
using schedules::passes;
using schedules::stepwise;
using schedules::world;

namespace {

constexpr std::size_t each = 3;

auto input(ledger& book, std::size_t producer, std::size_t items = each) {
    return weir::source(maker(book, items, producer), {.capacity = 1});
}

// Runs it to the end, or, in half of the schedules, to a stop. True: to the end.
template <class Pipeline, class Take>
bool run_or_stop(world& w, Pipeline&& pipeline, std::size_t steps, Take take) {
    const bool stops = w.draw(2) == 1;
    auto run = std::forward<Pipeline>(pipeline).template start<stepwise>(w);
    if (stops) at_any_step(w, steps, [&run] { run.stop(); });
    while (auto next = run.get()) take(*next);
    return !stops;
}
void settle(ledger& book, bool whole) {
    if (whole) {
        book.settle_run();
    } else {
        book.settle_stopped(book.made());
    }
}

template <class Order>
void merged(world& w, weir::merge_options how, Order order) {
    ledger book;
    consumer to(book);
    std::size_t n = 0;
    how.capacity = 1;
    const bool whole = run_or_stop(w, weir::merge(how, input(book, 0), input(book, 1)) | weir::sink(1), 60,
                                   [&](const item& i) {
                                       order(book, i, n++);
                                       to.got_next(i);
                                   });
    settle(book, whole);
}

void merged_as_they_come(world& w) {
    merged(w, {}, [](ledger&, const item&, std::size_t) {});
}
void merged_in_turn(world& w) {
    merged(w, {.order = weir::merge_order::round_robin}, [](ledger& book, const item& i, std::size_t n) {
        book.check(i.producer() == n % 2, "one of each in turn");
    });
}
// Twice as often the first, until it has ended.
void merged_by_weight(world& w) {
    merged(w, {.order = weir::merge_order::weighted, .weights = {2, 1}},
           [](ledger& book, const item& i, std::size_t n) {
               constexpr std::size_t order[] = {0, 1, 0, 0, 1, 1};
               book.check(i.producer() == order[n], "each as often as its weight says");
           });
}
void merged_by_priority(world& w) {
    merged(w, {.order = weir::merge_order::priority}, [](ledger&, const item&, std::size_t) {});
}

// The end of one, whichever comes first, is the end of all.
void merged_until_the_first_end(world& w) {
    ledger book;
    consumer to(book);
    {
        auto run =
            (weir::merge({.capacity = 1, .until_first_end = true}, input(book, 0, 2), input(book, 1, 12)) |
             weir::sink(1))
                .start<stepwise>(w);
        std::size_t left[] = {2, 12};
        while (auto next = run.get()) {
            --left[next->producer()];
            to.got_next(*next);
        }
        book.check(left[0] == 0 || left[1] == 0, "all of the one that has ended come");
    }
    book.settle_stopped(12);
}

// In turns what comes is a matter of what the inputs have: until the turn comes to one that has ended.
void merged_in_turn_until_the_first_end(world& w) {
    ledger book;
    consumer to(book);
    const bool by_weight = w.draw(2) == 1;
    const std::vector<std::size_t> row =
        by_weight ? std::vector<std::size_t>{0, 1, 0} : std::vector<std::size_t>{0, 1};
    std::size_t left[] = {w.draw(4), w.draw(4)};
    {
        weir::merge_options how{.capacity = 1, .until_first_end = true};
        how.order = by_weight ? weir::merge_order::weighted : weir::merge_order::round_robin;
        if (by_weight) how.weights = {2, 1};
        auto run = (weir::merge(how, input(book, 0, left[0]), input(book, 1, left[1])) | weir::sink(1))
                       .start<stepwise>(w);
        std::size_t n = 0;
        while (auto next = run.get()) {
            book.check(next->producer() == row[n++ % row.size()], "each in its turn");
            book.check(left[next->producer()]-- != 0, "no more than there are");
            to.got_next(*next);
        }
        book.check(left[row[n % row.size()]] == 0, "the turn has come to one that has ended");
    }
    book.settle_stopped(6);
}

// The mark of an epoch's end goes on once, when all are at it.
void merged_epochs(world& w) {
    ledger book;
    std::size_t epoch = 0;
    const auto from = [&book](std::size_t first, std::size_t count) {
        return weir::source(weir::epochs(
                                [&book, first, count](std::uint64_t number) {
                                    std::vector<item> some;
                                    for (std::size_t i = 0; i < count; ++i) {
                                        some.push_back(book.make(first + static_cast<std::size_t>(number)));
                                    }
                                    return some;
                                },
                                2),
                            {.capacity = 1});
    };
    consumer to(book);
    const bool whole =
        run_or_stop(w, weir::merge({.capacity = 1}, from(0, 1), from(2, 2)) | weir::sink(1), 60,
                    [&](const item& i) {
                        book.check(i.producer() % 2 >= epoch, "no item overtakes the end of an epoch");
                        epoch = i.producer() % 2;
                        to.got_next(i);
                    });
    settle(book, whole);
}

// One input fails: the others don't go on.
void merged_with_a_failure(world& w) {
    ledger book;
    consumer to(book);
    const std::size_t bad = w.draw(each);
    {
        const auto fails = [make = maker(book, each, 1), left = bad]() mutable -> std::optional<item> {
            if (left == 0) throw std::runtime_error("dry");
            --left;
            return make();
        };
        auto run = (weir::merge({.capacity = 1, .order = weir::merge_order::round_robin}, input(book, 0, 30),
                                weir::source(fails, {.name = "bad", .capacity = 1})) |
                    weir::sink(1))
                       .start<stepwise>(w);
        const ending end = end_of([&] {
            while (auto next = run.get()) to.got_next(*next);
        });
        book.check(end.failed && end.stage == "bad" && end.inside == "dry",
                   "the failure of the input is told");
        book.check(book.made() <= 2 * bad + 10, "the other input ends, too");
    }
    book.settle_stopped(2 * each + 10);
}

// Rows of one of each; what has no partner is dropped.
void zipped(world& w) {
    ledger book;
    consumer to(book);
    std::size_t rows = 0;
    const bool whole =
        run_or_stop(w, weir::zip({.capacity = 1}, input(book, 0), input(book, 1, each + 2)) | weir::sink(1),
                    60, [&](const std::tuple<item, item>& row) {
                        book.check(std::get<0>(row).nth() == std::get<1>(row).nth(),
                                   "rows are of one number");
                        to.got_next(std::get<0>(row));
                        to.got_next(std::get<1>(row));
                        ++rows;
                    });
    book.check(!whole || rows == each, "as many rows come as there are of the shorter");
    book.settle_stopped(book.made() - 2 * rows);
}

using shared = std::shared_ptr<item>;
auto shared_input(ledger& book) {
    return weir::source(
        [make = maker(book, each + 1)]() mutable -> std::optional<shared> {
            auto next = make();
            if (!next) return std::nullopt;
            return std::make_shared<item>(*std::move(next));
        },
        {.capacity = 1});
}

// A copy of each item for the side, which ends before the stream does.
void teed(world& w) {
    ledger book;
    consumer to(book);
    std::size_t aside = 0;
    const auto look = [&](const shared& i) {
        book.check(i->nth() == aside++, "the side sees them in their order");
        return i->nth();
    };
    const bool whole =
        run_or_stop(w,
                    shared_input(book) | weir::tee(weir::pipe(look, {.capacity = 1}), {.capacity = 1}) |
                        weir::sink(1),
                    70, [&](const shared& i) { to.got_next(*i); });
    book.check(!whole || aside == each + 1, "the side has seen all when the stream ends");
    settle(book, whole);
}

// The side fails: what is finished still goes on its way.
void teed_with_a_failure(world& w) {
    ledger book;
    consumer to(book);
    const std::size_t bad = w.draw(each + 1);
    {
        const auto look = [bad](const shared& i) {
            if (i->nth() == bad) throw std::runtime_error("aside");
            return i->nth();
        };
        auto run = (shared_input(book) | weir::tee(weir::pipe(look, {.capacity = 1}), {.capacity = 1}) |
                    weir::sink(1))
                       .start<stepwise>(w);
        const ending end = end_of([&] {
            while (auto next = run.get()) to.got_next(**next);
        });
        book.check(end.failed && end.inside == "aside", "the failure of the side is told");
        book.check(to.count() >= bad, "what had passed comes out");
    }
    book.settle_stopped(each + 1);
}

void routed(world& w) {
    ledger book;
    const bool stops = w.draw(2) == 1;
    std::size_t next_of[2] = {0, 1};
    consumer to(book);
    {
        auto run =
            (input(book, 0, each + 1) |
             weir::route([](const item& i) { return i.nth() % 2; }, {.capacity = 1},
                         weir::branch("even", weir::pipe(passes(), {.capacity = 1})), weir::branch("odd")) |
             weir::sink(1))
                .start<stepwise>(w);
        if (stops) at_any_step(w, 70, [&] { run.stop(); });
        while (auto next = run.get()) {
            std::size_t& due = next_of[next->nth() % 2];
            book.check(next->nth() == due, "each branch keeps the order");
            due += 2;
            to.got_in_any_order(*next);
        }
    }
    settle(book, !stops);
}

// One branch fails at an item: what the other has finished comes out, also what waits for room just then.
void routed_with_a_failure(world& w) {
    ledger book;
    consumer to(book);
    const std::size_t bad = w.draw(each + 1);
    bool finished[each + 1] = {};
    bool thrown = false;
    bool here[each + 1] = {};
    {
        const auto work = [&](item i) {
            if (i.nth() == bad) {
                thrown = true;
                book.dropped(i);
                throw std::runtime_error("branch");
            }
            if (!thrown) finished[i.nth()] = true;
            return i;
        };
        auto run = (input(book, 0, each + 1) |
                    weir::route([](const item& i) { return i.nth() % 2; }, {.capacity = 1},
                                weir::branch("even", weir::pipe(work, {.name = "e", .capacity = 1})),
                                weir::branch("odd", weir::pipe(work, {.name = "o", .capacity = 1}))) |
                    weir::sink(1))
                       .start<stepwise>(w);
        const ending end = end_of([&] {
            while (auto next = run.get()) {
                here[next->nth()] = true;
                to.got_in_any_order(*next);
            }
        });
        book.check(end.failed && end.inside == "branch", "the failure of the branch is told");
        for (std::size_t i = 0; i <= each; ++i)
            book.check(!finished[i] || here[i], "what was finished before comes out");
    }
    book.settle_stopped(each + 1);
}

// A source's function: three batches of two.
auto pairs(ledger& book) {
    return [&book, left = 3]() mutable -> std::optional<std::vector<item>> {
        if (left == 0) return std::nullopt;
        --left;
        std::vector<item> both;
        both.push_back(book.make());
        both.push_back(book.make());
        return both;
    };
}

// Parts of each batch go different ways, and come together again in their places.
template <class Choose>
void divided_by(world& w, Choose choose) {
    ledger book;
    consumer to(book);
    const auto pass = [](std::vector<item> part) { return part; };
    const bool whole = run_or_stop(w,
                                   weir::source(pairs(book), {.capacity = 1}) |
                                       weir::split(choose, {.capacity = 1},
                                                   weir::branch("thirds", weir::pipe(pass, {.capacity = 1})),
                                                   weir::branch("others")) |
                                       weir::sink(1),
                                   90, [&](const std::vector<item>& batch) {
                                       book.check(batch.size() == 2, "nothing is missing in a batch");
                                       for (const item& i : batch) to.got_next(i);
                                   });
    settle(book, whole);
}
void divided(world& w) {
    divided_by(w, [](const item& i) { return i.nth() % 3 == 0 ? 0 : 1; });
}
void divided_by_who_waits(world& w) {
    divided_by(w, [](const item& i) -> weir::task<int> {
        const bool third = i.nth() % 3 == 0;
        co_await weir::sleep_for(weir::duration(1));
        co_return third ? 0 : 1;
    });
}

// A take ends a split, and the split that this one is in a branch of: behind as many batches.
void divided_and_taken(world& w) {
    ledger book;
    consumer to(book);
    const std::size_t enough = 1 + w.draw(2);
    const auto inner =
        weir::split([](const item&) { return 0; }, {.capacity = 1},
                    weir::branch("taken", weir::take(enough, {.capacity = 1})), weir::branch("empty"));
    std::size_t count = 0;
    const bool whole = run_or_stop(w,
                                   weir::source(pairs(book), {.capacity = 1}) |
                                       weir::split([](const item& i) { return i.nth() % 2; }, {.capacity = 1},
                                                   weir::branch("inner", inner), weir::branch("others")) |
                                       weir::sink(1),
                                   90, [&](const std::vector<item>& batch) {
                                       ++count;
                                       book.check(batch.size() == 2, "nothing is missing in a batch");
                                       for (const item& i : batch) to.got_next(i);
                                   });
    book.check(!whole || count == enough, "as many batches come out as the take gives");
    book.settle_stopped(6);
}

// A split whose branch has refused the mark behind a part divides no further batch: before the take in this branch
// has its item, the branch has room for one more part.
void divided_until_taken(world& w) {
    ledger book;
    consumer to(book);
    std::size_t chosen = 0;
    const auto choose = [&chosen](const item&) {
        ++chosen;
        return 0;
    };
    run_or_stop(w,
                weir::source(pairs(book), {.capacity = 1}) |
                    weir::split(choose, {.capacity = 2},
                                weir::branch("taken", weir::take(1, {.capacity = 1})),
                                weir::branch("empty")) |
                    weir::sink(1),
                90, [&](const std::vector<item>& batch) {
                    for (const item& i : batch) to.got_next(i);
                });
    book.check(chosen <= 4, "no third batch is divided");
    book.settle_stopped(6);
}

// A take in a branch of a route, which is in a branch of a split, ends the split behind the batch with its item.
void divided_routed_and_taken(world& w) {
    ledger book;
    consumer to(book);
    const int which = w.draw(2) == 0 ? 0 : 1;  // the first item for this branch is that of batch 0, or 1
    const auto by_batch = [which](const std::vector<item>& part) {
        return part.front().nth() / 2 % 2 == static_cast<std::uint64_t>(which) ? "taken" : "others";
    };
    const auto inner =
        weir::route(by_batch, {.capacity = 1}, weir::branch("taken", weir::take(1, {.capacity = 1})),
                    weir::branch("others"));
    int count = 0;
    const bool whole = run_or_stop(w,
                                   weir::source(pairs(book), {.capacity = 1}) |
                                       weir::split([](const item& i) { return i.nth() % 2; }, {.capacity = 1},
                                                   weir::branch("inner", inner), weir::branch("others")) |
                                       weir::sink(1),
                                   120, [&](const std::vector<item>& batch) {
                                       ++count;
                                       book.check(batch.size() == 2, "nothing is missing in a batch");
                                       for (const item& i : batch) to.got_next(i);
                                   });
    book.check(!whole || count == which + 1, "the batch of the take's item is the last one");
    book.settle_stopped(6);
}

// Each kind of stage that is no function, while the run is paused.
void paused_joins(world& w) {
    ledger book;
    consumer to(book);
    bool stands_still = false;
    {
        const auto chosen = [&book, &stands_still](const item& i) {
            book.check(!stands_still, "while it is paused nothing is chosen");
            return i.nth() % 2;
        };
        auto run =
            (weir::merge({.capacity = 1, .order = weir::merge_order::round_robin}, input(book, 0),
                         input(book, 1)) |
             weir::route(chosen, {.capacity = 1}, weir::branch("even"), weir::branch("odd")) | weir::sink(1))
                .start<stepwise>(w);
        at_any_step(w, 50, [&] {
            run.pause();
            stands_still = true;
        });
        for (std::size_t patience = 30; patience != 0; --patience) {
            auto next = run.get(weir::duration(1));
            if (next) to.got_in_any_order(*next);
            if (next.status() == weir::channel_status::closed) break;
            if (next.status() == weir::channel_status::timed_out) {
                stands_still = false;
                run.resume();
            }
        }
        book.check(to.count() == 2 * each, "after a pause all come");
    }
    book.settle_run();
}

const schedules::registered all("joins",
                                {{"merged_as_they_come", merged_as_they_come},
                                 {"merged_in_turn", merged_in_turn},
                                 {"merged_by_weight", merged_by_weight},
                                 {"merged_by_priority", merged_by_priority},
                                 {"merged_until_the_first_end", merged_until_the_first_end},
                                 {"merged_in_turn_until_the_first_end", merged_in_turn_until_the_first_end},
                                 {"merged_epochs", merged_epochs},
                                 {"merged_with_a_failure", merged_with_a_failure},
                                 {"zipped", zipped},
                                 {"teed", teed},
                                 {"teed_with_a_failure", teed_with_a_failure},
                                 {"routed", routed},
                                 {"routed_with_a_failure", routed_with_a_failure},
                                 {"divided", divided},
                                 {"divided_by_who_waits", divided_by_who_waits},
                                 {"divided_and_taken", divided_and_taken},
                                 {"divided_until_taken", divided_until_taken},
                                 {"divided_routed_and_taken", divided_routed_and_taken},
                                 {"paused_joins", paused_joins}});

}  // namespace
