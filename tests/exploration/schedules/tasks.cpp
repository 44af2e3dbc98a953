// Threads that wait with time-outs, tasks that are joined, generators: over channels.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include <weir/executor/schedule.hpp>
#include <weir/run/priority_lanes.hpp>
#include <weir/task/async_generator.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>
#include <weir/task/when_all.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using schedules::at_any_step;
using schedules::consumer;
using schedules::item;
using schedules::ledger;
using schedules::world;
using weir::channel_status;
using weir::duration;
using weir::task;
using queue = weir::channel<item, schedules::stepwise>;

namespace {

constexpr std::size_t each = 3;

task<> produce(ledger& book, queue& c, std::size_t producer, std::size_t& open, duration pause) {
    for (std::size_t i = 0; i < each; ++i) {
        if (pause > duration(0)) co_await weir::sleep_for(pause);
        item next = book.make(producer);
        const bool taken = co_await c.put(std::move(next));
        if (!taken) {
            book.returned(next);
            break;
        }
        book.put(next);
    }
    if (--open == 0) c.close();
}

task<> consume(consumer& to, queue& c, duration pause) {
    while (auto next = co_await c.get()) {
        to.got(*next);
        if (pause > duration(0)) co_await weir::sleep_for(pause);
    }
}

// This thread takes what two sleepers put, and has no patience.
void a_thread_gets(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(2), w);
        consumer to(book);
        std::size_t open = 2;
        weir::task_group group(w);
        group.spawn(produce(book, c, 0, open, duration(2)));
        group.spawn(produce(book, c, 1, open, duration(3)));
        bool waited = true;  // else once for some time, so that it goes on
        while (true) {
            auto next = c.blocking_get(duration((waited ? 0 : 1) + w.draw(3)));
            if (next) to.got(*next);
            waited = next.status() != channel_status::timed_out;
            if (next.status() == channel_status::closed) break;
        }
        weir::sync_wait(w, group.join());
    }
    book.settle();
}

// This thread puts, and what timed out is still its own.
void a_thread_puts(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(2), w);
        consumer one(book), two(book);
        weir::task_group group(w);
        group.spawn(consume(one, c, duration(2)));
        group.spawn(consume(two, c, duration(3)));
        for (std::size_t i = 0; i < 2 * each; ++i) {
            item next = book.make();
            const channel_status how = c.blocking_put(std::move(next), duration(w.draw(3)));
            if (how == channel_status::success) {
                book.put(next);
            } else {
                book.check(how == channel_status::timed_out, "nobody closed it");
                book.returned(next);
            }
        }
        c.close();
        weir::sync_wait(w, group.join());
    }
    book.settle();
}

// It puts, and gets now and then, until somebody closes.
void a_thread_among_others(world& w) {
    ledger book;
    {
        queue c(1, w);
        consumer mine(book), to(book);
        std::size_t open = 1;
        at_any_step(w, 25, [&] { c.close(); });
        weir::task_group group(w);
        group.spawn(produce(book, c, 1, open, duration(1)));
        group.spawn(consume(to, c, duration(0)));
        for (std::size_t i = 0; i < 2 * each; ++i) {
            item next = book.make();
            const channel_status how = c.blocking_put(std::move(next), duration(w.draw(3)));
            if (how == channel_status::success) {
                book.put(next);
            } else {
                book.returned(next);
            }
            if (i % 3 != 2) continue;
            auto got = c.blocking_get(duration(w.draw(2)));
            if (got) mine.got(*got);
        }
        weir::sync_wait(w, group.join());
    }
    book.settle();
}

// All parts are joined, and the error of the first in the row is thrown.
void a_part_throws(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        queue c(1);
        consumer to(book);
        std::size_t ended = 0;
        const auto put = [](ledger& b, queue& into, std::size_t producer, std::size_t bad,
                            std::size_t& count) -> task<> {
            for (std::size_t i = 0; i < each; ++i) {
                item next = b.make(producer);
                if (i == bad) {
                    b.returned(next);
                    into.close();
                    ++count;
                    throw std::runtime_error(producer == 0 ? "first" : "second");
                }
                const bool taken = co_await into.put(std::move(next));
                if (taken) {
                    b.put(next);
                } else {
                    b.returned(next);
                }
            }
            ++count;
        };
        const std::size_t one = w.draw(each), two = w.draw(each);
        std::string error;
        try {
            weir::sync_wait(w, weir::when_all(put(book, c, 0, one, ended), put(book, c, 1, two, ended),
                                              consume(to, c, duration(0))));
        } catch (const std::runtime_error& e) {
            error = e.what();
        }
        book.check(error == "first", "the error of the first in the row is thrown");
        book.check(ended == 2, "nobody is left behind");
        left = c.size();
    }
    book.settle(left);
}

