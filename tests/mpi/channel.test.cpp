#include <weir/mpi/channel.hpp>

#include "mpi/support.hpp"

#include <weir/executor/schedule.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/stop_token.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace mpi_tests;
using weir::mpi::channel;
using weir::mpi::channel_options;

namespace {

// The channel of each rank, made together, and destroyed together: a destructor waits for all ranks.
template <class T>
class channels {
  public:
    channels(cluster& ranks, int num, std::vector<channel_options> roles)
        : ranks_(ranks), all_(static_cast<std::size_t>(num)) {
        const int failed = ranks.run([&](communicator c) -> weir::task<> {
            const auto me = static_cast<std::size_t>(c.rank());
            auto plan = co_await channel<T>::plan(c, roles.at(me));
            all_[me] = std::make_unique<channel<T>>(std::move(plan), ranks_.all, roles.at(me));
        });
        REQUIRE(failed == 0);
    }
    channels(const channels&) = delete;
    channels& operator=(const channels&) = delete;
    ~channels() {
        for (auto& c : all_) {
            c->close();
            c->cancel();
        }
        // The destructor of one polls its own rank only.
        for (int i = 0; i < 2000; ++i) {
            for (weir::mpi::detail::reactor* const r : ranks_.all.polled) static_cast<void>(r->poll());
        }
    }
    channel<T>& operator[](int rank) { return *all_.at(static_cast<std::size_t>(rank)); }
    channel<T>& of(const communicator& c) { return (*this)[c.rank()]; }

  private:
    cluster& ranks_;
    std::vector<std::unique_ptr<channel<T>>> all_;
};

std::vector<channel_options> roles(int producers, int consumers, std::size_t capacity, bool overlap = false) {
    std::vector<channel_options> all;
    const int n = overlap ? producers : producers + consumers;
    for (int r = 0; r < n; ++r) {
        channel_options o;
        o.capacity = capacity;
        o.puts = overlap || r < producers;
        o.gets = overlap ? r < consumers : r >= producers;
        all.push_back(o);
    }
    return all;
}

// Until nothing is on its way any more.
void settle(cluster& ranks) {
    for (int i = 0; i < 200; ++i) {
        for (weir::mpi::detail::reactor* const r : ranks.all.polled) static_cast<void>(r->poll());
    }
}

// A number, and where it comes from; longer than what the stand-in sends eagerly if `long_` is set.
using item = std::vector<std::uint32_t>;
item make_item(int rank, std::uint32_t n) {
    return item(n % 3 == 0 ? 40 : 2, (static_cast<std::uint32_t>(rank) << 16U) | n);
}

weir::task<> put_all(channel<item>& to, int rank, std::uint32_t count) {
    for (std::uint32_t n = 0; n < count; ++n) {
        item x = make_item(rank, n);
        if (!co_await to.put(std::move(x))) co_return;
    }
    to.close();
}
weir::task<> get_all(channel<item>& from, std::multiset<std::uint32_t>& got) {
    std::map<std::uint32_t, std::uint32_t> last;
    while (true) {
        auto x = co_await from.get();
        if (!x) break;
        const std::uint32_t value = x->at(0);
        CHECK(*x == make_item(static_cast<int>(value >> 16U), value & 0xffffU));
        const auto before = last.find(value >> 16U);
        if (before != last.end()) CHECK(before->second < value);
        last[value >> 16U] = value;
        got.insert(value);
    }
}

}  // namespace

