// Snapshots: the recorder of durations, the times of a slot, the clock that they are read from.
// SPDX-License-Identifier: BSL-1.0
#include <weir/measure/recorder.hpp>
#include <weir/measure/slot.hpp>
#include <weir/platform/tick_clock.hpp>

#include "suite.hpp"

namespace {

using namespace models;

// One records while another takes snapshots: what the cell counts is covered by sum and maximum, and
// nothing goes back.
struct recording : suite<recording, 2> {
    weir::detail::basic_recorder<platform, false> recorder;

    void run(int me) {
        if (me == 0) {
            for (int i = 1; i <= 3; ++i) recorder.record(10 * i);
            return;
        }
        std::uint64_t last = 0;
        for (int i = 0; i < 3; ++i) {
            const std::uint64_t count = recorder.in_bucket(0);
            const std::uint64_t max = recorder.max();
            const std::uint64_t sum = recorder.sum();
            expect(count >= last, "a count went back");
            expect(max >= 10 * count, "the maximum lacks what is counted");
            expect(sum >= 5 * count * (count + 1), "the sum lacks what is counted");
            last = count;
        }
    }
    void after() {
        expect(recorder.in_bucket(0) == 3 && recorder.sum() == 60 && recorder.max() == 30,
               "something was not recorded");
    }
};

// Writers take turns, ordered by a hand-over.
struct handed_over : suite<handed_over, 3> {
    weir::detail::basic_recorder<platform, false> recorder;
    models::atomic<bool> mine{false};

    void run(int me) {
        if (me == 0) {
            recorder.record(10);
            mine.store(true, std::memory_order_release);
        } else if (me == 1) {
            while (!mine.load(std::memory_order_acquire)) platform::yield();
            recorder.record(20);
        } else {
            const std::uint64_t count = recorder.in_bucket(0);
            expect(recorder.sum() >= (count == 2 ? 30U : 10U * count), "the sum lacks what is counted");
        }
    }
    void after() { expect(recorder.sum() == 30, "something was not recorded"); }
};

// The same with buckets, whose memory comes with the first duration there: a further block of rows after
// eight octaves, or wide counters after 2^32 durations.
template <bool Wide>
struct growing : suite<growing<Wide>, 2> {
    weir::detail::basic_recorder<platform> recorder;
    static constexpr std::int64_t value = Wide ? 5 : 100'000;
    static constexpr std::uint64_t first = Wide ? UINT32_MAX : 0;

    std::uint64_t counted() const {
        return recorder.in_bucket(weir::detail::log_linear::bucket_of(value)) + recorder.unsorted();
    }

    void before() {
        if (Wide) return recorder.record(value, UINT32_MAX);
        for (int octave = 0; octave < 8; ++octave) recorder.record(std::int64_t{1} << (octave + 4));
    }
    void run(int me) {
        if (me == 0) {
            recorder.record(value);
            recorder.record(value);
            return;
        }
        for (std::uint64_t last = first; last != first + 2;) {
            const std::uint64_t count = counted();
            if (count == last) {
                platform::yield();  // the writer makes the counters meanwhile, step by step
                continue;
            }
            expect(count >= last, "a count went back");
            expect(recorder.sum() >= count * value, "the sum lacks what is counted");
            last = count;
        }
    }
    void after() { expect(counted() == first + 2, "something was not recorded"); }
};

// A slot whose chain enters states, while snapshots settle it at other instants: the states always
// partition the time. The instants are drawn beforehand, so some come late.
struct slot_times : suite<slot_times, 3> {
    weir::detail::basic_state_meter<platform> slot;

    void before() { slot.begin(0, weir::detail::slot_state::runnable); }
    void run(int me) {
        using weir::detail::slot_state;
        if (me == 0) {
            slot.enter(slot_state::run, 10);
            slot.enter(slot_state::wait_put, 20);
            slot.enter(slot_state::run, 30);
        } else if (me == 1) {
            snapshot(15);
            snapshot(25);
        } else {
            snapshot(35);
        }
    }
    void snapshot(std::int64_t at) {
        slot.lock();
        std::int64_t sum = 0;
        for (const std::int64_t spent : slot.spent_until(at)) {
            expect(spent >= 0, "a state took less than nothing");
            sum += spent;
        }
        expect(sum == slot.counted_until() && sum >= at, "the states don't partition the time");
        slot.unlock();
    }
    void after() { snapshot(40); }
};

// The clock: who reads while another draws the next line gets a whole one, and time never goes back. The
// counter runs at half the frequency of the steady clock's nanoseconds, and gains on it.
struct counter {
    static inline std::int64_t time = 0;
    static inline std::uint64_t jump = 0;
    static bool reliable() { return true; }
    static std::uint64_t ticks() { return static_cast<std::uint64_t>(time += 10) * 2 + jump; }
    static std::int64_t steady() { return time += 10'000; }
    static void rest() { platform::yield(); }
};
template <bool Begun>
struct ticking : suite<ticking<Begun>, 2> {
    weir::detail::basic_tick_clock<counter, models::atomic> clock;

    void before() {
        counter::time = 1'000'000;
        counter::jump = 0;
        if (Begun) clock.now();
    }
    void run(int) {
        std::int64_t last = 0;
        for (int i = 0; i < 4; ++i) {
            const std::int64_t now = clock.now();
            const std::int64_t high = counter::time;
            expect(now >= last, "time went back");
            // Not so for how late it is: who comes while a line is drawn is given the end of the old one.
            expect(now <= high + 200'000, "the parts of two lines were mixed");
            last = now;
            counter::time += 1'500'000;
        }
    }
};

// The counter jumps ahead by 10 ms, as on a machine that was moved: it is not used any more, and what the
// time is ahead by then stays.
struct jumping : suite<jumping, 2> {
    weir::detail::basic_tick_clock<counter, models::atomic> clock;

    void before() {
        counter::time = 1'000'000;
        counter::jump = 0;
        clock.now();
    }
    void run(int me) {
        std::int64_t last = 0;
        for (int i = 0; i < 3; ++i) {
            if (me == 0 && i == 1) counter::jump = 20'000'000;
            const std::int64_t now = clock.now();
            expect(now >= last, "time went back");
            last = now;
            counter::time += 300'000;
        }
    }
};

}  // namespace

int main(int argc, char** argv) {
    return run_all(argc, argv,
                   {
                       check<recording>("recorder/a snapshot", 400'000),
                       check<handed_over>("recorder/writers by turns", 300'000),
                       check<growing<false>>("recorder/a further block", 30'000),
                       check<growing<true>>("recorder/wide counters", 10'000),
                       check<slot_times>("slot/snapshots", 200'000),
                       check<ticking<true>>("tick_clock/the next line", 200'000),
                       check<ticking<false>>("tick_clock/the first line", 200'000),
                       check<jumping>("tick_clock/a jump", 200'000),
                   });
}
