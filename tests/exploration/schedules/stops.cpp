// Operations that are stopped, frames that are destroyed while they wait, sleepers that are woken early:
// at every step.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"
#include "support/actor.hpp"

#include <weir/executor/wait_site.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

using schedules::at_any_step;
using schedules::consumer;
using schedules::item;
using schedules::ledger;
using schedules::world;
using weir::stop_source;
using weir::stop_token;
using weir::task;
using queue = weir::channel<item, schedules::stepwise>;

namespace {

constexpr std::size_t each = 3;

// Goes on with the next item after one that was stopped: a stop is for one operation.
task<> produce(ledger& book, queue& c, std::size_t producer, std::size_t& open, stop_token stop) {
    for (std::size_t i = 0; i < each; ++i) {
        item next = book.make(producer);
        const bool taken = co_await c.put(std::move(next), stop);
        if (taken) {
            book.put(next);
            continue;
        }
        book.returned(next);
        book.check(c.closed() || stop.stop_requested(), "what nobody stopped goes in");
        if (c.closed()) break;
    }
    if (--open == 0) c.close();
}

// Until it is stopped; then without the token, to the end.
task<> consume(ledger& book, consumer& to, queue& c, stop_token stop) {
    bool stopped = false;
    while (!stopped) {
        auto next = co_await c.get(stop);
        if (next) {
            to.got(*next);
        } else {
            stopped = true;
        }
    }
    book.check(stop.stop_requested() || c.closed(), "who wasn't stopped gets all");
    while (auto next = co_await c.get()) to.got(*next);
}

template <class Disturb>
void disturbed(world& w, bool puts, bool gets, Disturb disturb) {
    ledger book;
    {
        queue c(1 + w.draw(2));
        consumer one(book), two(book);
        std::size_t open = 2;
        stop_source put, get;
        const stop_token none;
        disturb(c, put, get);
        const stop_token of_put = puts ? put.get_token() : none;
        const stop_token of_get = gets ? get.get_token() : none;
        weir::sync_wait(w, weir::when_all(produce(book, c, 0, open, of_put), produce(book, c, 1, open, none),
                                          consume(book, one, c, of_get), consume(book, two, c, none)));
    }
    book.settle();
}

void a_put(world& w) {
    disturbed(w, true, false, [&](queue&, stop_source& put, stop_source&) {
        at_any_step(w, 40, [put] { put.request_stop(); });
    });
}

void a_get(world& w) {
    disturbed(w, false, true, [&](queue&, stop_source&, stop_source& get) {
        at_any_step(w, 40, [get] { get.request_stop(); });
    });
}

void both(world& w) {
    disturbed(w, true, true, [&](queue&, stop_source& put, stop_source& get) {
        at_any_step(w, 40, [put] { put.request_stop(); });
        at_any_step(w, 40, [get] { get.request_stop(); });
    });
}

void against_a_close(world& w) {
    disturbed(w, true, true, [&](queue& c, stop_source& put, stop_source& get) {
        const std::size_t step = w.draw(40);
        const bool close_first = w.draw(2) == 0;
        w.at_step(step, [&c, put, get, close_first] {
            if (close_first) c.close();
            put.request_stop();
            get.request_stop();
            c.close();
        });
    });
}

// Stopped before they began: a put goes in where there is room, and a get gets what is there; none waits,
// as there is nobody to end it.
void requested_before(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(2));
        consumer one(book), two(book);
        stop_source stop;
        stop.request_stop();
        std::size_t nobody = 9;  // closes
        weir::sync_wait(w, weir::when_all(produce(book, c, 0, nobody, stop.get_token()),
                                          produce(book, c, 1, nobody, stop.get_token())));
        const auto get = [](queue& from, consumer& by, stop_token until) -> task<> {
            while (auto next = co_await from.get(until)) by.got(*next);
        };
        weir::sync_wait(w, weir::when_all(get(c, one, stop.get_token()), get(c, two, stop.get_token())));
        book.check(c.size() == 0 && one.count() + two.count() == c.capacity(), "what went in comes out");
    }
    book.settle();
}

// The first in the line waits with what is too large; when it is stopped, those behind it fit.
void a_large_put(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        queue c(3);
        c.set_max_bytes(4);
        stop_source stop;
        std::size_t in = 0;
        const auto put = [](ledger& b, queue& to, std::size_t producer, std::size_t bytes, stop_token until,
                            std::size_t& count) -> task<> {
            item next = b.make(producer).sized(bytes);
            const bool taken = co_await to.put(std::move(next), until);
            if (taken) {
                b.put(next);
                ++count;
            } else {
                b.returned(next);
            }
        };
        at_any_step(w, 8, [stop] { stop.request_stop(); });
        const auto later = [](world& here, const stop_source& until, queue& to) -> task<> {
            co_await schedules::idle(here, 8);
            until.request_stop();
            co_await schedules::idle(here, 8);
            to.close();
        };
        const stop_token none;
        weir::sync_wait(w,
                        weir::when_all(put(book, c, 0, 2, none, in), put(book, c, 1, 4, stop.get_token(), in),
                                       put(book, c, 2, 1, none, in), later(w, stop, c)));
        left = c.size();
        book.check(left == in, "what went in is there");
    }
    book.settle(left);
}

