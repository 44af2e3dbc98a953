// Each kind of stage, stopped at every step or left alone.
// SPDX-License-Identifier: BSL-1.0
#include "pipelines.hpp"

#include "support/item_stages.hpp"

#include <weir/stages/aggregate.hpp>
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/block_pool.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/flat_map.hpp>
#include <weir/stages/shuffle.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/traverse.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

using schedules::at_any_step;
using schedules::consumer;
using schedules::item;
using schedules::ledger;
using schedules::maker;
using schedules::manner;
using schedules::naps;
using schedules::passes;
using schedules::slow_maker;
using schedules::stepwise;
using schedules::world;
using weir::duration;

namespace {

constexpr std::size_t items = 5;

// Runs it to the end, or, in half of the schedules, to a stop. `most`: under way.
template <class Pipeline, class Take>
void run_or_stop(world& w, ledger& book, Pipeline&& pipeline, std::size_t steps, std::size_t most,
                 Take take) {
    const bool stops = w.draw(2) == 1;
    {
        auto run = std::forward<Pipeline>(pipeline).template start<stepwise>(w);
        if (stops) at_any_step(w, steps, [&run] { run.stop(); });
        while (auto next = run.get()) take(*next);
    }
    if (stops) {
        book.settle_stopped(most);
    } else {
        book.settle_run();
    }
}

void batches(world& w) {
    ledger book;
    consumer to(book);
    auto pipeline = weir::source(maker(book, items), {.capacity = 1}) | weir::aggregate(2, {.capacity = 1}) |
                    weir::disaggregate({.capacity = 1}) | weir::sink(1);
    run_or_stop(w, book, pipeline, 60, items, [&](const item& i) { to.got_next(i); });
}

// A batch waits no longer than it may, and an item that comes just then is in this one or the next.
void batches_in_time(world& w) {
    ledger book;
    consumer to(book);
    auto pipeline =
        weir::source(slow_maker(book, items), {.capacity = 1}) |
        weir::aggregate(3, {.max_delay = duration(1 + static_cast<weir::duration::rep>(w.draw(4))),
                            .capacity = 1}) |
        weir::sink(1);
    run_or_stop(w, book, pipeline, 60, items, [&](const std::vector<item>& batch) {
        book.check(!batch.empty() && batch.size() <= 3, "a batch has as many as it may");
        for (const item& i : batch) to.got_next(i);
    });
}

void filtered(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    auto pipeline = weir::source(maker(book, items), {.capacity = 1}) |
                    weir::filter(
                        [&book](const item& i) {
                            if (i.nth() % 2 == 0) return true;
                            book.dropped(i);
                            return false;
                        },
                        {.concurrency = how.slots, .output_order = how.order(), .capacity = how.capacity}) |
                    weir::sink(1);
    run_or_stop(w, book, pipeline, 40, how.most_under_way(), [&](const item& i) {
        if (how.keeps_order()) {
            to.got(i);
        } else {
            to.got_in_any_order(i);
        }
    });
}

// Two of one, each as soon as there is room.
void many_of_one(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    auto pipeline = weir::source(maker(book, 4), {.capacity = 1}) |
                    weir::flat_map(
                        [&book](item i) {
                            std::vector<item> two;
                            two.push_back(book.make(1));
                            two.push_back(std::move(i));
                            return two;
                        },
                        {.concurrency = how.slots, .capacity = 1}) |
                    weir::sink(1);
    run_or_stop(w, book, pipeline, 70, 8, [&](const item& i) { to.got_in_any_order(i); });
}

// The same from a generator that waits in between.
void a_generator_stage(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const auto two = [&book](item i) -> weir::async_generator<item> {
        co_yield book.make(1);
        co_await weir::sleep_for(duration(1));
        co_yield std::move(i);
    };
    auto pipeline = weir::source(maker(book, 4), {.capacity = 1}) |
                    weir::pipe(two, {.concurrency = how.slots, .capacity = 1}) | weir::sink(1);
    run_or_stop(w, book, pipeline, 80, 8, [&](const item& i) { to.got_in_any_order(i); });
}

void shuffled(world& w) {
    ledger book;
    consumer to(book);
    auto pipeline = weir::source(maker(book, items), {.capacity = 1}) |
                    weir::shuffle(2, 1 + w.draw(3), {.capacity = 1}) | weir::sink(1);
    run_or_stop(w, book, pipeline, 45, items, [&](const item& i) { to.got_in_any_order(i); });
}

// A stage that puts what it takes.
void of_items(world& w) {
    ledger book;
    consumer to(book);
    item_stages::visit(w.draw(item_stages::count), 1, [&](auto stage) {
        auto pipeline = weir::source(maker(book, items), {.capacity = 1}) | std::move(stage) | weir::sink(1);
        run_or_stop(w, book, pipeline, 45, items, [&](const item& i) { to.got_in_any_order(i); });
    });
}

// Exactly so many come, and the source doesn't run on for long.
void taken(world& w) {
    ledger book;
    consumer to(book);
    const std::size_t enough = w.draw(4);
    bool stopped = false;
    {
        auto run = (weir::source(maker(book, 20), {.capacity = 1}) | weir::take(enough, {.capacity = 1}) |
                    weir::sink(1))
                       .start<stepwise>(w);
        at_any_step(w, 40, [&] {
            stopped = true;
            run.stop();
        });
        while (auto next = run.get()) to.got_next(*next);
        book.check(stopped || to.count() == enough, "as many come as were asked for");
    }
    book.settle_stopped(8);
}

void skipped(world& w) {
    ledger book;
    consumer to(book);
    const std::size_t over = w.draw(items + 1);
    const bool stops = w.draw(2) == 1;
    {
        auto run = (weir::source(maker(book, items), {.capacity = 1}) | weir::skip(over, {.capacity = 1}) |
                    weir::sink(1))
                       .start<stepwise>(w);
        if (stops) at_any_step(w, 40, [&] { run.stop(); });
        std::size_t next_one = over;
        while (auto next = run.get()) {
            book.check(next->nth() == next_one++, "those behind the first come in their order");
            to.got(*next);
        }
        if (!stops) book.discarded(over);
    }
    if (stops) {
        book.settle_stopped(items);
    } else {
        book.settle_run();
    }
}

// No item overtakes the end of its epoch.
void epochs(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    std::size_t epoch = 0;
    const auto make = [&book](std::uint64_t number) {
        std::vector<item> both;
        both.push_back(book.make(static_cast<std::size_t>(number)));
        both.push_back(book.make(static_cast<std::size_t>(number)));
        return both;
    };
    auto pipeline =
        weir::source(weir::epochs(make, 3), {.capacity = 1}) |
        weir::pipe(naps(),
                   {.concurrency = how.slots, .output_order = how.order(), .capacity = how.capacity}) |
        weir::sink(1);
    run_or_stop(w, book, std::move(pipeline), 60, 6, [&](const item& i) {
        book.check(i.producer() >= epoch, "all of an epoch come before any of the next");
        epoch = i.producer();
        take(to, i, how);
    });
}

// An epoch ends once for the consumer, and none of its batches holds an item of another.
void batches_of_epochs(world& w) {
    ledger book;
    consumer to(book);
    const auto make = [&book](std::uint64_t number) {
        std::vector<item> some;
        for (std::uint64_t i = 0; i <= number; ++i)
            some.push_back(book.make(static_cast<std::size_t>(number)));
        return some;
    };
    const bool stops = w.draw(2) == 1;
    {
        auto run = (weir::source(weir::epochs(make, 3), {.capacity = 1}) |
                    weir::aggregate(2, {.capacity = 1}) | weir::sink(1))
                       .start<stepwise>(w);
        if (stops) at_any_step(w, 50, [&] { run.stop(); });
        std::size_t number = 0;
        for (auto& epoch : run.epochs()) {
            book.check(epoch.number() == number++, "each epoch comes once");
            for (auto& batch : epoch) {
                for (const item& i : batch) {
                    book.check(i.producer() == epoch.number(), "a batch holds items of one epoch");
                    to.got_next(i);
                }
            }
        }
        book.check(stops || number == 3, "all epochs come");
    }
    if (stops) {
        book.settle_stopped(6);
    } else {
        book.settle_run();
    }
}

// Slots write the numbers of items into places; some items fail, some are dropped, and blocks may be short. Each
// number that was written is in one batch, and only the last one of an epoch is not full.
void written(world& w) {
    ledger book;
    const manner how(w);
    constexpr std::size_t places = 2;
    weir::block_pool blocks(places * sizeof(int), 1 + w.draw(2));
    const std::size_t leaves_out = w.draw(items + 1);
    const bool fails = w.draw(2) == 1;
    const auto write = [&](item i, std::span<int> place) -> weir::task<bool> {
        const std::size_t nth = i.nth();
        book.dropped(i);
        co_await weir::sleep_for(duration(static_cast<weir::duration::rep>(nth * 2 % 5)));
        if (nth == leaves_out && fails) throw std::runtime_error("left out");
        place[0] = static_cast<int>(nth);
        co_return nth != leaves_out;
    };
    weir::batch_slots_options options;
    options.concurrency = how.slots;
    options.output_order = how.order();
    options.capacity = 1;
    options.max_failures = weir::unlimited;
    const bool stops = w.draw(2) == 1;
    std::size_t count = 0, batches = 0;
    std::vector<bool> seen(items);
    {
        auto run = (weir::source(maker(book, items), {.capacity = 1}) |
                    weir::batch_slots<int>(blocks, {.places = places}, write, options) | weir::sink(1))
                       .start<stepwise>(w);
        if (stops) at_any_step(w, 60, [&run] { run.stop(); });
        while (auto batch = run.get()) {
            ++batches;
            book.check(batch->size() == places || count + batch->size() + 1 >= items,
                       "only the last batch is not full");
            int before = -1;
            for (const int nth : *batch) {
                book.check(!seen.at(static_cast<std::size_t>(nth)), "an item is in one batch");
                seen[static_cast<std::size_t>(nth)] = true;
                if (how.keeps_order() && leaves_out >= items) {
                    book.check(nth > before && nth == static_cast<int>(count), "the order is kept");
                }
                before = nth;
                ++count;
            }
        }
    }
    const std::size_t kept = items - (leaves_out < items ? 1 : 0);
    book.check(stops || (count == kept && batches == (kept + places - 1) / places),
               "all that was written comes");
    book.check(blocks.stats().size == blocks.blocks(), "all blocks are free again");
    if (stops) {
        book.settle_stopped(items);
    } else {
        book.settle_run();
    }
}

// The same with epochs of 0 to 2 items.
void written_in_epochs(world& w) {
    ledger book;
    const manner how(w);
    weir::block_pool blocks(2 * sizeof(std::size_t), 1 + w.draw(2));
    const auto make = [&book](std::uint64_t number) {
        std::vector<item> some;
        for (std::uint64_t i = 0; i < number; ++i)
            some.push_back(book.make(static_cast<std::size_t>(number)));
        return some;
    };
    const std::size_t leaves_out = w.draw(3);
    const auto write = [&](item i, std::span<std::size_t> place) -> weir::task<bool> {
        const std::size_t nth = i.nth(), epoch = i.producer();
        book.dropped(i);
        co_await weir::sleep_for(duration(static_cast<weir::duration::rep>((nth + epoch) * 2 % 5)));
        place[0] = epoch;
        co_return nth + epoch != leaves_out;
    };
    const bool stops = w.draw(2) == 1;
    {
        auto run = (weir::source(weir::epochs(make, 3), {.capacity = 1}) |
                    weir::batch_slots<std::size_t>(
                        blocks, {.places = 2}, write,
                        {.concurrency = how.slots, .output_order = how.order(), .capacity = 1}) |
                    weir::sink(1))
                       .start<stepwise>(w);
        if (stops) at_any_step(w, 60, [&run] { run.stop(); });
        std::size_t number = 0;
        for (auto& epoch : run.epochs()) {
            std::size_t count = 0, kept = 0;
            for (std::size_t i = 0; i < number; ++i) kept += i + number != leaves_out ? 1U : 0U;
            book.check(epoch.number() == number, "each epoch comes once");
            for (auto& batch : epoch) {
                for (const std::size_t of : batch)
                    book.check(of == number, "a batch holds items of one epoch");
                count += batch.size();
            }
            book.check(count == kept || stops, "an epoch ends behind all of its items");
            ++number;
        }
        book.check(stops || number == 3, "all epochs come");
    }
    book.check(blocks.stats().size == blocks.blocks(), "all blocks are free again");
    if (stops) {
        book.settle_stopped(6);
    } else {
        book.settle_run();
    }
}

// The end acts on each item; the run of which nobody takes anything ends, and who waits for that goes on.
void acted_on(world& w) {
    ledger book;
    consumer to(book);
    const manner how(w);
    const auto act = [&to](item i) -> weir::task<> {
        co_await weir::sleep_for(duration(static_cast<weir::duration::rep>(i.nth() * 2 % 5)));
        to.got_in_any_order(i);
    };
    const auto wait = [](auto& run) -> weir::task<std::uint64_t> {
        const weir::run_result all = co_await run;
        co_return all.items;
    };
    const bool stops = w.draw(2) == 1;
    const bool is_thread = w.draw(2) == 1;
    {
        auto run = (weir::source(maker(book, items), {.capacity = 1}) | weir::pipe(naps(), {.capacity = 1}) |
                    weir::for_each(act, {.concurrency = how.slots}))
                       .start<stepwise>(w);
        if (stops) at_any_step(w, 60, [&run] { run.stop(); });
        const std::uint64_t done = is_thread ? run.wait().items : weir::sync_wait(w, wait(run));
        book.check(done == to.count(), "each item is counted on which the end has acted");
        book.check(run.ended() || stops, "a run that nobody stops has ended");
        book.check(run.wait().items == done, "it has ended for all who wait");
    }
    if (stops) {
        book.settle_stopped(items);
    } else {
        book.settle_run();
    }
}

// A traversal with the drawn slots and order. Its name, `walk`, is that of the stage whose slots change_slots() changes.
template <class Function>
auto walk(const Function& grow, const manner& how, bool first_found_first) {
    return weir::traverse(grow, {.name = "walk",
                                 .concurrency = how.slots,
                                 .order = first_found_first ? weir::traverse_order::as_found
                                                            : weir::traverse_order::depth_first,
                                 .capacity = 1});
}

// Each item of the source adds one, and that another; the slots take what others have added, too.
void traversed(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const bool first_found_first = w.draw(2) == 1;
    const auto grow = [&book, n = 0](item i, weir::feeder<item>& more) mutable -> weir::task<item> {
        if (n++ % 3 != 2) more.add(book.make(1));
        co_await weir::sleep_for(duration(static_cast<weir::duration::rep>(i.nth() % 3)));
        co_return std::move(i);
    };
    auto pipeline =
        weir::source(maker(book, 3), {.capacity = 1}) | walk(grow, how, first_found_first) | weir::sink(1);
    run_or_stop(w, book, pipeline, 70, 40, [&](const item& i) { to.got_in_any_order(i); });
}

// Gets other slots twice, at any steps.
template <class Run>
void change_slots(world& w, Run& run, std::size_t steps) {
    for (int i = 0; i < 2; ++i) {
        const std::size_t n = 1 + w.draw(3);
        at_any_step(w, steps, [&run, n] { run.set_concurrency("walk", n); });
    }
}

// The same in epochs of 0 to 2 items, while the stage gets other slots: an epoch ends behind all of its items. Some
// items add when they have slept, so while a slot may have the end of the epoch.
void traversed_in_epochs(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const bool first_found_first = w.draw(2) == 1;
    const bool adds_late = w.draw(2) == 1;
    const auto make = [&book](std::uint64_t number) {
        std::vector<item> some;
        for (std::uint64_t i = 0; i < number; ++i)
            some.push_back(book.make(static_cast<std::size_t>(number)));
        return some;
    };
    const auto grow = [&book, adds_late, n = 0](item i,
                                                weir::feeder<item>& more) mutable -> weir::task<item> {
        const bool adds = n++ % 3 != 2;
        if (adds && !adds_late) more.add(book.make(i.producer()));
        co_await weir::sleep_for(duration(static_cast<weir::duration::rep>(i.nth() % 3)));
        if (adds && adds_late) more.add(book.make(i.producer()));
        co_return std::move(i);
    };
    {
        auto run = (weir::source(weir::epochs(make, 3), {.capacity = 1}) |
                    walk(grow, how, first_found_first) | weir::sink(1))
                       .start<stepwise>(w);
        change_slots(w, run, 50);
        std::size_t number = 0;
        for (auto& epoch : run.epochs()) {
            book.check(epoch.number() == number, "each epoch comes once");
            for (const item& each : epoch) {
                book.check(each.producer() == number, "an epoch has items of its own");
                to.got_in_any_order(each);
            }
            ++number;
        }
        book.check(number == 3, "all epochs come");
    }
    book.settle_run();
}

// Each item of the source is a request, which comes when all that the one before it added has come out. Meanwhile the
// stage gets other slots.
void traversed_by_request(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const bool first_found_first = w.draw(2) == 1;
    const bool adds_late = w.draw(2) == 1;
    weir::channel<int, stepwise> requests(4);
    const auto next = [&]() -> weir::task<std::optional<item>> {
        auto request = co_await requests.get();
        std::optional<item> made;
        if (request) made.emplace(book.make(0));
        co_return made;
    };
    const auto grow = [&](item i, weir::feeder<item>& more) -> weir::task<item> {
        const std::size_t generation = i.producer();
        if (generation < 2 && !adds_late) more.add(book.make(generation + 1));
        co_await weir::sleep_for(duration(static_cast<weir::duration::rep>(i.nth() % 3)));
        if (generation < 2 && adds_late) more.add(book.make(generation + 1));
        co_return std::move(i);
    };
    {
        auto run = (weir::source(next, {.capacity = 1}) | walk(grow, how, first_found_first) | weir::sink(1))
                       .start<stepwise>(w);
        change_slots(w, run, 100);
        for (int request = 0; request < 4; ++request) {
            book.check(requests.try_put(int{request}) == weir::channel_status::success, "there is room");
            for (int answer = 0; answer < 3; ++answer) {
                auto each = run.get();
                book.check(each.has_value(), "each request has its answers");
                if (each) to.got_in_any_order(*each);
            }
        }
        requests.close();
        book.check(!run.get(), "nothing comes behind the last answer");
    }
    book.settle_run();
}

const schedules::registered all("kinds", {{"batches", batches},
                                          {"batches_in_time", batches_in_time},
                                          {"filtered", filtered},
                                          {"many_of_one", many_of_one},
                                          {"a_generator_stage", a_generator_stage},
                                          {"shuffled", shuffled},
                                          {"of_items", of_items},
                                          {"taken", taken},
                                          {"skipped", skipped},
                                          {"epochs", epochs},
                                          {"batches_of_epochs", batches_of_epochs},
                                          {"written", written},
                                          {"written_in_epochs", written_in_epochs},
                                          {"acted_on", acted_on},
                                          {"traversed", traversed},
                                          {"traversed_in_epochs", traversed_in_epochs},
                                          {"traversed_by_request", traversed_by_request}});

}  // namespace
