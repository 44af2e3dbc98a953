// Coroutines over channels: closed, cancelled, resized and limited at every step.
// SPDX-License-Identifier: BSL-1.0
#include "support.hpp"

#include <weir/executor/schedule.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <cstddef>
#include <utility>

using schedules::at_any_step;
using schedules::consumer;
using schedules::item;
using schedules::ledger;
using schedules::world;
using weir::channel_status;
using weir::task;
using queue = weir::channel<item, schedules::stepwise>;

namespace {

constexpr std::size_t each = 3;  // items of a producer

// Puts until it is refused. The last producer to end closes; nobody does if `open` begins at 0.
task<> produce(ledger& book, queue& c, std::size_t producer, std::size_t& open) {
    for (std::size_t i = 0; i < each; ++i) {
        item next = book.make(producer);
        const bool taken = co_await c.put(std::move(next));
        if (!taken) {
            book.returned(next);
            break;
        }
        book.put(next);
    }
    if (open != 0 && --open == 0) c.close();
}

task<> consume(consumer& to, queue& c) {
    while (auto next = co_await c.get()) to.got(*next);
}

// One of each, and what comes out of one channel is all of it.
void one_to_one(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(2));
        consumer to(book);
        std::size_t open = 1;
        weir::sync_wait(w, weir::when_all(produce(book, c, 0, open), consume(to, c)));
    }
    book.settle();
}

void two_to_one(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(2));
        consumer to(book);
        std::size_t open = 2;
        weir::sync_wait(w,
                        weir::when_all(produce(book, c, 0, open), produce(book, c, 1, open), consume(to, c)));
    }
    book.settle();
}

void one_to_two(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(2));
        consumer one(book), two(book);
        std::size_t open = 1;
        weir::sync_wait(w, weir::when_all(produce(book, c, 0, open), consume(one, c), consume(two, c)));
    }
    book.settle();
}

void two_to_two(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(2));
        consumer one(book), two(book);
        std::size_t open = 2;
        weir::sync_wait(w, weir::when_all(produce(book, c, 0, open), produce(book, c, 1, open),
                                          consume(one, c), consume(two, c)));
    }
    book.settle();
}

// What is inside still comes out, and who waits to put has his item back.
void closed_by_a_third(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(2));
        consumer one(book), two(book);
        std::size_t open = 2;
        at_any_step(w, 40, [&] { c.close(); });
        weir::sync_wait(w, weir::when_all(produce(book, c, 0, open), produce(book, c, 1, open),
                                          consume(one, c), consume(two, c)));
    }
    book.settle();
}

// Nobody takes: all that wait to put are let go by it.
void closed_on_putters(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        queue c(1 + w.draw(2));
        std::size_t nobody = 0;
        at_any_step(w, 12, [&] { c.close(); });
        const auto later = [](world& here, queue& to) -> task<> {
            co_await schedules::idle(here, 12);
            to.close();
        };
        weir::sync_wait(w, weir::when_all(produce(book, c, 0, nobody), produce(book, c, 1, nobody),
                                          produce(book, c, 2, nobody), later(w, c)));
        left = c.size();
        book.check(left <= c.capacity(), "no more are inside than there are places");
    }
    book.settle(left);
}

// What is inside is destroyed, and nothing else.
void cancelled_by_a_third(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(2));
        consumer one(book), two(book);
        std::size_t open = 2;
        at_any_step(w, 40, [&] {
            book.discarded(c.size());
            const std::size_t before = book.alive();
            const std::size_t inside = c.size();
            c.cancel();
            book.check(c.stats().num_discarded == inside, "a cancel counts what it destroys");
            book.check(book.alive() + inside == before, "a cancel destroys what is inside");
        });
        weir::sync_wait(w, weir::when_all(produce(book, c, 0, open), produce(book, c, 1, open),
                                          consume(one, c), consume(two, c)));
    }
    book.settle();
}

// The consumer has enough, and closes; what is inside goes with the channel.
void closed_by_the_consumer(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        queue c(1 + w.draw(2));
        consumer to(book);
        std::size_t open = 2;
        const std::size_t enough = w.draw(2 * each + 1);
        const auto take = [](consumer& by, queue& from, std::size_t n) -> task<> {
            while (by.count() < n) {
                auto next = co_await from.get();
                if (!next) break;
                by.got(*next);
            }
            from.close();
        };
        weir::sync_wait(w, weir::when_all(produce(book, c, 0, open), produce(book, c, 1, open),
                                          take(to, c, enough)));
        book.check(to.count() == enough, "it got what it wanted");
        left = c.size();
    }
    book.settle(left);
}

// Each item goes there and back; one side of them may close at any time.
void ping_pong(world& w) {
    ledger book;
    std::size_t left = 0;
    {
        queue there(1), back(1);
        consumer home(book);
        const auto serve = [](ledger& b, queue& to, queue& from, consumer& at) -> task<> {
            for (std::size_t i = 0; i < each; ++i) {
                item ball = b.make();
                const bool taken = co_await to.put(std::move(ball));
                if (!taken) {
                    b.returned(ball);
                    break;
                }
                b.put(ball);
                auto again = co_await from.get();
                if (!again) break;
                at.got_next(*again);
            }
            to.close();
        };
        const auto answer = [](ledger& b, queue& from, queue& to) -> task<> {
            while (auto ball = co_await from.get()) {
                const bool taken = co_await to.put(std::move(*ball));
                if (taken) continue;
                b.dropped(*ball);
                break;
            }
            to.close();
        };
        at_any_step(w, 20, [&] { back.close(); });
        weir::sync_wait(w, weir::when_all(serve(book, there, back, home), answer(book, there, back)));
        left = there.size() + back.size();
        book.check(left <= 1, "there is one ball");
    }
    book.settle(left);
}

