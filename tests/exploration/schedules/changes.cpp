// A run that is changed while it works: slots, queues, pauses, limits, priorities; at every step.
// SPDX-License-Identifier: BSL-1.0
#include "pipelines.hpp"

#include <weir/insight/predict.hpp>
#include <weir/insight/recording.hpp>
#include <weir/insight/tuning_plan.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/invocation.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

using schedules::at_any_step;
using schedules::consumer;
using schedules::item;
using schedules::ledger;
using schedules::line;
using schedules::maker;
using schedules::manner;
using schedules::naps;
using schedules::passes;
using schedules::stepwise;
using schedules::take_all;
using schedules::world;
using weir::channel_status;
using weir::duration;

namespace {

constexpr std::size_t items = 6;

void settle(ledger& book, bool stopped, std::size_t most) {
    if (stopped) {
        book.settle_stopped(most);
    } else {
        book.settle_run();
    }
}

// More slots, and fewer, while they work and wait. `F`: what they do.
template <class F>
void slots(world& w, F work) {
    ledger book;
    manner how(w);
    consumer to(book);
    const bool stops = w.draw(3) == 0;
    {
        auto run = line(maker(book, items), work, how).template start<stepwise>(w);
        for (int i = 0; i < 2; ++i) {
            const std::size_t n = 1 + w.draw(4);
            at_any_step(w, 40, [&run, n] { run.set_concurrency("work", n); });
            how.slots = std::max<std::size_t>(how.slots, n);
        }
        if (stops) at_any_step(w, 45, [&] { run.stop(); });
        take_all(run, to, how);
    }
    settle(book, stops, how.most_under_way() + 4);
}
void other_slots(world& w) { slots(w, passes()); }
void other_slots_that_sleep(world& w) { slots(w, naps()); }

// Slots move from a stage to the next one: at no step are there more than the budget.
struct counted {
    ledger* book;
    std::size_t* at_work;
    weir::task<item> operator()(item i) const {
        book->check(++*at_work <= 4, "no more slots work than the budget has, which is 5 with the source's");
        co_await weir::sleep_for(duration(static_cast<weir::duration::rep>(i.nth() * 2 % 5)));
        --*at_work;
        co_return std::move(i);
    }
};
void moved_slots(world& w) {
    ledger book;
    std::size_t at_work = 0;
    consumer to(book);
    weir::detail::plan_limits limits;
    limits.num_slots = 5;
    limits.fixed_slots = {true, false, false, true};
    limits.fixed_room.assign(4, true);
    weir::pipeline_settings now;
    now.stages = {{.name = "src", .role = weir::stage_role::source},
                  {.name = "first", .concurrency = 3},
                  {.name = "second"},
                  {.name = "sink", .role = weir::stage_role::sink}};
    weir::pipeline_settings target = now;
    target.stage("first").concurrency = 1;
    target.stage("second").concurrency = 3;
    {
        const counted work{&book, &at_work};
        auto run = (weir::source(maker(book, 2 * items), {.capacity = 1}) |
                    weir::pipe(work, {.name = "first", .concurrency = 3, .capacity = 2}) |
                    weir::pipe(work, {.name = "second", .capacity = 1}) | weir::sink(1))
                       .start<stepwise>(w);
        weir::pipeline_stats before;
        const auto lap = [&] {
            const weir::pipeline_stats all = run.stats();
            const auto used = weir::detail::resources_in_use(now, limits, all, all - before);
            for (const weir::setting_change& each :
                 weir::detail::changes_towards(target, now, limits, used)) {
                run.set_concurrency(each.stage, static_cast<std::size_t>(each.value));
            }
            before = all;
        };
        for (int i = 0; i < 4; ++i) at_any_step(w, 60, lap);
        while (auto next = run.get()) to.got_in_any_order(*next);
    }
    book.settle_run();
}

// Smaller queues and larger ones, of each stage.
void other_capacities(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const bool stops = w.draw(3) == 0;
    {
        auto run = line(maker(book, items), passes(), how).start<stepwise>(w);
        for (const char* const stage : {"src", "work", "sink"}) {
            const std::size_t n = 1 + w.draw(3);
            at_any_step(w, 40, [&run, stage, n] { run.set_capacity(stage, n); });
        }
        if (stops) at_any_step(w, 45, [&] { run.stop(); });
        take_all(run, to, how);
    }
    settle(book, stops, items);
}

// While it is paused no invocation begins; what is finished can be taken.
void paused(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    bool stands_still = false;
    {
        const auto work = [&](item i) {
            book.check(!stands_still, "while it is paused nothing begins");
            return i;
        };
        auto run = line(maker(book, items), work, how).start<stepwise>(w);
        at_any_step(w, 30, [&] {
            run.pause();
            stands_still = true;
        });
        for (std::size_t patience = 2 * items; patience != 0; --patience) {
            auto next = run.get(duration(1));
            if (next) take(to, *next, how);
            if (next.status() == channel_status::closed) break;
            if (next.status() == channel_status::timed_out) {
                stands_still = false;
                run.resume();
            }
        }
        book.check(to.count() == items, "after a pause all come");
    }
    book.settle_run();
}

// A pause, going on and a stop, in any order.
void stopped_while_paused(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    {
        weir::stop_source stop;
        weir::run_options options;
        options.stop = stop.get_token();
        auto run = line(maker(book, items), passes(), how).start<stepwise>(w, options);
        at_any_step(w, 30, [&] { run.pause(); });
        at_any_step(w, 30, [&] { run.resume(); });
        at_any_step(w, 30, [&] { stop.request_stop(); });
        std::size_t patience = 3;
        while (patience != 0) {
            auto next = run.get(duration(1));
            if (next) take(to, *next, how);
            if (next.status() == channel_status::closed) break;
            if (next.status() == channel_status::timed_out) --patience;
        }
        // Paused for good, or ended: destroyed as it is.
    }
    book.settle_stopped(how.most_under_way());
}

// Stopped by several, one while the other waits for the end, by a token and by a stage: whoever waited finds
// nothing at work, and what came first is what has ended the run.
void stopped_by_several(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    std::size_t at_work = 0;
    {
        weir::stop_source stop;
        weir::run_options options;
        options.stop = stop.get_token();
        weir::run_outcome first = weir::run_outcome::running;
        weir::run<item, stepwise>* me = nullptr;
        const std::size_t asks = w.draw(2 * items);
        const auto note = [&] {
            if (first == weir::run_outcome::running) first = me->outcome();
            book.check(first != weir::run_outcome::running && first == me->outcome(),
                       "the first cause stays");
        };
        // A stop ends the sleep by an exception.
        struct inside {
            explicit inside(std::size_t& n) : count(n) { ++count; }
            inside(const inside&) = delete;
            inside& operator=(const inside&) = delete;
            ~inside() { --count; }
            std::size_t& count;
        };
        const auto work = [&](item i) -> weir::task<item> {
            const inside me_too(at_work);
            if (i.nth() == asks) me->request_stop();
            co_await weir::sleep_for(duration(2));
            co_return std::move(i);
        };
        auto run = line(maker(book, items), work, how).start<stepwise>(w, options);
        me = &run;
        for (int i = 0; i < 2; ++i) {
            at_any_step(w, 60, [&] {
                run.stop();
                book.check(at_work == 0, "who has stopped it finds nothing at work");
                note();
            });
        }
        at_any_step(w, 60, [&] {
            stop.request_stop();
            note();
        });
        take_all(run, to, how);
        book.check(run.outcome() != weir::run_outcome::running, "a run that has ended knows why");
    }
    book.settle_stopped(how.most_under_way());
}

// Slots that are changed while the run is paused.
void changed_while_paused(world& w) {
    ledger book;
    manner how(w);
    consumer to(book);
    {
        auto run = line(maker(book, items), passes(), how).start<stepwise>(w);
        const std::size_t n = 1 + w.draw(4);
        at_any_step(w, 25, [&] { run.pause(); });
        at_any_step(w, 35, [&run, n] { run.set_concurrency("work", n); });
        how.slots = std::max(how.slots, n);
        for (std::size_t patience = 2 * items; patience != 0; --patience) {
            auto next = run.get(duration(1));
            if (next) take(to, *next, how);
            if (next.status() == channel_status::closed) break;
            if (next.status() == channel_status::timed_out) run.resume();
        }
        book.check(to.count() == items, "after a pause all come");
    }
    book.settle_run();
}

// The stage nearest to the end goes first. All stages run within few steps of the world, so it is the stage
// that asks for the stop.
void later_stages_first(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    std::size_t calls = 0;
    const std::size_t last = w.draw(2 * items);
    {
        weir::stop_source stop;
        weir::run_options options;
        options.later_stages_first = true;
        options.stop = stop.get_token();
        const auto work = [&](item i) {
            if (calls++ == last) stop.request_stop();
            return i;
        };
        auto run = line(maker(book, items), work, how).start<stepwise>(w, options);
        take_all(run, to, how);
    }
    settle(book, last < items, how.most_under_way());
}

// No source makes more than the queues of the run may hold.
void limited_run(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const bool stops = w.draw(2) == 1;
    {
        weir::run_options options;
        options.max_bytes = 2;
        // A new item is made while fewer bytes than those are in the queues: then, with the slots', that.
        bound(w, book, 2 + 1 + how.slots + 1);
        auto run = line(maker(book, items), passes(), how).start<stepwise>(w, options);
        if (stops) at_any_step(w, 45, [&] { run.stop(); });
        take_all(run, to, how);
    }
    settle(book, stops, how.most_under_way());
}

// Hooks hear of the end of all of whose beginning they heard, wherever the run is stopped.
class pairs : public weir::hook {
  public:
    void stage_begins(const std::string&) override { ++stages_; }
    void stage_ends(const std::string&) override { --stages_; }
    void before(const weir::invocation&) override { ++open_; }
    void after(const weir::invocation&, const std::exception_ptr&) override { --open_; }
    bool match() const { return stages_ == 0 && open_ == 0; }