TEST_CASE("each item that is put is got once, in order, by one of the consumers") {
    struct shape {
        int producers, consumers;
        std::size_t capacity;
        bool overlap;
    };
    std::uint64_t seed = 0;
    for (const shape s :
         {shape{1, 1, 1, false}, shape{1, 1, 8, false}, shape{3, 1, 2, false}, shape{1, 3, 3, false},
          shape{2, 2, 4, false}, shape{3, 3, 2, true}, shape{1, 1, 2, true}}) {
        for (int i = 0; i < 6; ++i) {
            const std::vector<channel_options> what = roles(s.producers, s.consumers, s.capacity, s.overlap);
            const int n = static_cast<int>(what.size());
            cluster ranks(n, seed++);
            channels<item> c(ranks, n, what);
            std::multiset<std::uint32_t> got;
            const int failed = ranks.run([&](communicator of) -> weir::task<> {
                std::vector<weir::task<>> both;
                const channel_options& mine = what[static_cast<std::size_t>(of.rank())];
                if (mine.puts) both.push_back(put_all(c.of(of), of.rank(), 30));
                if (mine.gets) both.push_back(get_all(c.of(of), got));
                co_await weir::when_all(std::move(both));
                const auto b = co_await c.of(of).balance();
                CHECK(b.put == 30U * static_cast<unsigned>(s.producers));
                CHECK(b.got == b.put);
                CHECK(b.returned == 0);
                CHECK(b.remaining == 0);
            });
            CHECK(failed == 0);
            CHECK(got.size() == 30U * static_cast<unsigned>(s.producers));
            CHECK(std::set<std::uint32_t>(got.begin(), got.end()).size() == got.size());
        }
    }
}

TEST_CASE("a producer has no more items underway than the consumer has given credit for") {
    cluster ranks(2, 3);
    channels<item> c(ranks, 2, roles(1, 1, 4));
    weir::stop_source stop;
    int num_put = 0;
    const int failed = ranks.run([&](communicator of) -> weir::task<> {
        if (of.rank() != 0) co_return;
        for (std::uint32_t n = 0; n < 100; ++n) {
            item x = make_item(0, n);
            const auto stopping = [&]() -> weir::task<> {
                for (int i = 0; i < 50; ++i) co_await weir::yield();
                stop.request_stop();
            };
            bool was_put = false;
            const auto putting = [&]() -> weir::task<> {
                was_put = co_await c[0].put(std::move(x), stop.get_token());
            };
            if (n == 6) {
                co_await weir::when_all(putting(), stopping());
            } else {
                co_await putting();
            }
            if (!was_put) {
                CHECK(x == make_item(0, n));  // the item stays with the caller
                break;
            }
            ++num_put;
        }
    });
    CHECK(failed == 0);
    CHECK(num_put == 4 + 2);
    const auto figures = c[0].stats();
    CHECK(figures.num_sent == 4);
    CHECK(figures.out.size == 2);
    CHECK(c[1].stats().in.size <= 4);
    CHECK(figures.credit_wait >= weir::duration(0));
}

TEST_CASE("a consumer that cancels leaves the items to the others, and no put succeeds without consumers") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        cluster ranks(3, seed);
        channels<item> c(ranks, 3, roles(1, 2, 2));
        std::multiset<std::uint32_t> got;
        const int failed = ranks.run([&](communicator of) -> weir::task<> {
            if (of.rank() == 0) {
                for (std::uint32_t n = 0;; ++n) {
                    item x = make_item(0, n);
                    if (!co_await c[0].put(std::move(x))) break;
                }
                c[0].close();
            } else {
                for (int i = 0; i < 5 * of.rank(); ++i) {
                    auto x = co_await c.of(of).get();
                    CHECK(x.has_value());
                }
                c.of(of).cancel();
                const auto none = co_await c.of(of).get();
                CHECK_FALSE(none.has_value());
            }
        });
        CHECK(failed == 0);
        for (int i = 0; i < 2000; ++i) {
            for (weir::mpi::detail::reactor* const r : ranks.all.polled) static_cast<void>(r->poll());
        }
        const int uneven = ranks.run([&](communicator of) -> weir::task<> {
            const auto b = co_await c.of(of).balance();
            CHECK(b.put == b.got + b.returned + b.remaining);
            CHECK(b.got == 15);
            CHECK(b.remaining == 0);
        });
        CHECK(uneven == 0);
    }
}

TEST_CASE("a pipeline takes from a channel between ranks, and another one puts into it") {
    cluster ranks(2, 11);
    channels<int> c(ranks, 2, roles(1, 1, 3));
    std::vector<int> numbers(50);
    for (int i = 0; i < 50; ++i) numbers[static_cast<std::size_t>(i)] = i;
    int sum = 0;
    const int failed = ranks.run([&](communicator of) -> weir::task<> {
        if (of.rank() == 0) {
            auto run = (weir::source(numbers) | weir::pipe([](int x) { return 2 * x; }) | weir::sink_to(c[0]))
                           .start(ranks.all);
            static_cast<void>(co_await run);
        } else {
            auto run = (weir::source(c[1]) | weir::sink(2)).start(ranks.all);
            while (true) {
                auto x = co_await run.next();
                if (!x) break;
                sum += *x;
            }
        }
    });
    CHECK(failed == 0);
    CHECK(sum == 2450);
}