// Tasks of a group, some of which throw. One task starts another, before the join or during it.
void a_group(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(2));
        consumer to(book);
        std::size_t open = 2;
        const auto fail = [](world& here, std::size_t steps) -> task<> {
            co_await schedules::idle(here, steps);
            throw std::runtime_error("failed");
        };
        const auto start = [](world& here, weir::task_group& group, task<> other) -> task<> {
            const std::size_t steps = here.draw(4);
            co_await schedules::idle(here, steps);
            if (steps % 2 == 0) {
                group.spawn(std::move(other));
            } else {
                co_await group.fork(std::move(other));
            }
        };
        const auto whole = [](world& here, ledger& b, queue& into, consumer& by, std::size_t& all,
                              task<> fails, const auto& starts) -> task<> {
            weir::task_group group(here);
            group.spawn(produce(b, into, 0, all, duration(0)));
            co_await group.fork(produce(b, into, 1, all, duration(0)));
            group.spawn(std::move(fails));
            group.spawn(starts(here, group, consume(by, into, duration(0))));
            bool thrown = false;
            try {
                co_await group.join();
            } catch (const std::runtime_error&) {
                thrown = true;
            }
            b.check(thrown, "the group's error is thrown when all have ended");
            b.check(all == 0 && into.size() == 0, "the join waits for all");
        };
        weir::sync_wait(w, whole(w, book, c, to, open, fail(w, w.draw(6)), start));
    }
    book.settle();
}

// What a generator gives goes through a channel; it may be left, or throw, at any item.
void a_generator(world& w) {
    ledger book;
    {
        queue c(1), d(1);
        consumer to(book);
        std::size_t open = 2;
        const auto values = [](queue& from, std::size_t bad) -> weir::async_generator<item> {
            std::size_t n = 0;
            while (auto next = co_await from.get()) {
                co_yield std::move(*next);
                if (++n == bad) throw std::runtime_error("no more");
            }
        };
        const auto pass = [](ledger& b, weir::async_generator<item> from, queue& source,
                             queue& into) -> task<> {
            bool thrown = false;
            try {
                while (auto next = co_await from.next()) {
                    const bool taken = co_await into.put(std::move(*next));
                    b.check(taken, "nobody closes it");
                }
            } catch (const std::runtime_error&) {
                thrown = true;
            }
            if (thrown) {
                while (auto rest = co_await source.get()) b.dropped(*rest);
            }
            into.close();
        };
        auto given = values(c, 1 + w.draw(2 * each + 2));
        weir::sync_wait(w, weir::when_all(produce(book, c, 0, open, duration(0)),
                                          produce(book, c, 1, open, duration(0)),
                                          pass(book, std::move(given), c, d), consume(to, d, duration(0))));
    }
    book.settle();
}

// Lanes of different urgency into one world: one coroutine of it runs all of theirs.
void lanes(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        weir::priority_lanes all(w);
        weir::executor& slow = all.add();
        weir::executor& fast = all.add();
        queue c(1 + w.draw(2));
        consumer to(book);
        std::size_t open = 2;
        const std::size_t enough = w.draw(2 * each + 1);
        const auto some = [](consumer& by, queue& from, std::size_t most) -> task<> {
            while (by.count() < most) {
                auto next = co_await from.get();
                if (!next) break;
                by.got(*next);
            }
            from.close();
        };
        const auto on = [](weir::executor& lane, task<> what) -> task<> {
            co_await weir::schedule(lane);
            co_await std::move(what);
        };
        weir::sync_wait(w, weir::when_all(on(slow, produce(book, c, 0, open, duration(0))),
                                          on(slow, produce(book, c, 1, open, duration(0))),
                                          on(fast, some(to, c, enough))));
        book.check(to.count() == enough, "it got what it wanted");
        left = c.size();
    }
    book.settle(left);
}

// Coroutines go into lanes, at once or later: none runs while one waits in a more urgent lane.
void lanes_by_urgency(world& w) {
    ledger book;
    {
        weir::priority_lanes all(w);
        std::array<weir::executor*, 3> lane{};
        std::array<std::size_t, 3> waiting{};
        for (weir::executor*& one : lane) one = &all.add();
        const auto go = [&](std::size_t place, duration later) -> task<> {
            co_await weir::sleep_for(later);
            ++waiting[place];
            co_await weir::schedule(*lane[place]);
            --waiting[place];
            for (std::size_t i = place + 1; i < lane.size(); ++i)
                book.check(waiting[i] == 0, "the most urgent one runs first");
        };
        const auto one = [&w, &go] {
            const std::size_t place = w.draw(3);
            return go(place, duration(static_cast<duration::rep>(w.draw(2))));
        };
        auto a = one(), b = one(), c = one(), d = one();
        weir::sync_wait(w, weir::when_all(std::move(a), std::move(b), std::move(c), std::move(d)));
    }
    book.settle();
}

const schedules::registered all("tasks", {{"a_thread_gets", a_thread_gets},
                                          {"a_thread_puts", a_thread_puts},
                                          {"a_thread_among_others", a_thread_among_others},
                                          {"a_part_throws", a_part_throws},
                                          {"a_group", a_group},
                                          {"a_generator", a_generator},
                                          {"lanes", lanes},
                                          {"lanes_by_urgency", lanes_by_urgency}});

}  // namespace
