#include <weir/channel/channel_store.hpp>

#include "support/actor.hpp"
#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

using weir::channel;
using weir::channel_stats;
using weir::channel_status;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

// A numbered item that says itself how many bytes it has.
class parcel {
  public:
    parcel(int number, std::size_t bytes) noexcept : number_(number), bytes_(bytes) {}
    parcel(parcel&&) noexcept = default;
    parcel& operator=(parcel&&) noexcept = default;
    int number() const noexcept { return number_; }
    std::size_t bytes() const noexcept { return bytes_; }

  private:
    int number_;
    std::size_t bytes_;
};

}  // namespace

template <>
struct weir::item_size<parcel> {
    static std::size_t of(const parcel& p) noexcept { return p.bytes(); }
};

namespace {

enum class fate { pending, success, refused };

template <class Policy>
actor put(channel<parcel, Policy>& c, int number, std::size_t bytes, weir::stop_token stop, fate& result) {
    parcel p(number, bytes);
    const bool in = co_await c.put(std::move(p), std::move(stop));
    result = in ? fate::success : fate::refused;
}

template <class Policy>
actor get(channel<parcel, Policy>& c, weir::stop_token stop, fate& result, int& got) {
    const std::optional<parcel> p = co_await c.get(std::move(stop));
    result = p ? fate::success : fate::refused;
    if (p) got = p->number();
}

template <class Policy>
channel_status try_put(channel<parcel, Policy>& c, int number, std::size_t bytes) {
    parcel p(number, bytes);
    return c.try_put(std::move(p));
}

// Lets go on whoever can.
void settle(virtual_time& time) { time.run_until(time.now()); }

// One operation under way.
struct operation {
    std::unique_ptr<fate> result = std::make_unique<fate>(fate::pending);
    std::unique_ptr<int> got = std::make_unique<int>(0);
    weir::stop_source source;
    std::optional<actor> coroutine;
    bool is_put = false;
    int number = 0;
};

template <class Policy>
operation begin_put(virtual_time& time, channel<parcel, Policy>& c, int number, std::size_t bytes) {
    operation o;
    o.is_put = true;
    o.number = number;
    o.coroutine.emplace(put(c, number, bytes, o.source.get_token(), *o.result));
    o.coroutine->start(time);
    settle(time);
    return o;
}
template <class Policy>
operation begin_get(virtual_time& time, channel<parcel, Policy>& c) {
    operation o;
    o.coroutine.emplace(get(c, o.source.get_token(), *o.result, *o.got));
    o.coroutine->start(time);
    settle(time);
    return o;
}

// A queue with a limit in items and one in bytes, and two lines, served first come, first served.
class model {
  public:
    struct entry {
        int number;
        std::size_t bytes;
    };
    std::deque<entry> inside;
    std::deque<entry> puts;
    std::deque<int> gets;  // which operation
    std::size_t capacity = 3;
    std::size_t most = 0;
    std::uint64_t num_put = 0, num_get = 0;
    std::int64_t now = 0, put_wait = 0, get_wait = 0, empty = 0;

