// Operations that wait for some time at most, or for one of several, and the first of several tasks: with
// time-outs, closes, cancels and stops at every step.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"
#include "support/actor.hpp"

#include <weir/channel/channel.hpp>
#include <weir/channel/select.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>
#include <weir/task/when_any.hpp>

#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

using schedules::at_any_step;
using schedules::consumer;
using schedules::item;
using schedules::ledger;
using schedules::world;
using weir::channel_status;
using weir::task;
using item_queue = weir::channel<item, schedules::stepwise>;

namespace {

constexpr std::size_t each = 3;  // items of a producer

// Short enough that it is over before what it waits for as often as not.
weir::duration some_time(world& w) { return weir::duration(w.draw(4)); }

// What holds of a channel that nobody uses any more.
void check_books(ledger& book, item_queue& c, std::size_t discarded = 0) {
    const weir::channel_stats s = c.stats();
    book.check(s.num_put == s.num_get + s.size + discarded && s.num_discarded == discarded,
               "what was put was got, is inside, or was cancelled");
    book.check(s.put_blocked <= s.put_wait && s.get_blocked <= s.get_wait,
               "who waits alone waits as long as all do");
    book.check(s.put_blocked + s.empty <= s.elapsed && s.get_blocked <= s.empty,
               "nobody waits for what is there");
    book.check(s.put_waits.count() == s.num_put && s.get_waits.count() == s.num_get,
               "each operation that was done has a wait, and no other has");
}

// Each item until it is in, or the channel closed; between them time passes. The last to end closes.
task<> produce(world& w, ledger& book, item_queue& c, std::size_t producer, std::size_t& open) {
    bool closed = false;
    for (std::size_t i = 0; i < each && !closed; ++i) {
        co_await weir::sleep_for(some_time(w));
        item next = book.make(producer);
        channel_status how = channel_status::timed_out;
        while (how == channel_status::timed_out) {
            book.check(next.whole(), "an item whose put was in vain is still the caller's");
            how = co_await c.put_for(std::move(next), weir::duration(1) + some_time(w));
        }
        if (how == channel_status::success) {
            book.put(next);
        } else {
            book.returned(next);
            closed = true;
        }
    }
    if (--open == 0) c.close();
}

task<> consume(world& w, consumer& to, item_queue& c) {
    bool closed = false;
    while (!closed) {
        const auto got = co_await c.get_for(weir::duration(1) + some_time(w));
        if (got) to.got(*got);
        closed = got.status() == channel_status::closed;
    }
}

template <class Disturb>
void timed(world& w, Disturb disturb) {
    ledger book;
    {
        item_queue c(1 + w.draw(2));
        consumer one(book), two(book);
        std::size_t open = 2;
        std::size_t discarded = 0;
        disturb(c, book, discarded);
        weir::sync_wait(w, weir::when_all(produce(w, book, c, 0, open), produce(w, book, c, 1, open),
                                          consume(w, one, c), consume(w, two, c)));
        check_books(book, c, discarded);
    }
    book.settle();
}

void in_time_or_not(world& w) {
    timed(w, [](item_queue&, ledger&, std::size_t&) {});
}
void closed_meanwhile(world& w) {
    timed(w, [&](item_queue& c, ledger&, std::size_t&) { at_any_step(w, 50, [&] { c.close(); }); });
}
void cancelled_meanwhile(world& w) {
    timed(w, [&](item_queue& c, ledger& book, std::size_t& discarded) {
        at_any_step(w, 50, [&] {
            discarded = c.size();
            book.discarded(discarded);
            c.cancel();
        });
    });
}
// More room, or less, and a limit in bytes.
void resized_meanwhile(world& w) {
    timed(w, [&](item_queue& c, ledger&, std::size_t&) {
        at_any_step(w, 50, [&] { c.set_capacity(1 + w.draw(3)); });
        at_any_step(w, 50, [&] { c.set_max_bytes(w.draw(3)); });
    });
}

// One that has as long as it takes, and one whose item comes when its time is over.
void at_the_last_moment(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        item_queue c(1);
        consumer one(book);
        const auto gives = [](ledger& b, item_queue& to) -> task<> {
            co_await weir::sleep_for(weir::duration(2));
            item next = b.make();
            const channel_status how = co_await to.put_for(std::move(next), weir::duration(0));
            how == channel_status::success ? b.put(next) : b.returned(next);
        };
        const auto takes = [](consumer& to, item_queue& from) -> task<> {
            const auto got = co_await from.get_for(weir::duration(2));
            if (got) to.got(*got);
        };
        weir::sync_wait(w, weir::when_all(gives(book, c), takes(one, c)));
        left = c.size();
        check_books(book, c);
    }
    book.settle(left);
}