  private:
    int stages_ = 0;
    int open_ = 0;
};
void hooked(world& w) {
    ledger book;
    const manner how(w);
    consumer to(book);
    const auto hook = std::make_shared<pairs>();
    const bool stops = w.draw(2) == 1;
    {
        weir::run_options options;
        options.hooks = {hook};
        auto run = line(maker(book, items), naps(), how).start<stepwise>(w, options);
        if (stops) at_any_step(w, 55, [&] { run.stop(); });
        take_all(run, to, how);
    }
    book.check(hook->match(), "each beginning has its end");
    settle(book, stops, how.most_under_way());
}

// Slots leave service while they wait for an item, whatever their place in the line: they get none.
void slots_that_leave(world& w) {
    ledger book;
    consumer to(book);
    constexpr std::size_t all_slots = 4;
    std::size_t at_work = 0, most = 0;
    const auto late = [&book, left = all_slots]() mutable -> weir::task<std::optional<item>> {
        if (left == all_slots) co_await weir::sleep_for(duration(10));
        std::optional<item> next;
        if (left != 0) {
            --left;
            next.emplace(book.make());
        }
        co_return next;
    };
    const auto work = [&](item i) -> weir::task<item> {
        most = std::max(most, ++at_work);
        co_await weir::sleep_for(duration(10));
        --at_work;
        co_return std::move(i);
    };
    {
        auto run = (weir::source(late, {.capacity = all_slots}) |
                    weir::pipe(work, {.name = "work", .concurrency = all_slots}) | weir::sink(all_slots))
                       .start<stepwise>(w);
        const auto change = [&run]() -> weir::task<> {
            co_await weir::sleep_for(duration(1));
            run.set_concurrency("work", 2);
        };
        weir::sync_wait(w, change());
        while (auto next = run.get()) to.got_in_any_order(*next);
    }
    book.check(most == 2, "only the slots that are left work");
    book.settle_run();
}

const schedules::registered all("changes", {{"other_slots", other_slots},
                                            {"other_slots_that_sleep", other_slots_that_sleep},
                                            {"moved_slots", moved_slots},
                                            {"other_capacities", other_capacities},
                                            {"paused", paused},
                                            {"stopped_while_paused", stopped_while_paused},
                                            {"stopped_by_several", stopped_by_several},
                                            {"changed_while_paused", changed_while_paused},
                                            {"later_stages_first", later_stages_first},
                                            {"limited_run", limited_run},
                                            {"hooked", hooked},
                                            {"slots_that_leave", slots_that_leave}});

}  // namespace