TEST_CASE("a rank that neither puts nor gets does not wait for the others") {
    cluster ranks(3);
    std::vector<channel_options> what = roles(1, 1, 2);
    what.push_back({.capacity = 1, .puts = false, .gets = false});
    channels<item> c(ranks, 3, what);
    c[2].close();
    CHECK(stand_in::look().requests == 2);  // rank 0 and 1 listen
    std::multiset<std::uint32_t> got;
    CHECK(ranks.run([&](communicator of) -> weir::task<> {
        if (of.rank() == 0) co_await put_all(c[0], 0, 5);
        if (of.rank() == 1) co_await get_all(c[1], got);
        const auto b = co_await c.of(of).balance();
        CHECK(b.got == 5);
    }) == 0);
}

TEST_CASE("items go to the consumers in turn that are there and have given credit") {
    cluster ranks(3);
    channels<item> c(ranks, 3, roles(1, 2, 4));
    for (std::uint32_t n = 0; n < 4; ++n) CHECK(c[0].blocking_put(make_item(0, n)));
    settle(ranks);
    CHECK(c[1].stats().in.size == 2);
    CHECK(c[2].stats().in.size == 2);
    c[1].cancel();
    settle(ranks);
    for (std::uint32_t n = 4; n < 6; ++n) CHECK(c[0].blocking_put(make_item(0, n)));
    settle(ranks);
    CHECK(c[2].stats().in.size == 4);
    CHECK(c[1].stats().num_received == 2);
    CHECK(c[1].stats().num_returned == 0);  // what had come before is discarded
}

TEST_CASE("half of the credit is given back at once, and is added to what the producer has") {
    cluster ranks(2);
    channels<item> c(ranks, 2, roles(1, 1, 4));
    const auto put_then_get = [&](std::uint32_t count) {
        for (std::uint32_t n = 0; n < count; ++n) CHECK(c[0].blocking_put(make_item(0, n)));
        settle(ranks);
        for (int i = 0; i < 2; ++i) CHECK(c[1].blocking_get().has_value());
        settle(ranks);
    };
    put_then_get(2);
    CHECK(c[0].stats().num_sent == 2);
    put_then_get(5);
    CHECK(c[0].stats().num_sent == 7);  // 4, and one more for which the credit came late
    const auto sent = c[0].stats();
    CHECK(sent.credit_wait > weir::duration(0));
    CHECK(sent.wire > weir::duration(0));
    // Each third item has 40 numbers of 4 bytes, from the first one on; the others have 2.
    CHECK(sent.bytes_sent == 4 * (3 * 40 + 4 * 2));
    CHECK(c[1].stats().bytes_received == sent.bytes_sent);
}

TEST_CASE("the wait for credit counts while it lasts, from time 0 on, until a cancel or a failure ends it") {
    for (const bool fails : {false, true}) {
        cluster ranks(2);
        ranks.is_broken = fails;
        ranks.all.time = weir::time_point{};
        channels<item> c(ranks, 2, roles(1, 1, 1));
        for (std::uint32_t n = 0; n < 2; ++n) CHECK(c[0].blocking_put(make_item(0, n)));
        settle(ranks);
        CHECK(c[0].stats().num_sent == 1);
        for (int seconds = 1; seconds < 3; ++seconds) {
            *ranks.all.time += std::chrono::seconds(1);
            CHECK(c[0].stats().credit_wait == std::chrono::seconds(seconds));
        }
        if (fails) {
            ranks.at(0).fail("the disk is full");
        } else {
            c[1].cancel();
        }
        // Rank 1 goes no further: the channel of rank 0 has not ended yet after the cancel.
        for (int i = 0; i < 20; ++i) static_cast<void>(ranks.all.polled[0]->poll());
        *ranks.all.time += std::chrono::seconds(1);
        CHECK(c[0].stats().credit_wait == std::chrono::seconds(2));
    }
}