actor waits(consumer& to, item_queue& c) {
    const auto got = co_await c.get_for(weir::duration(2));
    if (got) to.got(*got);
}

// A frame that is destroyed while it waits takes nothing, and nobody is kept waiting by it.
void destroyed_meanwhile(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        item_queue c(1);
        consumer one(book), two(book);
        actor a = waits(one, c);
        a.start(w);
        const auto destroys = [](actor& it) -> task<> {
            co_await weir::sleep_for(weir::duration(1));
            it.destroy();
        };
        weir::sync_wait(w, destroys(a));
        std::size_t open = 1;
        weir::sync_wait(w, weir::when_all(produce(w, book, c, 0, open), consume(w, two, c)));
        w.run();
        left = c.size();
        check_books(book, c);
    }
    book.settle(left);
}

// Each operation has a time and a token; both ends are told to stop at any step, each at its own. What is
// inside then is still there.
void stopped_meanwhile(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        item_queue c(1 + w.draw(2));
        consumer one(book), two(book);
        weir::stop_source no_more_puts, no_more_gets;
        const auto puts = [](world& here, ledger& k, item_queue& to, std::size_t producer,
                             weir::stop_token stop) -> task<> {
            channel_status how = channel_status::success;
            for (std::size_t i = 0; i < each && how == channel_status::success; ++i) {
                item next = k.make(producer);
                do {
                    k.check(next.whole(), "an item whose put was in vain is still the caller's");
                    how = co_await to.put_for(std::move(next), weir::duration(1) + some_time(here), stop);
                } while (how == channel_status::timed_out);
                how == channel_status::success ? k.put(next) : k.returned(next);
            }
            k.check(how == channel_status::success || stop.stop_requested(), "who is stopped was told so");
        };
        const auto gets = [](world& here, ledger& k, consumer& to, item_queue& from,
                             weir::stop_token stop) -> task<> {
            channel_status how = channel_status::success;
            while (how != channel_status::stopped) {
                const auto got = co_await from.get_for(weir::duration(1) + some_time(here), stop);
                how = got.status();
                if (got) to.got(*got);
            }
            k.check(stop.stop_requested(), "who is stopped was told so");
        };
        at_any_step(w, 50, [&] { no_more_puts.request_stop(); });
        at_any_step(w, 50, [&] { no_more_gets.request_stop(); });
        const auto ends = [](weir::stop_source& first, weir::stop_source& then) -> task<> {
            co_await weir::sleep_for(weir::duration(40));
            first.request_stop();
            then.request_stop();
        };
        weir::sync_wait(w, weir::when_all(puts(w, book, c, 0, no_more_puts.get_token()),
                                          puts(w, book, c, 1, no_more_puts.get_token()),
                                          gets(w, book, one, c, no_more_gets.get_token()),
                                          gets(w, book, two, c, no_more_gets.get_token()),
                                          ends(no_more_puts, no_more_gets)));
        left = c.size();
        check_books(book, c);
    }
    book.settle(left);
}

