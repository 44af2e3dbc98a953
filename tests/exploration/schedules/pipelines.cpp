// A pipeline with one stage: stopped, left and destroyed at every step, with all kinds of consumers.
// SPDX-License-Identifier: BSL-1.0
#include "pipelines.hpp"

#include "support/flows.hpp"

#include <weir/simulation/explore.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

using schedules::at_any_step;
using schedules::bound;
using schedules::consumer;
using schedules::item;
using schedules::ledger;
using schedules::line;
using schedules::maker;
using schedules::manner;
using schedules::naps;
using schedules::passes;
using schedules::slow_maker;
using schedules::stepwise;
using schedules::take_all;
using schedules::world;
using weir::channel_status;
using weir::duration;
using weir::output_order;
using weir::task;

namespace {

constexpr std::size_t items = 5;

// In some of the schedules: statistics are longer to copy than a whole schedule takes.
template <class Run>
void check_times(world& w, ledger& book, Run& run) {
    if (w.draw(16) != 0) return;
    book.check(flows::add_up(run.stats()), "each instant of a slot is in one state");
}

void whole(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    {
        bound(w, book, how.most_under_way());
        auto run = line(maker(book, items), passes(), how).start<stepwise>(w);
        take_all(run, to, how);
        book.check(to.count() == items, "all come out");
        book.check(run.ended(), "the end was seen");
        check_times(w, book, run);
    }
    book.settle_run();
}

// What comes out is a beginning of what went in, if the order is kept; nothing is lost but what was inside.
void stopped(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    {
        auto run = line(maker(book, items), passes(), how).start<stepwise>(w);
        at_any_step(w, 35, [&] {
            run.stop();
            book.check(book.alive() <= 1,
                       "after a stop nothing is left but what is on its way to the consumer");
            weir::simulation::check_identities(run.stats());
        });
        take_all(run, to, how);
        weir::simulation::check_identities(run.stats());
    }
    book.settle_stopped(how.most_under_way());
}

// Functions that would wait for long, in parts: a stop waits for none of them.
void stopped_while_it_waits(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const auto rest = [](std::int64_t n) -> task<> { co_await weir::sleep_for(duration(1'000 + n)); };
    const auto rests = [&rest](item i) -> task<item> {
        std::vector<task<>> parts;
        parts.push_back(rest(0));
        parts.push_back(rest(1));
        if (i.nth() % 2 == 0) {
            co_await weir::when_all(std::move(parts));
        } else {
            co_await std::move(parts[1]);
        }
        co_return std::move(i);
    };
    {
        auto run = line(slow_maker(book, items), rests, how).start<stepwise>(w);
        at_any_step(w, 60, [&] {
            const weir::time_point before = w.now();
            run.stop();
            book.check(w.now() == before, "a stop takes no time");
            book.check(book.alive() <= 1, "a stop leaves nothing but what is on its way to the consumer");
        });
        take_all(run, to, how);
    }
    book.settle_stopped(how.most_under_way());
}

void stopped_by_a_token(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    {
        weir::stop_source stop;
        weir::run_options options;
        options.stop = stop.get_token();
        at_any_step(w, 35, [&] { stop.request_stop(); });
        auto run = line(maker(book, items), passes(), how).start<stepwise>(w, options);
        take_all(run, to, how);
    }
    book.settle_stopped(how.most_under_way());
}

// The consumer takes some, waits for a while, and goes.
void destroyed_early(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const std::size_t enough = w.draw(items);
    {
        auto run = line(maker(book, items), passes(), how).start<stepwise>(w);
        while (to.count() < enough) {
            auto next = run.get();
            if (!next) break;
            take(to, *next, how);
        }
        weir::sync_wait(w, schedules::idle(w, w.draw(8)));
    }
    book.check(to.count() == enough, "as many came as were wanted");
    book.settle_stopped(how.most_under_way());
}

// Early results in their places, while items before them are dropped or fail, and while the places, the slots
// and the limit in bytes change.
void early_results(world& w) {
    ledger book;
    consumer to(book);
    constexpr std::size_t most = 4;
    const bool stops = w.draw(3) == 0;
    const bool counts_bytes = w.draw(2) == 1;
    weir::stage_options stage;
    stage.name = "work";
    stage.concurrency = 2 + w.draw(3);
    stage.output_order = output_order::input;
    stage.capacity = 1 + w.draw(most);
    stage.max_bytes = counts_bytes ? 3 : 0;
    stage.max_failures = weir::unlimited;
    const auto work = [&book](item i) -> task<std::optional<item>> {
        co_await weir::sleep_for(duration(static_cast<weir::duration::rep>(i.nth() * 3 % 5)));
        if (i.nth() % 4 < 2) co_return std::move(i);
        book.dropped(i);
        if (i.nth() % 4 == 2) throw std::runtime_error("tolerated");
        co_return std::nullopt;
    };
    bound(w, book, 2 + most + most + 1 + 1 + 3);
    {
        auto run = (weir::source(maker(book, 2 * items), {.capacity = 1}) | weir::pipe(work, stage) |
                    weir::pipe(naps(), {.capacity = 1}) | weir::sink(1))
                       .start<stepwise>(w);
        const std::size_t places = 1 + w.draw(most);
        const std::size_t slots = 1 + w.draw(most);
        at_any_step(w, 60, [&run, places] { run.set_capacity("work", places); });
        at_any_step(w, 60, [&run, slots] { run.set_concurrency("work", slots); });
        if (stops) at_any_step(w, 70, [&] { run.stop(); });
        std::size_t next_one = 0;
        while (auto next = run.get()) {
            book.check(next->nth() >= next_one, "the order is kept over what is missing");
            next_one = next->nth() + 1;
            to.got(*next);
        }
        check_times(w, book, run);
    }
    if (stops) {
        book.settle_stopped(2 * items);
    } else {
        book.settle_run();
    }
}

// Slots that take different times: an early result has a place, or waits for its turn.
void slots_that_sleep(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const bool stops = w.draw(2) == 1;
    {
        auto run = line(maker(book, items), naps(), how).start<stepwise>(w);
        if (stops) at_any_step(w, 45, [&] { run.stop(); });
        take_all(run, to, how);
        check_times(w, book, run);
    }
    if (stops) {
        book.settle_stopped(how.most_under_way());
    } else {
        book.settle_run();
    }
}

// A time-out loses nothing.
void timed_gets(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    {
        auto run = line(slow_maker(book, items), passes(), how).start<stepwise>(w);
        bool waited = true;  // else once for some time, so that it goes on
        while (true) {
            auto next = run.get(duration((waited ? 0 : 1) + w.draw(3)));
            if (next) take(to, *next, how);
            waited = next.status() != channel_status::timed_out;
            if (next.status() == channel_status::closed) break;
        }
    }
    book.settle_run();
}

template <class Run>
task<> consume(Run& run, consumer& to, std::size_t most) {
    while (to.count() < most) {
        auto next = co_await run.next();
        if (!next) break;
        to.got_in_any_order(*next);
    }
}

// Each item goes to one of them.
void several_consumers(world& w) {
    ledger book;
    const manner how(w);
    consumer one(book), two(book);
    const bool stops = w.draw(2) == 1;
    {
        weir::stop_source stop;
        weir::run_options options;
        options.stop = stop.get_token();
        if (stops) at_any_step(w, 35, [&] { stop.request_stop(); });
        auto run = line(maker(book, items), passes(), how).start<stepwise>(w, options);
        weir::sync_wait(w, weir::when_all(consume(run, one, items), consume(run, two, items)));
    }
    if (stops) {
        book.settle_stopped(how.most_under_way());
    } else {
        book.settle_run();
    }
}

// One of them has enough; the others get the rest.
void a_consumer_that_leaves(world& w) {
    ledger book;
    const manner how(w);
    consumer one(book), two(book), last(book);
    {
        auto run = line(maker(book, items), passes(), how).start<stepwise>(w);
        weir::sync_wait(w, weir::when_all(consume(run, one, 1 + w.draw(2)), consume(run, two, 2)));
        while (auto next = run.get()) last.got_in_any_order(*next);
    }
    book.settle_run();
}

// One run is the source of another: both end with the outer one.
void a_run_in_a_run(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const bool stops = w.draw(2) == 1;
    {
        auto inner = line(maker(book, items), passes(), how).start<stepwise>(w);
        auto run = (weir::source(std::move(inner), {.capacity = 1}) | weir::sink(1)).start<stepwise>(w);
        if (stops) at_any_step(w, 45, [&] { run.stop(); });
        take_all(run, to, how);
    }
    if (stops) {
        book.settle_stopped(how.most_under_way() + 4);
    } else {
        book.settle_run();
    }
}

// In every lap each slot is in one state at any instant, and the laps sum to the whole.
void laps(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const bool stops = w.draw(2) == 1;
    {
        weir::run_options options;
        options.lap = duration(3);
        duration sum(0);
        options.on_lap = [&](const weir::pipeline_stats& lap) {
            book.check(flows::add_up(lap), "each instant of a slot is in one state, in each lap");
            for (const auto& queue : lap.channels) {
                book.check(queue.elapsed == lap.elapsed, "a queue's time is the lap's");
                book.check(queue.empty >= duration(0) && queue.empty <= queue.elapsed,
                           "0 <= empty <= elapsed");
            }
            sum += lap.elapsed;
        };
        auto run = line(slow_maker(book, items), naps(), how).start<stepwise>(w, options);
        if (stops) at_any_step(w, 50, [&] { run.stop(); });
        take_all(run, to, how);
        book.check(sum <= w.now().time_since_epoch(), "laps don't overlap");
        check_times(w, book, run);
    }
    if (stops) {
        book.settle_stopped(how.most_under_way());
    } else {
        book.settle_run();
    }
}

const schedules::registered all("pipelines", {{"whole", whole},
                                              {"stopped", stopped},
                                              {"stopped_while_it_waits", stopped_while_it_waits},
                                              {"stopped_by_a_token", stopped_by_a_token},
                                              {"destroyed_early", destroyed_early},
                                              {"early_results", early_results},
                                              {"slots_that_sleep", slots_that_sleep},
                                              {"timed_gets", timed_gets},
                                              {"several_consumers", several_consumers},
                                              {"a_consumer_that_leaves", a_consumer_that_leaves},
                                              {"a_run_in_a_run", a_run_in_a_run},
                                              {"laps", laps}});

}  // namespace