actor put_all(ledger& book, queue& c, std::size_t producer) {
    for (std::size_t i = 0; i < each; ++i) {
        item next = book.make(producer);
        const bool taken = co_await c.put(std::move(next));
        if (taken) {
            book.put(next);
        } else {
            book.returned(next);
        }
    }
}

// A getter goes with its frame while it waits: what is put afterwards is for the others. One that was
// answered is posted, and must not be destroyed any more; so it is alone in the line.
void a_getter_destroyed(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(2));
        consumer to(book), short_lived(book);
        const auto wait = [](queue& from, consumer& by) -> actor {
            while (auto next = co_await from.get()) by.got(*next);
        };
        const auto waits = [&c] {
            return schedules::contains(weir::detail::waiters_at(weir::detail::base_of(c)), "waits to get");
        };
        actor one = put_all(book, c, 0);
        actor two = put_all(book, c, 1);
        actor goes = wait(c, short_lived);
        one.start(w);
        two.start(w);
        goes.start(w);
        const std::size_t step = 1 + w.draw(20);
        bool gone = false;
        w.always([&] {
            if (gone || w.steps() < step || !waits()) return;
            goes.destroy();
            gone = true;
        });
        w.run();
        book.check(gone || waits(), "who got all waits for more");
        goes.destroy();
        gone = true;
        const auto close_soon = [](world& here, queue& which) -> task<> {
            co_await schedules::idle(here, 2 * each * 4);
            which.close();
        };
        const auto rest = [](queue& from, consumer& by) -> task<> {
            while (auto next = co_await from.get()) by.got(*next);
        };
        weir::sync_wait(w, weir::when_all(rest(c, to), close_soon(w, c)));
        w.run();
        while (auto next = c.try_get()) to.got(*next);
    }
    book.settle();
}

// A putter goes with its frame, and its item with it.
void a_putter_destroyed(world& w) {
    ledger book;
    {
        queue c(1);
        consumer to(book);
        std::size_t open = 1;
        const stop_token none;
        std::optional<item> lost;
        bool waits = false;
        const auto put = [](ledger& b, queue& into, std::optional<item>& mine, bool& waiting) -> actor {
            mine.emplace(b.make(1));
            waiting = true;
            const bool taken = co_await into.put(std::move(*mine));
            waiting = false;
            if (taken) {
                b.put(*mine);
            } else {
                b.returned(*mine);
            }
        };
        actor goes = put(book, c, lost, waits);
        goes.start(w);
        const std::size_t step = 1 + w.draw(12);
        w.always([&] {
            if (!waits || w.steps() < step || !lost->whole() || c.size() != 1 || c.closed()) return;
            goes.destroy();
            waits = false;
            book.returned(*lost);
        });
        weir::sync_wait(w, weir::when_all(produce(book, c, 0, open, none), consume(book, to, c, none)));
        w.run();
        lost.reset();
    }
    book.settle();
}

// Each sleeps for as long as it should, but for the one that is stopped; in the order of their times.
void sleepers(world& w) {
    ledger book;
    stop_source stop;
    std::size_t awake = 0;
    std::int64_t last = 0;
    std::int64_t asked = INT64_MAX;
    const auto nap = [](world& here, ledger& b, std::int64_t n, stop_token until, std::int64_t& before,
                        std::size_t& count, const std::int64_t& stopped_at) -> task<> {
        auto rest = weir::sleep_for(weir::duration(n), until);
        const bool whole = co_await rest;
        const std::int64_t now = here.now().time_since_epoch().count();
        b.check(whole || until.stop_requested(), "who wasn't stopped sleeps to the end");
        b.check(!whole || !until.stop_requested() || n <= stopped_at, "who was stopped sleeps no longer");
        b.check(whole ? now == n : now <= n, "nobody sleeps longer, or less, than he should");
        b.check(now >= before, "time doesn't go back");
        before = now;
        ++count;
    };
    at_any_step(w, 8, [&] {
        asked = w.now().time_since_epoch().count();
        stop.request_stop();
    });
    const stop_token none;
    weir::sync_wait(w, weir::when_all(nap(w, book, 5, stop.get_token(), last, awake, asked),
                                      nap(w, book, 3, none, last, awake, asked),
                                      nap(w, book, 9, stop.get_token(), last, awake, asked),
                                      nap(w, book, 3, stop.get_token(), last, awake, asked)));
    book.check(awake == 4, "all wake up");
    book.settle();
}

const schedules::registered all("stops", {{"a_put", a_put},
                                          {"a_get", a_get},
                                          {"both", both},
                                          {"against_a_close", against_a_close},
                                          {"requested_before", requested_before},
                                          {"a_large_put", a_large_put, true},
                                          {"a_getter_destroyed", a_getter_destroyed},
                                          {"a_putter_destroyed", a_putter_destroyed},
                                          {"sleepers", sleepers, true}});

}  // namespace