// In a stage's function: the run is stopped at any step, or its time is over.
void in_a_stage(world& w) {
    ledger book;
    {
        item_queue c(1);
        consumer to(book);
        const auto asks = [&](int n) -> task<int> {
            const auto got = co_await c.get_for(weir::duration(2));
            if (got) to.got(*got);
            co_return n;
        };
        const auto gives = [](ledger& b, item_queue& into) -> task<> {
            for (std::size_t i = 0; i < each; ++i) {
                item next = b.make();
                const channel_status how = co_await into.put_for(std::move(next), weir::duration(2));
                how == channel_status::success ? b.put(next) : b.returned(next);
                co_await weir::sleep_for(weir::duration(1));
            }
        };
        auto run =
            (weir::source({1, 2, 3, 4}) | weir::pipe(asks, {.concurrency = 2}) | weir::sink()).start(w);
        at_any_step(w, 40, [&] { run.request_stop(); });
        const auto takes = [&]() -> task<> {
            while (auto n = co_await run.next()) book.check(*n > 0, "what comes out is a number");
        };
        weir::sync_wait(w, weir::when_all(gives(book, c), takes()));
        book.discarded(c.size());
        check_books(book, c);
    }
    book.settle();
}

// Puts each item into the one of two that has room first; where one is closed, into the other.
task<> spread(world& w, ledger& book, item_queue& a, item_queue& b, std::size_t producer, std::size_t& open,
              bool in_time) {
    bool both = true;
    for (std::size_t i = 0; i < each && both; ++i) {
        item next = book.make(producer);
        bool over = false;
        while (!over) {
            const weir::duration limit = in_time ? some_time(w) + weir::duration(1) : weir::duration::max();
            auto done = co_await weir::select(weir::on_put(a, std::move(next)),
                                              weir::on_put(b, std::move(next)), weir::after(limit));
            over = done.status() != channel_status::timed_out;
            if (done.status() == channel_status::success) {
                book.put(next);
            } else if (over) {
                book.returned(next);
                both = false;
            } else {
                book.check(in_time && next.whole(), "an item whose put was in vain is still the caller's");
            }
        }
    }
    if (--open == 0) {
        a.close();
        b.close();
    }
}

// Takes from whichever has an item first, until both are closed.
task<> gather(world& w, consumer& to, item_queue& a, item_queue& b, bool in_time) {
    bool a_open = true, b_open = true;
    while (a_open && b_open) {
        const weir::duration limit = in_time ? some_time(w) + weir::duration(1) : weir::duration::max();
        auto done = co_await weir::select(weir::on_get(a), weir::after(limit), weir::on_get(b));
        if (done.index() == 0) {
            if (auto& got = done.get<0>()) to.got_in_any_order(*got);
            a_open = done.status() == channel_status::success;
        } else if (done.index() == 2) {
            if (auto& got = done.get<2>()) to.got_in_any_order(*got);
            b_open = done.status() == channel_status::success;
        }
    }
    item_queue& rest = a_open ? a : b;
    while (auto got = co_await rest.get()) to.got_in_any_order(*got);
}

template <class Disturb>
void selects(world& w, bool in_time, Disturb disturb) {
    ledger book;
    {
        item_queue a(1 + w.draw(2)), b(1);
        consumer one(book), two(book);
        std::size_t open = 2;
        std::size_t of_a = 0;
        disturb(a, b, book, of_a);
        weir::sync_wait(w, weir::when_all(spread(w, book, a, b, 0, open, in_time),
                                          spread(w, book, a, b, 1, open, false),
                                          gather(w, one, a, b, in_time), gather(w, two, b, a, false)));
        check_books(book, a, of_a);
        check_books(book, b);
    }
    book.settle();
}

void selected(world& w) {
    selects(w, false, [](item_queue&, item_queue&, ledger&, std::size_t&) {});
}
void selected_in_time(world& w) {
    selects(w, true, [](item_queue&, item_queue&, ledger&, std::size_t&) {});
}
void selected_and_closed(world& w) {
    const bool in_time = w.draw(2) != 0;
    selects(w, in_time, [&](item_queue& a, item_queue&, ledger&, std::size_t&) {
        at_any_step(w, 40, [&] { a.close(); });
    });
}
void selected_and_cancelled(world& w) {
    selects(w, true, [&](item_queue& a, item_queue&, ledger& book, std::size_t& discarded) {
        at_any_step(w, 40, [&] {
            discarded = a.size();
            book.discarded(discarded);
            a.cancel();
        });
    });
}
void selected_and_resized(world& w) {
    selects(w, false, [&](item_queue& a, item_queue& b, ledger&, std::size_t&) {
        at_any_step(w, 40, [&] { a.set_capacity(1 + w.draw(3)); });
        at_any_step(w, 40, [&] { b.set_max_bytes(w.draw(3)); });
    });
}

