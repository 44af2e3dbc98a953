// Exceptions: what was finished before is delivered, the first is the one that is told, all else ends.
// SPDX-License-Identifier: BSL-1.0
#include "pipelines.hpp"

#include <weir/run/invocation.hpp>
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/block_pool.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/retry.hpp>
#include <weir/task/sleep.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using schedules::at_any_step;
using schedules::consumer;
using schedules::end_of;
using schedules::ending;
using schedules::item;
using schedules::ledger;
using schedules::line;
using schedules::maker;
using schedules::manner;
using schedules::passes;
using schedules::stepwise;
using schedules::take_all;
using schedules::world;
using weir::duration;
using weir::task;

namespace {

constexpr std::size_t items = 5;

// What has happened in the stages, in the order in which it did.
struct diary {
    std::vector<std::size_t>
        finished;       // items of which a function gave something, before anything was thrown
    std::string first;  // that was thrown
    std::size_t thrown = 0;
};

// Throws at one item, or at two; the others pass.
struct throws {
    ledger* book;
    diary* days;
    std::string what;
    std::size_t at;
    std::size_t also_at;

    throws(ledger& b, diary& d, std::string text, std::size_t one, std::size_t other = SIZE_MAX)
        : book(&b), days(&d), what(std::move(text)), at(one), also_at(other) {}
    item operator()(item i) const {
        if (i.nth() == at || i.nth() == also_at) {
            book->dropped(i);
            if (days->thrown++ == 0) days->first = what + std::to_string(i.nth());
            throw std::runtime_error(what + std::to_string(i.nth()));
        }
        if (days->thrown == 0) days->finished.push_back(i.nth());
        return i;
    }
};

// With the order of the input exactly the items before the bad one come out; without, at least those that
// were finished when it was thrown.
void a_stage_throws(world& w) {
    ledger book;
    const manner how(w);
    const std::size_t bad = w.draw(items);
    consumer to(book);
    diary days;
    {
        auto run = line(maker(book, items), throws(book, days, "bad", bad), how).start<stepwise>(w);
        std::vector<bool> here(items);
        const ending end = end_of([&] {
            while (auto next = run.get()) {
                here[next->nth()] = true;
                take(to, *next, how);
            }
        });
        book.check(end.failed && end.stage == "work", "the failure names the stage");
        book.check(end.item == bad, "the failure names the item");
        book.check(end.inside == days.first, "the failure carries the exception");
        if (how.keeps_order())
            book.check(to.count() == bad, "all before the bad one come out, and nothing after");
        for (const std::size_t nth : days.finished) {
            if (!how.keeps_order() || nth < bad) book.check(here[nth], "what was finished before comes out");
        }
        book.check(!run.get(), "a failure is told once");
    }
    book.settle_stopped(how.most_under_way());
}

// Up to as many as are tolerated: nothing else is lost.
void tolerated(world& w) {
    ledger book;
    const manner how(w);
    const std::size_t bad = w.draw(items);
    const std::size_t worse = w.draw(items);
    consumer to(book);
    diary days;
    std::size_t told = 0;
    {
        weir::run_options options;
        options.max_failures = 2;
        options.on_failure = [&](const weir::failure& f) { told += f.stage == "work" ? 1 : 0; };
        auto run =
            line(maker(book, items), throws(book, days, "bad", bad, worse), how).start<stepwise>(w, options);
        std::size_t next_one = 0;
        while (auto next = run.get()) {
            if (how.keeps_order()) {
                book.check(next->nth() >= next_one, "the order is kept over a failure");
                next_one = next->nth() + 1;
            }
            to.got_in_any_order(*next);
        }
        book.check(told == days.thrown, "each failure is told");
        if (w.draw(16) == 0)
            book.check(run.stats().stages.at(1).num_failures == told, "each failure is counted");
    }
    book.settle_run();
}

// One more than is tolerated stops the run.
void one_too_many(world& w) {
    ledger book;
    const manner how(w);
    const std::size_t bad = w.draw(items - 1);
    const std::size_t worse = bad + 1 + w.draw(items - bad - 1);
    consumer to(book);
    diary days;
    {
        weir::run_options options;
        options.max_failures = 1;
        auto run =
            line(maker(book, items), throws(book, days, "bad", bad, worse), how).start<stepwise>(w, options);
        const ending end = end_of([&] {
            while (auto next = run.get()) to.got_in_any_order(*next);
        });
        book.check(end.failed && days.thrown == 2, "the second one stops the run");
        book.check(how.slots != 1 || to.count() == worse - 1, "what was finished before comes out");
    }
    book.settle_stopped(how.most_under_way());
}

// Of two stages that throw, the first that did is the one that is reported.
void two_stages_throw(world& w) {
    ledger book;
    const manner how(w);
    const std::size_t one = w.draw(items);
    const std::size_t other = w.draw(items);
    consumer to(book);
    diary days;
    {
        auto run = (weir::source(maker(book, items), {.capacity = 1}) |
                    weir::pipe(throws(book, days, "a", one),
                               {.name = "a", .concurrency = how.slots, .capacity = 1}) |
                    weir::pipe(throws(book, days, "b", other), {.name = "b", .capacity = 1}) | weir::sink(1))
                       .start<stepwise>(w);
        const ending end = end_of([&] {
            while (auto next = run.get()) to.got_in_any_order(*next);
        });
        book.check(end.failed && end.inside == days.first,
                   "the first that was thrown is the one that is told");
    }
    book.settle_stopped(how.most_under_way() + 2);
}

// What was given before is delivered.
void the_source_throws(world& w) {
    ledger book;
    const manner how(w);
    const std::size_t bad = w.draw(items);
    consumer to(book);
    {
        const auto from = [make = maker(book, items), left = bad]() mutable -> std::optional<item> {
            if (left == 0) throw std::runtime_error("dry");
            --left;
            return make();
        };
        auto run = line(from, passes(), how).start<stepwise>(w);
        const ending end = end_of([&] { take_all(run, to, how); });
        book.check(end.failed && end.stage == "src" && end.inside == "dry", "the source's failure is told");
        book.check(to.count() == bad, "all that it gave comes out");
    }
    book.settle_run();
}

// A failure and a stop at any step, in any order.
void stopped_and_failed(world& w) {
    ledger book;
    const manner how(w);
    const std::size_t bad = w.draw(items);
    consumer to(book);
    diary days;
    bool stopped = false;  // perhaps in the run's destructor
    {
        auto run = line(maker(book, items), throws(book, days, "bad", bad), how).start<stepwise>(w);
        at_any_step(w, 35, [&] {
            stopped = true;
            run.stop();
        });
        const ending end = end_of([&] { take_all(run, to, how); });
        book.check(!end.failed || end.inside == days.first, "the failure carries the exception");
        book.check(end.failed == (days.thrown != 0), "what was thrown is told");
        book.check(end.failed || stopped, "a run ends by one of the two");
    }
    book.settle_stopped(how.most_under_way());
}

// Calls again what threw; a stop ends the wait.
void retried(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    using shared = std::shared_ptr<item>;
    const bool stops = w.draw(2) == 1;
    std::size_t calls = 0;
    {
        const auto tries = [&calls, &w](const shared& i) -> shared {
            ++calls;
            if (w.draw(2) == 0 && calls < 2 * items) throw std::runtime_error("again");
            return i;
        };
        const auto share = [make = maker(book, items)]() mutable -> std::optional<shared> {
            auto next = make();
            if (!next) return std::nullopt;
            return std::make_shared<item>(*std::move(next));
        };
        auto run = line(share, weir::retry(tries, {.attempts = 2 * items + 2, .delay = duration(1)}), how)
                       .start<stepwise>(w);
        if (stops) at_any_step(w, 45, [&] { run.stop(); });
        // A stop ends the waits for further calls, which is no failure.
        const ending end = end_of([&] {
            while (auto next = run.get()) take(to, **next, how);
        });
        book.check(!end.failed, "enough calls are made");
    }
    if (stops) {
        book.settle_stopped(how.most_under_way());
    } else {
        book.settle_run();
    }
}

// What takes too long has failed, and is asked to give up; the rest comes out.
struct takes_long {
    ledger* book;
    explicit takes_long(ledger& b) : book(&b) {}
    task<item> operator()(item i, const weir::invocation& call) const {
        const std::size_t long_one = i.nth() % 2;
        auto rest = weir::sleep_for(duration(long_one != 0 ? 9 : 2), call.stop());
        const bool whole = co_await rest;
        if (long_one != 0) book->check(!whole, "who takes too long is asked to give up");
        if (!whole) {
            book->dropped(i);
            throw std::runtime_error("gave up");
        }
        co_return std::move(i);
    }
};
void out_of_time(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const bool stops = w.draw(2) == 1;
    {
        weir::run_options options;
        options.max_failures = weir::unlimited;
        auto pipeline = line(maker(book, items), takes_long(book), how);
        pipeline.options("work").time_limit = duration(4);
        auto run = pipeline.start<stepwise>(w, options);
        if (stops) at_any_step(w, 60, [&] { run.stop(); });
        while (auto next = run.get()) {
            book.check(next->nth() % 2 == 0, "what was late is nothing");
            to.got_in_any_order(*next);
        }
        book.check(stops || to.count() == 3, "what was in time comes out");
        book.check(w.now().time_since_epoch() <= duration(25), "nobody is waited for longer than his limit");
    }
    if (stops) {
        book.settle_stopped(how.most_under_way());
    } else {
        book.settle_run();
    }
}

// Hooks that throw fail the item; each that has begun ends.
class counting : public weir::hook {
  public:
    counting(ledger& book, std::uint64_t bad) : book_(&book), bad_(bad) {}
    void stage_begins(const std::string&) override { ++stages_; }
    void stage_ends(const std::string&) override { --stages_; }
    void before(const weir::invocation& call) override {
        if (call.stage() == "work" && call.item() == bad_) {
            book_->discarded(1);
            throw std::runtime_error("hooked");
        }
        ++open_;
    }
    void after(const weir::invocation&, const std::exception_ptr&) override { --open_; }
    bool balanced() const { return stages_ == 0 && open_ == 0; }