TEST_CASE("a poll receives at most half of the room: its credit returns while the other half is sent") {
    cluster ranks(3);
    channels<item> c(ranks, 3, roles(2, 1, 4));
    for (const int from : {0, 1}) {
        for (std::uint32_t n = 0; n < 4; ++n) CHECK(c[from].blocking_put(make_item(from, 3 * n + 1)));
        for (int i = 0; i < 100; ++i)
            static_cast<void>(ranks.all.polled.at(static_cast<std::size_t>(from))->poll());
    }
    std::vector<std::uint64_t> received;
    for (std::uint64_t before = 0, i = 0; i < 100; ++i) {
        static_cast<void>(ranks.all.polled.at(2)->poll());
        const std::uint64_t now = c[2].stats().num_received;
        if (now != before) received.push_back(now - before);
        before = now;
    }
    CHECK(received == std::vector<std::uint64_t>{4, 4});
    for (int i = 0; i < 8; ++i) CHECK(c[2].blocking_get().has_value());
}

TEST_CASE("all credit is given back, also what falls due while a message about credit is underway") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        cluster ranks(2, seed);
        channels<item> c(ranks, 2, roles(1, 1, 4));
        for (std::uint32_t n = 0; n < 4; ++n) CHECK(c[0].blocking_put(make_item(0, n)));
        settle(ranks);
        REQUIRE(c[1].stats().in.size == 4);
        for (std::uint32_t n = 0; n < 4; ++n) CHECK(c[1].blocking_get().has_value());
        settle(ranks);
        for (std::uint32_t n = 4; n < 8; ++n) CHECK(c[0].blocking_put(make_item(0, n)));
        settle(ranks);
        CHECK(c[0].stats().num_sent == 8);
        while (c[1].stats().in.size != 0) static_cast<void>(c[1].blocking_get());
    }
}

TEST_CASE("an error of MPI in a channel ends all ranks with the call, and nobody waits for ever") {
    int num_failures = 0;
    for (const char* const function :
         {"MPI_Isend", "MPI_Imrecv", "MPI_Improbe", "at the end of MPI_Isend", "at the end of MPI_Imrecv"}) {
        const bool at_end = function[0] == 'a';
        const std::string name = at_end ? std::string(function).substr(14) : function;
        for (int nth = 0; nth < 12; ++nth) {
            cluster ranks(3, static_cast<std::uint64_t>(nth));
            ranks.is_broken = true;
            std::multiset<std::uint32_t> got;
            channels<item> c(ranks, 3, roles(2, 1, 2));
            stand_in::fail(name, nth, MPI_ERR_INTERN, at_end);
            const int failed = ranks.run<weir::mpi::rank_failed>([&](communicator of) -> weir::task<> {
                if (of.rank() == 2) co_await get_all(c[2], got);
                if (of.rank() != 2) co_await put_all(c.of(of), of.rank(), 20);
                co_await of.barrier();
            });
            CHECK(failed == 3);
            const bool has_peer = name != "MPI_Improbe";
            CHECK(ranks.message.find(name + (has_peer ? " with rank " : " failed: ")) != std::string::npos);
            CHECK(ranks.message.find("MPI_ERR_INTERN") != std::string::npos);
            num_failures += failed;
        }
    }
    CHECK(num_failures == 5 * 12 * 3);
}