// From whichever of a range has an item first, until `stop` asks, or all are closed.
task<> gather_any(ledger& book, consumer& to, std::vector<item_queue*> from, weir::stop_token stop,
                  weir::duration limit) {
    std::size_t open = from.size();
    while (open != 0) {
        auto done = co_await weir::select(weir::on_get(from), stop, weir::after(limit));
        if (done.index() == 0) {
            auto& got = done.get<0>();
            if (got) {
                to.got_in_any_order(*got);
            } else {
                book.check(from.at(got.which()) != nullptr && from.at(got.which())->closed(),
                           "the one that is closed is named");
                from.at(got.which()) = nullptr;
                --open;
            }
        } else if (done.index() == 1) {
            book.check(stop.stop_requested() && done.status() == channel_status::stopped,
                       "who is stopped was told so");
            open = 0;
        } else {
            book.check(done.status() == channel_status::timed_out && limit != weir::duration::max(),
                       "only who has a limit reaches it");
        }
    }
}

// Puts its items one after the other, and closes.
task<> fill(world& w, ledger& book, item_queue& to, std::size_t producer) {
    bool in = true;
    for (std::size_t i = 0; i < each && in; ++i) {
        co_await weir::sleep_for(some_time(w));
        item next = book.make(producer);
        in = co_await to.put(std::move(next));
        in ? book.put(next) : book.returned(next);
    }
    to.close();
}

template <class Disturb>
void from_a_range(world& w, Disturb disturb) {
    ledger book;
    std::size_t left = 0;
    {
        item_queue a(1), b(2), c(1);
        consumer one(book), two(book);
        weir::stop_source stop;
        std::size_t discarded = 0;
        disturb(a, book, stop, discarded);
        const weir::duration limit = some_time(w) + weir::duration(1);
        weir::sync_wait(w, weir::when_all(fill(w, book, a, 0), fill(w, book, b, 1), fill(w, book, c, 2),
                                          gather_any(book, one, {&a, &b, &c}, stop.get_token(), limit),
                                          gather_any(book, two, {&c, &a, &b}, {}, weir::duration::max())));
        left = a.size() + b.size() + c.size();
        book.check(left == 0, "the one that isn't stopped takes what is left");
        check_books(book, a, discarded);
        check_books(book, b);
        check_books(book, c);
    }
    book.settle(left);
}

void selected_from_a_range(world& w) {
    from_a_range(w, [](item_queue&, ledger&, weir::stop_source&, std::size_t&) {});
}
void selected_from_a_range_and_stopped(world& w) {
    from_a_range(w, [&](item_queue&, ledger&, weir::stop_source& stop, std::size_t&) {
        at_any_step(w, 50, [&] { stop.request_stop(); });
    });
}
void selected_from_a_range_and_cancelled(world& w) {
    from_a_range(w, [&](item_queue& a, ledger& book, weir::stop_source& stop, std::size_t& discarded) {
        at_any_step(w, 50, [&] {
            discarded = a.size();
            book.discarded(discarded);
            a.cancel();
        });
        at_any_step(w, 50, [&] { stop.request_stop(); });
    });
}

actor waits_for_any(consumer& to, item_queue& x, item_queue& y, weir::stop_token stop) {
    std::vector<item_queue*> both{&x, &y};
    auto done = co_await weir::select(weir::on_get(both), weir::after(weir::duration(3)), stop);
    if (done.index() == 0 && done.get<0>()) to.got_in_any_order(*done.get<0>());
}

// As `destroyed_meanwhile`. Whom a stop has woken is destroyed when it has ended; else the stop comes after it.
void selected_from_a_range_and_destroyed(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        item_queue a(1), b(1);
        consumer one(book), two(book);
        weir::stop_source stop;
        actor waiting = waits_for_any(one, a, b, stop.get_token());
        waiting.start(w);
        at_any_step(w, 10, [&] { stop.request_stop(); });
        const auto destroys = [](actor& it, const weir::stop_source& asked) -> task<> {
            co_await weir::sleep_for(weir::duration(1));
            if (!asked.stop_requested()) it.destroy();
        };
        weir::sync_wait(w, destroys(waiting, stop));
        weir::sync_wait(w, weir::when_all(fill(w, book, a, 0), fill(w, book, b, 1),
                                          gather_any(book, two, {&a, &b}, {}, weir::duration::max())));
        w.run();
        left = a.size() + b.size();
        check_books(book, a);
        check_books(book, b);
    }
    book.settle(left);
}