    std::size_t bytes() const {
        std::size_t sum = 0;
        for (const entry& e : inside) sum += e.bytes;
        return sum;
    }
    void advance(std::int64_t ns) {
        now += ns;
        put_wait += ns * static_cast<std::int64_t>(puts.size());
        get_wait += ns * static_cast<std::int64_t>(gets.size());
        if (inside.empty()) empty += ns;
    }
    bool has_room(const entry& e) const {
        if (inside.size() >= capacity) return false;
        return most == 0 || inside.empty() || (bytes() < most && bytes() + e.bytes <= most);
    }
    // True if it is in at once.
    bool put(const entry& e) {
        if (!gets.empty()) {
            gets.pop_front();
            ++num_put;
            ++num_get;
            return true;
        }
        if (!puts.empty() || !has_room(e)) return false;
        inside.push_back(e);
        ++num_put;
        return true;
    }
    std::optional<entry> get() {
        if (inside.empty()) return std::nullopt;
        const entry e = inside.front();
        inside.pop_front();
        ++num_get;
        admit();
        return e;
    }
    void admit() {
        while (!puts.empty() && has_room(puts.front())) {
            inside.push_back(puts.front());
            puts.pop_front();
            ++num_put;
        }
    }
};

template <class Policy>
bool agree(const model& m, const channel_stats& s) {
    if (s.size != m.inside.size() || s.num_put != m.num_put || s.num_get != m.num_get) return false;
    if (s.bytes != (m.most == 0 ? 0 : m.bytes()) || s.max_bytes != m.most) return false;
    if constexpr (!Policy::statistics) return true;
    return s.put_wait.count() == m.put_wait && s.get_wait.count() == m.get_wait &&
           s.empty.count() == m.empty && s.elapsed.count() == m.now;
}

// Two thousand random events; the first after which anything is wrong, or -1.
template <class Policy>
int compare_with_model(unsigned seed) {
    std::minstd_rand random(seed);
    virtual_time time;
    channel<parcel, Policy> c(3, time);
    model m;
    std::deque<operation> under_way;
    int number = 0;
    const auto size = [&random]() -> std::size_t { return random() % 5 == 0 ? 0 : random() % 40; };
    const auto pending = [&under_way](bool is_put) {
        std::vector<operation*> all;
        for (operation& o : under_way) {
            if (*o.result == fate::pending && o.is_put == is_put) all.push_back(&o);
        }
        return all;
    };
    for (int i = 0; i < 2'000; ++i) {
        switch (random() % 10) {
            case 0: {
                const model::entry e{++number, size()};
                const bool in = try_put(c, e.number, e.bytes) == channel_status::success;
                if (in != m.put(e)) return i;
                break;
            }
            case 1:
            case 2: {
                const auto expected = m.get();
                const auto got = c.try_get();
                if (got.has_value() != expected.has_value() || (got && got->number() != expected->number))
                    return i;
                break;
            }
            case 3:
            case 4: {
                if (m.puts.size() > 4) break;
                const model::entry e{++number, size()};
                under_way.push_back(begin_put(time, c, e.number, e.bytes));
                if (!m.put(e)) m.puts.push_back(e);
                break;
            }
            case 5: {
                if (m.gets.size() > 4) break;
                under_way.push_back(begin_get(time, c));
                if (const auto e = m.get()) {
                    if (*under_way.back().got != e->number) return i;
                } else {
                    m.gets.push_back(0);
                }
                break;
            }
            case 6: {
                // Anyone who waits gives up, the first in the line or another.
                const bool of_puts = !m.puts.empty();
                const auto waiting = pending(of_puts);
                if (waiting.size() != (of_puts ? m.puts.size() : m.gets.size())) return i;
                if (waiting.empty()) break;
                const std::size_t k = random() % waiting.size();
                if (random() % 2 == 0) {
                    waiting[k]->source.request_stop();
                } else {
                    waiting[k]->coroutine.reset();
                    *waiting[k]->result = fate::refused;
                }
                const auto place = static_cast<std::ptrdiff_t>(k);
                if (of_puts) {
                    m.puts.erase(m.puts.begin() + place);
                    m.admit();
                } else {
                    m.gets.erase(m.gets.begin() + place);
                }
                break;
            }
            case 7: {
                m.capacity = 1 + random() % 5;
                c.set_capacity(m.capacity);
                m.admit();
                break;
            }
            case 8: {
                m.most = random() % 3 == 0 ? 0 : 1 + random() % 60;
                c.set_max_bytes(m.most);
                m.admit();
                break;
            }
            default: {
                const auto ns = static_cast<std::int64_t>(random() % 1'000);
                time.run_until(time.now() + weir::duration(ns));
                m.advance(ns);
            }
        }
        settle(time);
        if (pending(true).size() != m.puts.size() || pending(false).size() != m.gets.size()) return i;
        if (!agree<Policy>(m, c.stats())) return i;
        while (!under_way.empty() && *under_way.front().result != fate::pending) under_way.pop_front();
    }
    c.cancel();
    settle(time);
    const channel_stats s = c.stats();
    const bool counted = s.num_put == m.num_put && s.num_get == m.num_get;
    return counted && s.num_discarded == m.inside.size() && s.bytes == 0 && s.size == 0 ? -1 : 2'000;
}

// Tells who is told that there is room.
class budget final : public weir::detail::byte_budget {
  public:
    using byte_budget::byte_budget;
    void has_room() noexcept override { ++times; }
    int times = 0;
};

}  // namespace

TEST_CASE("a channel with a limit in bytes takes items up to that limit, also if places are free") {
    virtual_time time;
    channel<parcel> c(10, time);
    c.set_max_bytes(10);
    CHECK(try_put(c, 1, 4) == channel_status::success);
    CHECK(try_put(c, 2, 6) == channel_status::success);
    CHECK(try_put(c, 3, 1) == channel_status::full);
    CHECK(try_put(c, 4, 0) == channel_status::full);
    CHECK(c.stats().bytes == 10);
    CHECK(c.stats().max_bytes == 10);
    CHECK(c.try_get()->number() == 1);
    CHECK(c.stats().bytes == 6);
    CHECK(try_put(c, 5, 5) == channel_status::full);
    CHECK(try_put(c, 6, 4) == channel_status::success);
    CHECK(c.try_get()->number() == 2);
    CHECK(c.try_get()->number() == 6);
    CHECK(c.stats().bytes == 0);
}

TEST_CASE("the limit in items holds beside the one in bytes") {
    virtual_time time;
    channel<parcel> c(2, time);
    c.set_max_bytes(100);
    CHECK(try_put(c, 1, 1) == channel_status::success);
    CHECK(try_put(c, 2, 1) == channel_status::success);
    CHECK(try_put(c, 3, 1) == channel_status::full);
}

TEST_CASE("an item larger than the limit goes in when the channel is empty, and stays alone there") {
    virtual_time time;
    channel<parcel> c(10, time);
    c.set_max_bytes(10);
    CHECK(try_put(c, 1, 99) == channel_status::success);
    CHECK(try_put(c, 2, 0) == channel_status::full);
    auto large = begin_put(time, c, 3, 50);
    CHECK(*large.result == fate::pending);
    CHECK(c.stats().bytes == 99);
    CHECK(c.try_get()->number() == 1);
    settle(time);
    CHECK(*large.result == fate::success);
    CHECK(c.stats().bytes == 50);
}

TEST_CASE("an item that is handed to a waiting get ignores the limit in bytes") {
    virtual_time time;
    channel<parcel> c(10, time);
    c.set_max_bytes(10);
    auto first = begin_get(time, c);
    auto second = begin_get(time, c);
    CHECK(try_put(c, 1, 1'000) == channel_status::success);
    CHECK(try_put(c, 2, 1'000) == channel_status::success);
    settle(time);
    CHECK(*first.got == 1);
    CHECK(*second.got == 2);
    CHECK(c.stats().bytes == 0);
}

TEST_CASE("a small item doesn't overtake a large one that waits for room") {
    virtual_time time;
    channel<parcel> c(10, time);
    c.set_max_bytes(10);
    CHECK(try_put(c, 1, 8) == channel_status::success);
    auto large = begin_put(time, c, 2, 9);
    auto small = begin_put(time, c, 3, 1);
    CHECK(*large.result == fate::pending);
    CHECK(*small.result == fate::pending);
    CHECK(try_put(c, 4, 1) == channel_status::full);
    parcel p(5, 1);
    CHECK(c.blocking_put(std::move(p), 1s) == channel_status::timed_out);
    CHECK(c.try_get()->number() == 1);
    CHECK(c.try_get()->number() == 2);
    CHECK(c.try_get()->number() == 3);
    settle(time);
}

TEST_CASE("a put that gives up admits the puts behind it that have room") {
    for (const int how : {0, 1, 2}) {
        virtual_time time;
        channel<parcel> c(10, time);
        c.set_max_bytes(10);
        CHECK(try_put(c, 1, 8) == channel_status::success);
        std::optional<operation> large;
        std::optional<operation> small;
        if (how < 2) {
            large.emplace(begin_put(time, c, 2, 9));
            small.emplace(begin_put(time, c, 3, 1));
            if (how == 0) {
                large->source.request_stop();
            } else {
                large.reset();
            }
        } else {
            // A thread that waits at most 5 s, and while it does another comes behind it.
            const auto later = [](virtual_time& t, channel<parcel>& to,
                                  std::optional<operation>& o) -> task<> {
                co_await weir::sleep_for(1s);
                o.emplace();
                o->is_put = true;
                o->coroutine.emplace(put(to, 3, 1, o->source.get_token(), *o->result));
                o->coroutine->start(t);
                co_await weir::sleep_for(1s);
            };
            std::exception_ptr none;
            actor starter = [](virtual_time& t, channel<parcel>& to, std::optional<operation>& o,
                               auto f) -> actor {
                weir::task<> work = f(t, to, o);
                co_await std::move(work);
            }(time, c, small, later);
            starter.start(time);
            parcel p(2, 9);
            CHECK(c.blocking_put(std::move(p), 5s) == channel_status::timed_out);
            CHECK(time.now() == weir::time_point(5s));
        }
        settle(time);
        CHECK(*small->result == fate::success);
        CHECK(c.stats().bytes == 9);
        CHECK(c.stats().size == 2);
    }
}

TEST_CASE("a limit can be set, raised, lowered and removed while items are inside, and counts these") {
    virtual_time time;
    channel<parcel> c(10, time);
    CHECK(try_put(c, 1, 30) == channel_status::success);
    CHECK(try_put(c, 2, 30) == channel_status::success);
    CHECK(c.stats().bytes == 0);  // not counted
    c.set_max_bytes(70);
    CHECK(c.stats().bytes == 60);
    CHECK(try_put(c, 3, 11) == channel_status::full);
    CHECK(try_put(c, 3, 10) == channel_status::success);
    auto waits = begin_put(time, c, 4, 5);
    c.set_max_bytes(75);
    settle(time);
    CHECK(*waits.result == fate::success);
    CHECK(c.stats().bytes == 75);
    c.set_max_bytes(10);
    auto more = begin_put(time, c, 5, 1);
    CHECK(c.try_get()->number() == 1);
    CHECK(c.try_get()->number() == 2);
    settle(time);
    CHECK(*more.result == fate::pending);
    c.set_max_bytes(0);
    settle(time);
    CHECK(*more.result == fate::success);
    CHECK(c.stats().bytes == 0);
    CHECK(c.stats().max_bytes == 0);
    CHECK(c.try_get()->number() == 3);
    // Counted anew: 4 and 5 are inside.
    c.set_max_bytes(100);
    CHECK(c.stats().bytes == 6);
    CHECK(c.try_get()->number() == 4);
    CHECK(c.try_get()->number() == 5);
    CHECK(c.stats().bytes == 0);
}

TEST_CASE("after close the items inside still count in bytes, after cancel they don't") {
    virtual_time time;
    channel<parcel> c(10, time);
    c.set_max_bytes(50);
    CHECK(try_put(c, 1, 20) == channel_status::success);
    CHECK(try_put(c, 2, 20) == channel_status::success);
    auto waits = begin_put(time, c, 3, 40);
    c.close();
    settle(time);
    CHECK(*waits.result == fate::refused);
    CHECK(c.stats().bytes == 40);
    CHECK(c.try_get()->number() == 1);
    CHECK(c.stats().bytes == 20);
    c.cancel();
    CHECK(c.stats().bytes == 0);
    CHECK(try_put(c, 4, 1) == channel_status::closed);
    c.set_max_bytes(10);
    CHECK(c.stats().bytes == 0);
}

TEST_CASE("threads wait for bytes as for places") {
    virtual_time time;
    channel<parcel> c(10, time);
    c.set_max_bytes(10);
    parcel first(1, 10);
    CHECK(c.blocking_put(std::move(first)) == channel_status::success);
    parcel second(2, 10);
    CHECK(c.blocking_put(std::move(second), 3s) == channel_status::timed_out);
    CHECK(time.now() == weir::time_point(3s));
    CHECK(c.blocking_get()->number() == 1);
    parcel third(3, 10);
    CHECK(c.blocking_put(std::move(third), 3s) == channel_status::success);
    CHECK(c.stats().bytes == 10);
}

TEST_CASE("after random operations, a channel with a limit in bytes agrees with a model") {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        CHECK(compare_with_model<weir::measured>(seed) == -1);
        CHECK(compare_with_model<weir::unmeasured>(seed) == -1);
    }
}

TEST_CASE("several channels count for one budget, which is told when there is room again") {
    virtual_time time;
    budget both(100);
    channel<parcel> a(10, time), b(10, time);
    weir::detail::inside(a).set_budget(&both);
    weir::detail::inside(b).set_budget(&both);
    CHECK(try_put(a, 1, 60) == channel_status::success);
    CHECK_FALSE(both.is_spent());
    CHECK(try_put(b, 2, 60) == channel_status::success);
    CHECK(both.is_spent());
    // It refuses nothing: who makes items asks it before.
    CHECK(try_put(b, 3, 60) == channel_status::success);
    CHECK(b.try_get()->number() == 2);
    CHECK(both.times == 0);
    CHECK(a.try_get()->number() == 1);
    CHECK(both.times == 1);
    CHECK_FALSE(both.is_spent());
    // A limit of its own that comes and goes changes nothing about that.
    CHECK(b.stats().bytes == 60);
    b.set_max_bytes(70);
    CHECK(b.stats().bytes == 60);
    b.set_max_bytes(0);
    CHECK(b.stats().bytes == 60);
    CHECK(try_put(a, 4, 40) == channel_status::success);
    CHECK(both.is_spent());
    b.cancel();
    CHECK(both.times == 2);
    CHECK_FALSE(both.is_spent());
    a.cancel();
    CHECK(both.times == 2);
    CHECK(a.stats().bytes + b.stats().bytes == 0);
}

TEST_CASE("a channel holds pointers to arrays, to void and to incomplete types") {
    class incomplete;
    virtual_time time;
    channel<std::unique_ptr<int[]>> arrays(1, time);
    channel<std::shared_ptr<int[]>> shared(1, time);
    channel<std::shared_ptr<void>> anything(1, time);
    channel<std::shared_ptr<incomplete>> hidden(1, time);
    CHECK(arrays.try_put(std::make_unique<int[]>(3)) == channel_status::success);
    CHECK(anything.try_put(std::make_shared<int>(3)) == channel_status::success);
    CHECK(hidden.try_put(nullptr) == channel_status::success);
    CHECK(shared.try_put(nullptr) == channel_status::success);
}