TEST_CASE("an exception that destroys a channel is a failure of the rank, and not the end for consumers") {
    cluster ranks(2);
    ranks.is_broken = true;
    std::vector<std::unique_ptr<channel<item>>> c(2);
    const auto make = [&](communicator of) -> weir::task<> {
        const channel_options both{.capacity = 2};
        auto plan = co_await channel<item>::plan(of, both);
        c[static_cast<std::size_t>(of.rank())] =
            std::make_unique<channel<item>>(std::move(plan), ranks.all, both);
    };
    REQUIRE(ranks.run(make) == 0);
    const auto produce = [&] {
        const auto mine = std::move(c[0]);
        CHECK(mine->blocking_put(make_item(0, 1)));
        throw std::runtime_error("the disk is full");
    };
    CHECK_THROWS_WITH(produce(), "the disk is full");  // does not wait for rank 1
    CHECK(ranks.at(0).must_report_failure());
    ranks.at(0).fail("the disk is full");
    CHECK_FALSE(ranks.at(0).must_report_failure());
    for (int i = 0; i < 1'000'000 && ranks.at(1).loop()->failure() == nullptr; ++i) {
        static_cast<void>(ranks.all.polled[0]->poll());
        static_cast<void>(ranks.all.polled[1]->poll());
    }
    const auto consume = [&] {
        while (c[1]->blocking_get()) {
        }
    };
    CHECK_THROWS_WITH(consume(), "weir: rank 0 failed: the disk is full");
}

TEST_CASE("a run that fails abandons its channel between ranks, and one that is stopped closes the channel") {
    for (const bool fails : {true, false}) {
        cluster ranks(2);
        ranks.is_broken = fails;
        channels<int> c(ranks, 2, roles(1, 1, 3));
        int num_got = 0;
        const auto work = [&](communicator of) -> weir::task<> {
            if (of.rank() == 1) {
                while (co_await c[1].get()) ++num_got;
                co_return;
            }
            weir::stop_source stops;
            std::string why;
            auto run = (weir::source(std::views::iota(0)) | weir::pipe([&](int x) {
                            if (x == 9 && fails) throw std::runtime_error("broken");
                            if (x == 9) stops.request_stop();
                            return x;
                        }) |
                        weir::sink_to(c[0]))
                           .start(ranks.all, {.stop = stops.get_token()});
            try {
                static_cast<void>(co_await run);
            } catch (const std::exception& e) {
                why = e.what();
            }
            CHECK((ranks.at(0).loop()->failure() != nullptr) == fails);
            if (fails) ranks.at(0).fail(why);
        };
        const int failed = ranks.run<weir::mpi::rank_failed>(work);
        CHECK(failed == (fails ? 1 : 0));
        CHECK(num_got <= 10);
        if (fails) CHECK(ranks.message.find("failed on item 9: broken") != std::string::npos);
    }
}

TEST_CASE("an exception that destroys a run abandons its channel between ranks") {
    cluster ranks(2);
    ranks.is_broken = true;
    channels<int> c(ranks, 2, roles(1, 1, 3));
    const auto produce = [&] {
        const auto run = (weir::source(std::views::iota(0)) | weir::sink_to(c[0])).start(ranks.all);
        throw std::runtime_error("the disk is full");
    };
    CHECK_THROWS_WITH(produce(), "the disk is full");
    CHECK(ranks.at(0).loop()->failure() != nullptr);
    ranks.at(0).fail("the disk is full");
    for (int i = 0; i < 1'000'000 && ranks.at(1).loop()->failure() == nullptr; ++i) {
        static_cast<void>(ranks.all.polled[0]->poll());
        static_cast<void>(ranks.all.polled[1]->poll());
    }
    const auto consume = [&] {
        while (c[1].blocking_get()) {
        }
    };
    CHECK_THROWS_WITH(consume(), "weir: rank 0 failed: the disk is full");
}

TEST_CASE(
    "a failure abandons a channel of one rank, too: its consumer does not take the failure for the end") {
    cluster ranks(1);
    ranks.is_broken = true;
    const channel_options both{.capacity = 4};
    const auto destroy = [&] {
        const channels<int> c(ranks, 1, {both});
        throw std::runtime_error("not of the channel");
    };
    CHECK_THROWS_WITH(destroy(), "not of the channel");
    CHECK(ranks.at(0).loop()->failure() == nullptr);  // nobody waits for what was destroyed

    channels<int> c(ranks, 1, {both});
    CHECK(c[0].blocking_put(3));
    settle(ranks);
    c[0].abandon();
    settle(ranks);
    CHECK(c[0].blocking_get() == 3);
    CHECK_THROWS_AS(static_cast<void>(c[0].blocking_get()), weir::mpi::rank_failed);
}

