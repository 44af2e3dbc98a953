// Coroutines on many threads that wait for one of several channels, for some time at most: every item arrives
// once, or is still the caller's; nobody waits for ever.
#include <weir/channel/select.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

using weir::channel;
using weir::channel_status;
using weir::task;

namespace {

using box = std::unique_ptr<int>;

// How often each item was seen.
class books {
  public:
    explicit books(int items) : seen_(static_cast<std::size_t>(items)) {}
    void count(const box& b) {
        seen_.at(static_cast<std::size_t>(*b)).fetch_add(1, std::memory_order_relaxed);
    }
    bool each_once() const {
        for (const auto& n : seen_) {
            if (n.load() != 1) return false;
        }
        return true;
    }

  private:
    std::vector<std::atomic<int>> seen_;
};

// Some are over before they begin, most about when the other side comes.
weir::duration some_time(std::minstd_rand& random) {
    return weir::duration(static_cast<std::int64_t>(random() % 8) * 2'000);
}

task<> put_either(channel<box>& a, channel<box>& b, books& all, int first, int count) {
    std::minstd_rand random(static_cast<unsigned>(first));
    for (int i = first; i < first + count; ++i) {
        box item = std::make_unique<int>(i);
        channel_status how = channel_status::timed_out;
        while (how == channel_status::timed_out) {
            const weir::duration limit = some_time(random);
            auto done = co_await weir::select(weir::on_put(a, std::move(item)),
                                              weir::on_put(b, std::move(item)), weir::after(limit));
            how = done.status();
            if (how != channel_status::timed_out) continue;
            how = co_await b.put_for(std::move(item), limit);
        }
        if (how == channel_status::closed) all.count(item);
    }
}

task<> get_either(channel<box>& a, channel<box>& b, books& all, unsigned seed) {
    std::minstd_rand random(seed);
    bool open = true;
    while (open) {
        const weir::duration limit = random() % 2 == 0 ? weir::duration::max() : some_time(random);
        auto done = co_await weir::select(weir::on_get(a), weir::on_get(b), weir::after(limit));
        if (done.index() < 2) {
            auto& got = done.index() == 0 ? done.get<0>() : done.get<1>();
            if (got) all.count(*got);
            open = done.status() == channel_status::success;
        } else {
            const auto got = co_await a.get_for(some_time(random));
            if (got) all.count(*got);
        }
    }
    while (const auto rest = co_await a.get()) all.count(*rest);
    while (const auto rest = co_await b.get()) all.count(*rest);
}

task<> close_after(channel<box>& a, channel<box>& b, std::vector<task<>> producers) {
    co_await weir::when_all(std::move(producers));
    a.close();
    b.close();
}

}  // namespace

TEST_CASE("items that go through either of two channels, in time or not, come out once each") {
    constexpr int producers = 4, consumers = 4, items = 10'000;
    for (const bool closed_early : {false, true}) {
        weir::thread_pool pool(4);
        channel<box> a(1), b(3);
        books all(producers * items);
        std::vector<task<>> in, both;
        for (int i = 0; i < producers; ++i) in.push_back(put_either(a, b, all, i * items, items));
        for (int i = 0; i < consumers; ++i) both.push_back(get_either(a, b, all, static_cast<unsigned>(i)));
        both.push_back(close_after(a, b, std::move(in)));
        const auto closes = [&]() -> task<> {
            co_await weir::sleep_for(weir::duration(3'000'000));
            a.close();
        };
        if (closed_early) both.push_back(closes());
        weir::sync_wait(pool, weir::when_all(std::move(both)));
        CHECK(all.each_once());
        for (channel<box>* const c : {&a, &b}) {
            const weir::channel_stats s = c->stats();
            CHECK(s.num_put == s.num_get);
            CHECK(s.put_blocked <= s.put_wait);
            CHECK(s.get_blocked <= s.get_wait);
            CHECK(s.put_waits.count() == s.num_put);
            CHECK(s.get_waits.count() == s.num_get);
        }
    }
}
