// many [PERCENT]: a thousand channels and ten thousand tasks, each of which takes from one channel and
// gives to the next; then a million tasks that sleep until an instant of their own. Fails if an item is
// lost or changed, or a sleeper wakes early or before one whose instant came first. Prints what a task
// takes in memory. PERCENT of the items and sleepers; the default: 100.
#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include "support/counted_heap.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using number = std::uint64_t;
using namespace std::chrono_literals;

struct digest {
    number count = 0;
    number sum = 0;
    number x_or = 0;

    void add(number n) {
        ++count;
        sum += n;
        x_or ^= n;
    }
    void add(const digest& other) {
        count += other.count;
        sum += other.sum;
        x_or ^= other.x_or;
    }
    bool operator==(const digest&) const = default;
};

number mix(number n) { return (n ^ n >> 31) * 0x9e3779b97f4a7c15ULL; }

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A line of ten channels, one behind the other, and a hundred tasks: five put into the first, ten move
// items from each to the next, five take from the last.
constexpr std::size_t lines = 100;
constexpr std::size_t length = 10;
constexpr std::size_t ends = 5;
constexpr std::size_t movers = 10;
constexpr std::size_t tasks_of_line = 2 * ends + (length - 1) * movers;
static_assert(lines * length == 1'000 && lines * tasks_of_line == 10'000);

class line {
    // The last of the tasks that give to a channel closes it.
    struct place {
        place(std::size_t capacity, weir::executor& ex, std::size_t givers)
            : channel(capacity, ex), left(givers) {}
        void leave() {
            if (left.fetch_sub(1) == 1) channel.close();
        }
        weir::channel<number> channel;
        std::atomic<std::size_t> left;
    };

  public:
    line(weir::executor& ex, number first, number items_of_each)
        : first_(first), items_of_each_(items_of_each), taken_(ends) {
        for (std::size_t i = 0; i < length; ++i) {
            places_.push_back(std::make_unique<place>(1 + i % 7, ex, i == 0 ? ends : movers));
        }
    }

    void start(weir::task_group& group) {
        for (std::size_t i = 0; i < ends; ++i) group.spawn(put(first_ + i * items_of_each_));
        for (std::size_t i = 0; i + 1 < length; ++i) {
            for (std::size_t k = 0; k < movers; ++k) group.spawn(move(*places_[i], *places_[i + 1]));
        }
        for (digest& taken : taken_) group.spawn(take(taken));
    }

    bool is_right() const {
        digest expected;
        digest got;
        for (number n = first_; n < first_ + ends * items_of_each_; ++n) {
            number item = n;
            for (std::size_t i = 0; i + 1 < length; ++i) item = mix(item);
            expected.add(item);
        }
        for (const digest& taken : taken_) got.add(taken);
        return got == expected;
    }

  private:
    weir::task<> put(number from) {
        for (number n = from; n < from + items_of_each_; ++n) {
            const bool taken = co_await places_.front()->channel.put(n);
            if (!taken) break;
        }
        places_.front()->leave();
    }
    static weir::task<> move(place& from, place& to) {
        while (const auto item = co_await from.channel.get()) {
            const number changed = mix(*item);
            const bool taken = co_await to.channel.put(changed);
            if (!taken) break;
        }
        to.leave();
    }
    weir::task<> take(digest& taken) {
        while (const auto item = co_await places_.back()->channel.get()) taken.add(*item);
    }

    number first_;
    number items_of_each_;
    std::vector<std::unique_ptr<place>> places_;
    std::vector<digest> taken_;
};

weir::task<> join(weir::task_group& group) { co_await group.join(); }

bool many_channels(number items_of_each) {
    const auto start = std::chrono::steady_clock::now();
    weir::thread_pool pool;
    std::vector<std::unique_ptr<line>> all;
    const number of_line = ends * items_of_each;
    for (std::size_t i = 0; i < lines; ++i) {
        all.push_back(std::make_unique<line>(pool, i * of_line, items_of_each));
    }
    weir::task_group group(pool);
    for (const auto& each : all) each->start(group);
    weir::sync_wait(pool, join(group));
    bool right = true;
    for (const auto& each : all) right = right && each->is_right();
    const double seconds = seconds_since(start);
    const number operations = lines * of_line * length;
    std::cout << lines * length << " channels, " << lines * tasks_of_line << " tasks, " << lines * of_line
              << " items through ten channels each: " << (right ? "right" : "WRONG") << ", " << seconds
              << " s, " << seconds * 1e9 / static_cast<double>(operations) << " ns an item and channel"
              << std::endl;
    return right;
}

// What the sleepers say of themselves, in the order in which they wake; all on one thread.
struct report {
    weir::time_point last{};
    number woken = 0;
    number early = 0;
    number late = 0;  // on virtual time nobody may be
    number disordered = 0;
};

weir::task<> sleep(weir::executor& ex, weir::time_point until, report& told) {
    const bool whole = co_await weir::sleep_until(until);
    const weir::time_point now = ex.now();
    ++told.woken;
    if (!whole || now < until) ++told.early;
    if (now > until) ++told.late;
    if (until < told.last) ++told.disordered;
    told.last = until;
}

weir::task<> read(weir::executor& ex, weir::time_point& now) {
    now = ex.now();
    co_return;
}

// In an order that looks random: an odd factor makes a permutation of the numbers below a power of two.
weir::duration instant_of(number i, weir::duration apart) {
    constexpr number all = 1U << 20;
    return static_cast<std::int64_t>(i * 0x9e3779b1U % all) * apart;
}

// What was behind the sleepers in the executor's queue tells when all of them slept. It had to be before
// the first instant, else they need not wake in order: then everything is done again, with more time.
bool many_timers(const std::string& where, weir::executor& ex, number sleepers, bool exact) {
    for (weir::duration lead = 1s;; lead *= 2) {
        const auto start = std::chrono::steady_clock::now();
        report told;
        weir::time_point all_asleep{};
        const std::size_t before = counted_heap::bytes_in_use();
        const weir::time_point first = ex.now() + lead;
        weir::task_group group(ex);
        for (number i = 0; i < sleepers; ++i) {
            group.spawn(sleep(ex, first + instant_of(i, 1us), told));
        }
        group.spawn(read(ex, all_asleep));
        const std::size_t taken = counted_heap::bytes_in_use() - before;
        weir::sync_wait(ex, join(group));
        if (all_asleep >= first) continue;
        const bool right =
            told.woken == sleepers && told.early == 0 && told.disordered == 0 && (!exact || told.late == 0);
        std::cout << sleepers << " sleepers " << where << ": " << (right ? "right" : "WRONG") << ", "
                  << told.woken << " woke, " << told.early << " early, " << told.disordered
                  << " out of order, " << static_cast<double>(taken) / static_cast<double>(sleepers)
                  << " bytes each, " << seconds_since(start) << " s" << std::endl;
        return right;
    }
}

}  // namespace

int main(int argc, char** argv) try {
    const number percent = argc > 1 ? std::stoull(argv[1]) : 100;
    bool right = many_channels(20 * percent);
    {
        weir::virtual_time time;
        right = many_timers("on virtual time", time, 10'000 * percent, true) && right;
    }
    {
        weir::thread_pool pool(1);
        right = many_timers("on a pool of one thread", pool, 10'000 * percent, false) && right;
    }
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return EXIT_FAILURE;
}