// Coroutines that never wait among some that do.
void tries(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(2));
        consumer one(book), two(book);
        std::size_t open = 2;
        const auto try_put = [](world& here, ledger& b, queue& to, std::size_t& all) -> task<> {
            for (std::size_t i = 0; i < each; ++i) {
                item next = b.make(1);
                channel_status how = to.try_put(std::move(next));
                for (int k = 0; k < 3 && how == channel_status::full; ++k) {
                    co_await weir::schedule(here);
                    how = to.try_put(std::move(next));
                }
                b.check(how != channel_status::closed, "it is open as long as somebody puts");
                if (how == channel_status::success) {
                    b.put(next);
                } else {
                    b.returned(next);
                }
            }
            if (--all == 0) to.close();
        };
        const auto try_get = [](world& here, consumer& by, queue& from) -> task<> {
            for (std::size_t i = 0; i < 3 * each; ++i) {
                auto next = from.try_get();
                if (next) by.got(*next);
                co_await weir::schedule(here);
            }
            co_await consume(by, from);
        };
        weir::sync_wait(w, weir::when_all(produce(book, c, 0, open), try_put(w, book, c, open),
                                          consume(one, c), try_get(w, two, c)));
    }
    book.settle();
}

// More room lets in who waits; less loses nothing.
void resized(world& w) {
    ledger book;
    {
        queue c(1 + w.draw(3));
        consumer to(book);
        std::size_t open = 2;
        const std::size_t first = 1 + w.draw(4);
        const std::size_t second = 1 + w.draw(4);
        at_any_step(w, 25, [&] { c.set_capacity(first); });
        at_any_step(w, 25, [&] { c.set_capacity(second); });
        weir::sync_wait(w,
                        weir::when_all(produce(book, c, 0, open), produce(book, c, 1, open), consume(to, c)));
    }
    book.settle();
}

// A limit in bytes beside the one in items: what is too large waits, and so do those behind it.
void limited_in_bytes(world& w) {
    ledger book;
    {
        queue c(3);
        c.set_max_bytes(4);
        consumer to(book);
        std::size_t open = 2;
        const auto heavy = [](ledger& b, queue& into, std::size_t producer, std::size_t& all) -> task<> {
            for (std::size_t i = 0; i < each; ++i) {
                item next = b.make(producer).sized(1 + (i + 2 * producer) % 3);
                const bool taken = co_await into.put(std::move(next));
                if (!taken) {
                    b.returned(next);
                    break;
                }
                b.put(next);
            }
            if (--all == 0) into.close();
        };
        at_any_step(w, 25, [&] {
            const weir::channel_stats s = c.stats();
            book.check(s.bytes <= 4 || s.max_bytes != 4, "no more bytes are inside than may be");
            book.check(s.bytes >= s.size || s.max_bytes == 0, "each item that is inside is counted");
        });
        const std::size_t limit = w.draw(7);
        at_any_step(w, 25, [&] { c.set_max_bytes(limit); });
        weir::sync_wait(w, weir::when_all(heavy(book, c, 0, open), heavy(book, c, 1, open), consume(to, c)));
        book.check(c.stats().bytes == 0, "nothing that is gone is counted");
    }
    book.settle();
}

// Through three channels, of which any may be closed: what went in comes out as far as it got.
void chain(world& w) {
    ledger book;
    {
        queue a(1), b(1), c(1);
        consumer to(book);
        std::size_t open = 1;
        const auto pass = [](ledger& books, queue& from, queue& into) -> task<> {
            while (auto next = co_await from.get()) {
                const bool taken = co_await into.put(std::move(*next));
                if (taken) continue;
                books.dropped(*next);
                while (auto rest = co_await from.get()) books.dropped(*rest);
                break;
            }
            into.close();
        };
        queue* const which[] = {&a, &b, &c};
        queue* const closed = which[w.draw(3)];
        at_any_step(w, 30, [closed] { closed->close(); });
        weir::sync_wait(w, weir::when_all(produce(book, a, 0, open), pass(book, a, b), pass(book, b, c),
                                          consume(to, c)));
    }
    book.settle();
}

const schedules::registered all("channels", {{"one_to_one", one_to_one, true},
                                             {"two_to_one", two_to_one},
                                             {"one_to_two", one_to_two},
                                             {"two_to_two", two_to_two},
                                             {"closed_by_a_third", closed_by_a_third},
                                             {"closed_on_putters", closed_on_putters, true},
                                             {"cancelled_by_a_third", cancelled_by_a_third},
                                             {"closed_by_the_consumer", closed_by_the_consumer},
                                             {"ping_pong", ping_pong, true},
                                             {"tries", tries},
                                             {"resized", resized},
                                             {"limited_in_bytes", limited_in_bytes},
                                             {"chain", chain}});

}  // namespace