// Items of several sizes: one that doesn't fit, and was put elsewhere, doesn't keep those behind it.
void selected_by_size(world& w) {
    ledger book;
    {
        item_queue a(4), b(1);
        a.set_max_bytes(3);
        consumer one(book);
        std::size_t open = 3;
        const auto puts = [](ledger& k, item_queue& x, item_queue& y, std::size_t who,
                             std::size_t& left) -> task<> {
            for (std::size_t i = 0; i < each; ++i) {
                item next = k.make(who).sized(1 + (who + i) % 3);
                auto done =
                    co_await weir::select(weir::on_put(x, std::move(next)), weir::on_put(y, std::move(next)));
                k.check(done.status() == channel_status::success, "nobody closes before all are in");
                k.put(next);
            }
            if (--left != 0) co_return;
            x.close();
            y.close();
        };
        weir::sync_wait(w, weir::when_all(puts(book, a, b, 0, open), puts(book, a, b, 1, open),
                                          puts(book, b, a, 2, open), gather(w, one, a, b, false)));
        check_books(book, a);
        check_books(book, b);
    }
    book.settle();
}

// One item on its way to each: two that want one of both get one each.
void one_each(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        item_queue a(1), b(1);
        consumer one(book), two(book);
        const auto gives = [](ledger& k, item_queue& to) -> task<> {
            item next = k.make();
            const bool in = co_await to.put(std::move(next));
            in ? k.put(next) : k.returned(next);
        };
        const auto takes = [](consumer& to, item_queue& x, item_queue& y) -> task<> {
            auto done = co_await weir::select(weir::on_get(x), weir::on_get(y));
            auto& got = done.index() == 0 ? done.get<0>() : done.get<1>();
            to.got_in_any_order(*got);
        };
        weir::sync_wait(w,
                        weir::when_all(takes(one, a, b), takes(two, b, a), gives(book, a), gives(book, b)));
        left = a.size() + b.size();
        book.check(left == 0 && one.count() == 1 && two.count() == 1, "each has one");
    }
    book.settle(left);
}

// In a stage's function, whose run is stopped at any step.
void selected_in_a_stage(world& w) {
    ledger book;
    {
        item_queue a(1), b(1);
        consumer to(book);
        const auto asks = [&](int n) -> task<int> {
            auto done = co_await weir::select(weir::on_get(a), weir::on_get(b));
            auto& got = done.index() == 0 ? done.get<0>() : done.get<1>();
            if (got) to.got_in_any_order(*got);
            co_return n;
        };
        const auto gives = [](ledger& k, item_queue& into) -> task<> {
            for (std::size_t i = 0; i < 2; ++i) {
                item next = k.make();
                const channel_status how = co_await into.put_for(std::move(next), weir::duration(2));
                how == channel_status::success ? k.put(next) : k.returned(next);
                co_await weir::sleep_for(weir::duration(1));
            }
        };
        auto run =
            (weir::source({1, 2, 3, 4}) | weir::pipe(asks, {.concurrency = 2}) | weir::sink()).start(w);
        at_any_step(w, 40, [&] { run.request_stop(); });
        const auto takes = [&]() -> task<> {
            while (auto n = co_await run.next()) book.check(*n > 0, "what comes out is a number");
        };
        const auto ends = [](item_queue& x, item_queue& y) -> task<> {
            co_await weir::sleep_for(weir::duration(20));
            x.close();
            y.close();
        };
        weir::sync_wait(w, weir::when_all(gives(book, a), gives(book, b), takes(), ends(a, b)));
        book.discarded(a.size() + b.size());
        check_books(book, a);
        check_books(book, b);
    }
    book.settle();
}