  private:
    ledger* book_;
    std::uint64_t bad_;
    int stages_ = 0;
    int open_ = 0;
};
void a_hook_throws(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const std::size_t bad = w.draw(items + 1);
    const auto hook = std::make_shared<counting>(book, bad);
    {
        weir::run_options options;
        options.max_failures = 1;
        options.hooks = {hook};
        auto run = line(maker(book, items), passes(), how).start<stepwise>(w, options);
        while (auto next = run.get()) to.got_in_any_order(*next);
        book.check(to.count() == (bad == items ? items : items - 1), "all but the one come out");
    }
    book.check(hook->balanced(), "each hook that heard of a beginning hears of the end");
    book.settle_run();
}

// A slot whose function can't be made stops the run; what the others have in hand is finished.
void a_slot_without_a_function(world& w) {
    ledger book;
    manner how(w);
    consumer to(book);
    {
        std::size_t made = 0;
        const std::size_t bad = w.draw(how.slots);
        auto run = line(maker(book, items), weir::per_slot([&made, bad] {
                            if (made++ == bad) throw std::runtime_error("no function");
                            return passes();
                        }),
                        how)
                       .start<stepwise>(w);
        const ending end = end_of([&] { take_all(run, to, how); });
        book.check(end.failed && end.inside == "no function", "the failure is told");
    }
    book.settle_stopped(how.most_under_way());
}

// A call fails while other slots wait for the end of an epoch: at a stage that gives results on, or at one that
// writes into batches. Those that are to leave after the failed item are refused, and nobody else waits.
void failed_in_turn(world& w) {
    ledger book;
    const manner how(w);
    weir::block_pool blocks(sizeof(std::size_t), 2);
    const auto make = [&book](std::uint64_t number) {
        std::vector<item> some;
        for (int i = 0; i < 2; ++i) some.push_back(book.make(static_cast<std::size_t>(number)));
        return some;
    };
    const std::size_t bad = w.draw(6);
    const bool fails_early = w.draw(2) == 1;
    const auto fails = [&](const item& i, bool early) {
        return fails_early == early && 2 * i.producer() + i.nth() == bad;
    };
    const auto work = [&](item i) -> task<item> {
        co_await weir::sleep_for(duration(static_cast<duration::rep>((i.nth() + i.producer()) * 2 % 3)));
        if (!fails(i, true)) co_return std::move(i);
        book.dropped(i);
        throw std::runtime_error("bad");
    };
    const auto write = [&](item i, std::span<std::size_t> place) -> task<void> {
        book.dropped(i);
        place[0] = i.producer();
        co_await weir::sleep_for(duration(static_cast<duration::rep>((i.nth() + i.producer()) * 2 % 5)));
        if (fails(i, false)) throw std::runtime_error("bad");
    };
    {
        auto run = (weir::source(weir::epochs(make, 3), {.capacity = 1}) |
                    weir::pipe(work, {.concurrency = how.slots + 2, .capacity = 1}) |
                    weir::batch_slots<std::size_t>(
                        blocks, {.places = 1}, write,
                        {.concurrency = how.slots + 2, .output_order = how.order(), .capacity = 1}) |
                    weir::sink(1))
                       .start<stepwise>(w);
        std::size_t epoch = 0;
        const ending end = end_of([&] {
            while (auto batch = run.get()) {
                for (const std::size_t of : *batch) {
                    book.check(of >= epoch, "epochs come one after the other");
                    epoch = of;
                }
            }
        });
        book.check(end.failed, "the failure is told");
        book.check(2 * epoch <= bad + 1, "no item of an epoch behind the failed one comes out");
    }
    book.check(blocks.stats().size == blocks.blocks(), "all blocks are free again");
    book.settle_stopped(6);
}

// An item ends the stage while items of its epoch wait for places. The mark waits behind them, and is refused at
// once: its slot ends, and destroys its function.
void refused_behind_others(world& w) {
    ledger book;
    weir::block_pool blocks(2 * sizeof(std::size_t), 1);
    const auto make = [&book](std::uint64_t) {
        std::vector<item> some;
        for (int i = 0; i < 6; ++i) some.push_back(book.make());
        return some;
    };
    const auto function = std::make_shared<int>();
    int calls = 0;
    long slots = 0;
    const auto write = [&, function](item i, std::span<std::size_t> place) -> task<void> {
        book.dropped(i);
        place[0] = 0;
        const int call = calls++;
        co_await weir::sleep_for(duration(call == 1 ? 10 : 100));
        if (call == 0) book.check(function.use_count() < slots, "the mark waits for nothing");
        if (call != 1) co_return;
        slots = function.use_count();
        throw std::runtime_error("bad");
    };
    {
        auto run = (weir::source(weir::epochs(make, 1), {.capacity = 1}) |
                    weir::batch_slots<std::size_t>(
                        blocks, {.places = 2}, weir::per_slot([&write] { return write; }),
                        {.concurrency = 7, .output_order = weir::output_order::completion, .capacity = 1}) |
                    weir::sink(1))
                       .start<stepwise>(w);
        const ending end = end_of([&] {
            while (run.get()) {
            }
        });
        book.check(end.failed && end.inside == "bad", "the failure is told");
    }
    book.settle_stopped(6);
}

const schedules::registered all("failures", {{"a_stage_throws", a_stage_throws},
                                             {"tolerated", tolerated},
                                             {"one_too_many", one_too_many},
                                             {"two_stages_throw", two_stages_throw},
                                             {"the_source_throws", the_source_throws},
                                             {"stopped_and_failed", stopped_and_failed},
                                             {"retried", retried},
                                             {"out_of_time", out_of_time},
                                             {"a_hook_throws", a_hook_throws},
                                             {"a_slot_without_a_function", a_slot_without_a_function},
                                             {"failed_in_turn", failed_in_turn},
                                             {"refused_behind_others", refused_behind_others}});

}  // namespace