TEST_CASE("all ranks know what each rank does in a channel") {
    cluster ranks(3, 7);
    const int failed = ranks.run([](communicator c) -> weir::task<> {
        channel_options mine;
        mine.capacity = static_cast<std::size_t>(c.rank() + 1);
        mine.puts = c.rank() == 0;
        mine.gets = c.rank() != 0;
        const auto plan = co_await channel<int>::plan(c, mine);
        CHECK(plan.roles.size() == 3);
        CHECK(plan.roles[0].puts == 1);
        CHECK(plan.roles[0].gets == 0);
        CHECK(plan.roles[2].gets == 1);
        CHECK(plan.roles[2].capacity == 3);
        CHECK(plan.of.handle() != c.handle());
    });
    CHECK(failed == 0);
}

TEST_CASE("a channel without producers, consumers or room is refused on all ranks") {
    const std::size_t capacities[] = {4, 4, 0, std::size_t(1) << 32};
    for (std::size_t wrong = 0; wrong < 4; ++wrong) {
        cluster ranks(2);
        CHECK(ranks.run<std::invalid_argument>([&](communicator c) -> weir::task<> {
            channel_options mine;
            mine.puts = wrong != 0;
            mine.gets = wrong != 1;
            mine.capacity = c.rank() == 1 ? capacities[wrong] : 4;
            static_cast<void>(co_await channel<int>::plan(c, mine));
        }) == 2);
        CHECK(ranks.message ==
              "weir: a channel between ranks needs a rank that puts, a rank that gets, and on each "
              "a capacity from 1 to 4294967295");
    }
}

TEST_CASE("ranks that give one channel different item types are told so") {
    cluster ranks(2);
    ranks.is_broken = true;
    std::unique_ptr<channel<char>> letters;
    std::unique_ptr<channel<int>> numbers;
    CHECK(ranks.run([&](communicator c) -> weir::task<> {
        const channel_options mine{.puts = c.rank() == 0, .gets = c.rank() == 1};
        auto plan = co_await channel<int>::plan(c, mine);
        if (c.rank() == 0) letters = std::make_unique<channel<char>>(std::move(plan), ranks.all, mine);
        if (c.rank() == 1) numbers = std::make_unique<channel<int>>(std::move(plan), ranks.all, mine);
    }) == 0);
    CHECK(ranks.run<weir::mpi::rank_failed>([&](communicator c) -> weir::task<> {
        if (c.rank() == 0) static_cast<void>(co_await letters->put('a'));
        if (c.rank() == 1) static_cast<void>(co_await numbers->get());
    }) == 1);
    CHECK(
        ranks.message ==
        "weir: rank 1 failed: weir: what rank 0 has sent into a channel is no item of this rank's type: its "
        "size in bytes is 1; give the channel one item type on all ranks");
}

TEST_CASE("a channel that a coroutine destroys waits for other ranks, and other coroutines run meanwhile") {
    stand_in::reset({.ranks = 2});
    weir::mpi::world_options with_thread = without_thread();
    with_thread.own_thread = true;
    weir::mpi::detail::process here(with_thread);
    stand_in::as(1);
    weir::mpi::detail::process there(without_thread());
    const std::vector<weir::mpi::detail::role> roles{{true, false, 1}, {false, true, 1}};
    weir::thread_pool pool(1);
    channel<int> gets({communicator(there.all()), roles}, pool, {.capacity = 1, .puts = false});
    std::atomic<bool> is_ending = false, has_run = false, is_over = false;
    const auto puts = [&]() -> weir::task<> {
        channel<int> c({communicator(here.all()), roles}, pool, {.capacity = 1, .gets = false});
        for (int i = 0; i < 3; ++i) co_await c.put(int(i));
        co_await weir::yield();
        is_ending = true;
    };
    const auto other = [&]() -> weir::task<> {
        while (!is_ending) co_await weir::yield();
        has_run = true;
    };
    std::thread runs([&] {
        weir::sync_wait(pool, weir::when_all(puts(), other()));
        is_over = true;
    });
    while (!has_run) std::this_thread::yield();
    CHECK_FALSE(is_over);
    gets.cancel();
    while (!is_over) static_cast<void>(there.loop()->poll());
    runs.join();
}
