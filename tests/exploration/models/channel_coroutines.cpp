// The channel, used by coroutines, each on a thread of its own, and stopped while it waits: a hand-over and
// a stop that meet lose no item and no coroutine.
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>
#include <weir/executor/ready_queue.hpp>
#include <weir/platform/parking.hpp>
#include <weir/task/stop_token.hpp>

#include "channel.hpp"
#include "job.hpp"

namespace {

using namespace models;
using stop_source = weir::basic_stop_source<platform>;
using stop_token = weir::basic_stop_token<platform>;

// Runs on the thread that calls `run`.
class loop final : public weir::executor {
  public:
    void post(std::coroutine_handle<> h) noexcept override {
        inbox_.push(h.address());
        sleepers_.notify_one();
    }
    void add(weir::timer&) noexcept override { expect(false, "no model uses a timer"); }
    void cancel(weir::timer&) noexcept override { expect(false, "no model uses a timer"); }
    bool drive(flag&, weir::time_point) override { return false; }
    weir::time_point now() const noexcept override {
        return weir::time_point(weir::duration(platform::now()));
    }

    // Until the coroutine has ended.
    void run(job& it) {
        const std::coroutine_handle<> h = it.on(*this);
        h.resume();
        while (!h.done()) {
            if (void* const p = inbox_.pop()) {
                std::coroutine_handle<>::from_address(p).resume();
                continue;
            }
            const auto ticket = sleepers_.prepare_wait();
            if (!inbox_.empty()) {
                sleepers_.cancel_wait();
            } else {
                idle_ = true;
                sleepers_.commit_wait(ticket);
            }
        }
        expect(inbox_.empty(), "it was resumed twice");
    }

    // Every other time another thread is late: by itself it would hardly ever be.
    void may_fall_asleep() const {
        if (rl::rand(2) == 0) return;
        for (int i = 0; i < 200 && !idle_; ++i) platform::yield();
    }

  private:
    bool idle_ = false;
    weir::detail::basic_inbox<platform> inbox_;
    weir::detail::basic_event_count<platform> sleepers_;
};

// Producers and consumers.
template <int Puts, int Gets, int Each>
struct passing : suite<passing<Puts, Gets, Each>, Puts + Gets> {
    channel c{1};
    loop loops[Puts + Gets];
    delivery<Puts * Each> got;
    int producing = Puts;

    void run(int me) {
        if (me < Puts) {
            job it = produce(me);
            loops[me].run(it);
        } else {
            job it = consume();
            loops[me].run(it);
        }
    }
    job produce(int me) {
        for (int i = 0; i < Each; ++i) {
            item it(me * Each + i);
            const bool taken = co_await c.put(std::move(it));
            expect(taken, "an open channel refused");
        }
        if (--producing == 0) c.close();
    }
    job consume() {
        order<Each> mine;
        for (;;) {
            auto it = co_await c.get();
            if (!it) break;
            got.once(it->value());
            mine.follows(it->value());
        }
    }
    void after() { got.all(); }
};

// A get that waits is stopped while an item comes.
struct stopped_get : suite<stopped_get, 3> {
    channel c{1};
    loop here;
    stop_source stop;
    int got = 0;
    bool ended = false;

    void run(int me) {
        if (me == 0) {
            job it = consume();
            here.run(it);
        } else if (me == 1) {
            expect(c.blocking_put(item(0)) == weir::channel_status::success, "there was room");
        } else {
            here.may_fall_asleep();
            stop.request_stop();
        }
    }
    job consume() {
        auto it = co_await c.get(stop.get_token());
        got = it ? 1 : 0;
        ended = true;
    }
    void after() {
        expect(ended, "the get was not answered");
        expect(got + static_cast<int>(c.size()) == 1, "an item was lost, or came twice");
    }
};

// A stopped get with nothing to come: the stop alone ends the wait.
struct stop_alone : suite<stop_alone, 2> {
    channel c{1};
    loop here;
    stop_source stop;
    bool nothing = false;

    void run(int me) {
        if (me == 0) {
            job it = consume();
            here.run(it);
        } else {
            here.may_fall_asleep();
            stop.request_stop();
        }
    }
    job consume() {
        auto it = co_await c.get(stop.get_token());
        nothing = !it;
    }
    void after() { expect(nothing, "the get was not answered"); }
};

// A put that waits is stopped while room is made.
struct stopped_put : suite<stopped_put, 3> {
    channel c{1};
    loop here;
    stop_source stop;
    int inside = 1;

    void before() {
        item first(0);
        expect(c.try_put(std::move(first)) == weir::channel_status::success, "there was room");
    }
    void run(int me) {
        if (me == 0) {
            job it = produce();
            here.run(it);
        } else if (me == 1) {
            if (c.blocking_get()) --inside;
        } else {
            here.may_fall_asleep();
            stop.request_stop();
        }
    }
    job produce() {
        item it(1);
        const bool taken = co_await c.put(std::move(it), stop.get_token());
        expect(taken == it.is_gone(), "an item was lost by a stop, or put all the same");
        if (taken) ++inside;
    }
    void after() { expect(inside == static_cast<int>(c.size()), "an item was lost, or came twice"); }
};

// Stop and close, both while a get waits.
struct stop_and_close : suite<stop_and_close, 3> {
    channel c{1};
    loop here;
    stop_source stop;
    bool nothing = false;

    void run(int me) {
        if (me == 0) {
            job it = consume();
            here.run(it);
        } else if (me == 1) {
            c.close();
        } else {
            here.may_fall_asleep();
            stop.request_stop();
        }
    }
    job consume() {
        auto it = co_await c.get(stop.get_token());
        nothing = !it;
    }
    void after() { expect(nothing, "the get was not answered"); }
};

}  // namespace

int main(int argc, char** argv) {
    return run_all(argc, argv,
                   {
                       check<passing<1, 1, 3>>("coroutines/1 to 1", 100'000),
                       check<passing<2, 1, 2>>("coroutines/2 to 1", 50'000),
                       check<passing<1, 2, 3>>("coroutines/1 to 2", 50'000),
                       check<stop_alone>("stop/of a get", 150'000),
                       check<stopped_get>("stop/of a get that is answered", 150'000),
                       check<stopped_put>("stop/of a put that is answered", 100'000),
                       check<stop_and_close>("stop/of a get that is closed", 100'000),
                   });
}