// Of those that put, get and sleep the first ends all; each item is somewhere.
task<int> puts_one(ledger& book, item_queue& c, std::size_t producer) {
    item next = book.make(producer);
    bool ended = false, in = false;
    try {
        in = co_await c.put(std::move(next));
        ended = true;
    } catch (const weir::stopped&) {  // the item is still here
    }
    in ? book.put(next) : book.returned(next);
    if (!ended) throw weir::stopped();
    co_return 1;
}
task<int> gets_one(consumer& to, item_queue& c) {
    if (auto got = co_await c.get()) to.got_in_any_order(*got);
    co_return 2;
}
task<int> passes(weir::duration d) {
    co_await weir::sleep_for(d);
    co_return 3;
}

void first_of_four(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        item_queue a(1), b(1), quiet(1);
        consumer one(book), two(book);
        const auto takes = [](world& here, ledger& k, consumer& to, item_queue& x, item_queue& y,
                              item_queue& none) -> task<> {
            for (std::size_t i = 0; i < 3; ++i) {
                const weir::duration d = some_time(here);
                const auto first = co_await weir::when_any(puts_one(k, x, i), gets_one(to, y), passes(d),
                                                           gets_one(to, none));
                const int value = std::visit([](int n) { return n; }, first);
                k.check(value == static_cast<int>(first.index()) + 1, "the result is that of the first");
            }
        };
        weir::sync_wait(w,
                        weir::when_all(takes(w, book, one, a, b, quiet), takes(w, book, two, b, a, quiet)));
        left = a.size() + b.size();
        check_books(book, a);
        check_books(book, b);
    }
    book.settle(left);
}

void first_in_a_stage(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        item_queue a(1), b(1);
        consumer to(book);
        const auto function = [&](int n) -> task<int> {
            const auto first =
                co_await weir::when_any(puts_one(book, a, 0), gets_one(to, b), puts_one(book, b, 1));
            book.check(first.index() < 3, "one of them is the first");
            co_return n;
        };
        auto run =
            (weir::source({1, 2, 3}) | weir::pipe(function, {.concurrency = 2}) | weir::sink()).start(w);
        at_any_step(w, 40, [&] { run.request_stop(); });
        const auto takes = [&]() -> task<> {
            while (auto n = co_await run.next()) book.check(*n > 0, "what comes out is a number");
        };
        const auto ends = [](item_queue& x, item_queue& y) -> task<> {
            co_await weir::sleep_for(weir::duration(20));
            x.close();
            y.close();
        };
        weir::sync_wait(w, weir::when_all(takes(), ends(a, b)));
        left = a.size() + b.size();
        check_books(book, a);
        check_books(book, b);
    }
    book.settle(left);
}

const schedules::registered all("choices",
                                {{"in_time_or_not", in_time_or_not},
                                 {"closed_meanwhile", closed_meanwhile},
                                 {"cancelled_meanwhile", cancelled_meanwhile},
                                 {"resized_meanwhile", resized_meanwhile},
                                 {"at_the_last_moment", at_the_last_moment, true},
                                 {"destroyed_meanwhile", destroyed_meanwhile},
                                 {"stopped_meanwhile", stopped_meanwhile},
                                 {"timed_in_a_stage", in_a_stage},
                                 {"selected", selected},
                                 {"selected_in_time", selected_in_time},
                                 {"selected_and_closed", selected_and_closed},
                                 {"selected_and_cancelled", selected_and_cancelled},
                                 {"selected_and_resized", selected_and_resized},
                                 {"selected_by_size", selected_by_size},
                                 {"selected_from_a_range", selected_from_a_range},
                                 {"selected_from_a_range_and_stopped", selected_from_a_range_and_stopped},
                                 {"selected_from_a_range_and_cancelled", selected_from_a_range_and_cancelled},
                                 {"selected_from_a_range_and_destroyed", selected_from_a_range_and_destroyed},
                                 {"one_each", one_each, true},
                                 {"selected_in_a_stage", selected_in_a_stage},
                                 {"first_of_four", first_of_four},
                                 {"first_in_a_stage", first_in_a_stage}});

}  // namespace
