#include <weir/mpi/communicator.hpp>

#include "mpi/support.hpp"

#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>

#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace mpi_tests;
using weir::mpi::any_rank;
using weir::mpi::any_tag;
using weir::mpi::error;
using weir::mpi::reduction;

namespace {

weir::task<> pass_on_a_token(communicator c) {
    const int next = (c.rank() + 1) % c.size();
    const int before = (c.rank() + c.size() - 1) % c.size();
    std::vector<int> sent(100, c.rank());
    std::vector<int> got(200, -1);
    const auto send = [](communicator of, std::span<const int> what, int to) -> weir::task<> {
        co_await of.send(what, to, 7);
    };
    weir::task<> sending = send(c, sent, next);
    const auto receive = [&]() -> weir::task<> {
        const auto r = co_await c.recv(std::span(got), before, 7);
        CHECK(r.from == before);
        CHECK(r.tag == 7);
        CHECK(r.count == 100);
    };
    co_await weir::when_all(std::move(sending), receive());
    CHECK(got[99] == before);
    CHECK(got[100] == -1);
}

}  // namespace

TEST_CASE("each rank gets what the rank before it sends, whatever the order of messages") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        cluster ranks(4, seed);
        CHECK(ranks.run(pass_on_a_token) == 0);
    }
}

TEST_CASE("a request that the program has begun itself is awaited") {
    cluster ranks(2, 1);
    const int failed = ranks.run([](communicator c) -> weir::task<> {
        const int other = 1 - c.rank();
        const int sent = 10 + c.rank();
        int got = -1;
        MPI_Request sending, receiving;
        CHECK(MPI_Irecv(&got, 1, MPI_INT32_T, other, 3, c.handle(), &receiving) == MPI_SUCCESS);
        CHECK(MPI_Isend(&sent, 1, MPI_INT32_T, other, 3, c.handle(), &sending) == MPI_SUCCESS);
        co_await c.wait(receiving);
        CHECK(got == 10 + other);
        co_await c.wait(sending);
    });
    CHECK(failed == 0);
}

TEST_CASE("reductions, broadcasts and gathers give what MPI defines") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        cluster ranks(3, seed);
        const int failed = ranks.run([](communicator c) -> weir::task<> {
            co_await c.barrier();
            std::vector<double> x{1.0 + c.rank(), -1.0 * c.rank()};
            co_await c.all_reduce(std::span(x), reduction::sum);
            CHECK(x == std::vector<double>{6, -3});
            std::vector<std::int64_t> y{c.rank()};
            co_await c.reduce(std::span(y), reduction::largest, 1);
            CHECK(y[0] == (c.rank() == 1 ? 2 : c.rank()));
            std::vector<std::uint8_t> z{static_cast<std::uint8_t>(c.rank() + 5)};
            co_await c.all_reduce(std::span(z), reduction::smallest);
            CHECK(z[0] == 5);
            int b = c.rank() == 2 ? 42 : 0;
            co_await c.broadcast(std::span(&b, 1), 2);
            CHECK(b == 42);
            const std::vector<int> mine{c.rank(), 10 * c.rank()};
            std::vector<int> all(6);
            co_await c.all_gather(std::span(mine), std::span(all));
            CHECK(all == std::vector<int>{0, 0, 1, 10, 2, 20});
            std::vector<int> at_root(c.rank() == 0 ? 6 : 0);
            co_await c.gather(std::span(mine), std::span(at_root), 0);
            if (c.rank() == 0) CHECK(at_root == all);
        });
        CHECK(failed == 0);
    }
}

TEST_CASE(
    "spans of a fixed extent, and of elements that are not const, are sent, received, reduced and gathered") {
    cluster ranks(2, 1);
    const int failed = ranks.run([](communicator c) -> weir::task<> {
        std::array<int, 2> data{5, 6};
        if (c.rank() == 0) {
            co_await c.send(std::span(data), 1);
            co_await c.send(std::span(std::as_const(data)), 1);
            std::vector<int> more{7};
            co_await c.send(std::span(more), 1);
        } else {
            std::array<int, 3> got{};
            const auto first = co_await c.recv(std::span(got), 0);
            CHECK(first.count == 2);
            CHECK(got == std::array{5, 6, 0});
            weir::stop_source source;
            const auto second = co_await c.recv(std::span(got), 0, 0, source.get_token());
            CHECK(second->count == 2);
            const auto third = co_await c.recv(std::span(got).first<1>(), 0);
            CHECK(third.count == 1);
            CHECK(got[0] == 7);
        }
        std::array<long, 2> sums{c.rank() + 1, 10};
        co_await c.all_reduce(std::span(sums), reduction::sum);
        CHECK(sums == std::array{3L, 20L});
        co_await c.reduce(std::span(sums), reduction::largest, 0);
        std::array<double, 1> given{c.rank() == 1 ? 2.5 : 0};
        co_await c.broadcast(std::span(given), 1);
        CHECK(given[0] == 2.5);
        std::array<int, 1> mine{c.rank()};
        std::array<int, 2> all{-1, -1};
        co_await c.all_gather(std::span(mine), std::span(all));
        CHECK(all == std::array{0, 1});
        std::vector<int> at_root(2);
        co_await c.gather(std::span(std::as_const(mine)), std::span(at_root), 0);
        if (c.rank() == 0) CHECK(at_root == std::vector{0, 1});
    });
    CHECK(failed == 0);
}

TEST_CASE("bytes of different sizes are gathered, and bytes of any size are broadcast") {
    cluster ranks(3, 5);
    const int failed = ranks.run([](communicator c) -> weir::task<> {
        const std::vector<std::byte> mine(static_cast<std::size_t>(2 * c.rank()), std::byte(c.rank()));
        const auto all = co_await c.gather_bytes(mine, 1);
        REQUIRE(all.size() == (c.rank() == 1 ? 3U : 0U));
        for (std::size_t r = 0; r < all.size(); ++r)
            CHECK(all[r] == std::vector<std::byte>(2 * r, std::byte(r)));
        std::vector<std::byte> given(c.rank() == 2 ? 1000 : 3, std::byte{9});
        const auto got = co_await c.broadcast_bytes(std::move(given), 2);
        CHECK(got == std::vector<std::byte>(1000, std::byte{9}));
    });
    CHECK(failed == 0);
}

TEST_CASE("a split makes a group for each colour, ordered by the key, whose messages are apart") {
    cluster ranks(5, 3);
    const int failed = ranks.run([](communicator c) -> weir::task<> {
        const int colour = c.rank() == 4 ? any_rank : c.rank() % 2;
        const communicator half = co_await c.split(colour, -c.rank());
        CHECK(bool(half) == (c.rank() != 4));
        if (half) {
            CHECK(half.size() == 2);
            CHECK(half.rank() == (c.rank() < 2 ? 1 : 0));
            int sum = c.rank();
            co_await half.all_reduce(std::span(&sum, 1), reduction::sum);
            CHECK(sum == 2 + 2 * (c.rank() % 2));
        }
        const communicator twin = co_await c.duplicate();
        CHECK(twin.rank() == c.rank());
        co_await twin.barrier();
    });
    CHECK(failed == 0);
}

TEST_CASE("a probe finds a message and leaves it, and any rank and any tag will do") {
    cluster ranks(2, 1);
    const int failed = ranks.run([](communicator c) -> weir::task<> {
        const std::string text = "to be probed";
        if (c.rank() == 0) {
            co_await c.send(std::span<const char>(text), 1, 3);
        } else {
            const auto found = co_await c.probe();
            CHECK(found.from == 0);
            CHECK(found.tag == 3);
            std::vector<char> got(found.count);
            co_await c.recv(std::span(got), found.from, found.tag);
            CHECK(std::string(got.begin(), got.end()) == text);
        }
    });
    CHECK(failed == 0);
}

TEST_CASE("a stop ends a receive and a probe, and no message is lost") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        cluster ranks(2, seed);
        weir::stop_source source;
        const int failed = ranks.run([&](communicator c) -> weir::task<> {
            int x = 0;
            if (c.rank() == 0) {
                co_await c.barrier();
                source.request_stop();
                const int late = 5;
                co_await c.send(std::span(&late, 1), 1, 1);
            } else {
                const auto stopping = [](communicator of) -> weir::task<> { co_await of.barrier(); };
                weir::task<> both = stopping(c);
                const auto receiving = [&]() -> weir::task<> {
                    const auto got = co_await c.recv(std::span(&x, 1), 0, 1, source.get_token());
                    if (!got) co_await c.recv(std::span(&x, 1), 0, 1);
                };
                co_await weir::when_all(std::move(both), receiving());
                CHECK(x == 5);
                const auto none = co_await c.probe(any_rank, any_tag, source.get_token());
                CHECK_FALSE(none.has_value());
            }
        });
        CHECK(failed == 0);
    }
}

TEST_CASE("an error of MPI names the call, the rank and the class") {
    cluster ranks(2);
    ranks.is_broken = true;
    stand_in::fail("MPI_Irecv", 0, MPI_ERR_NO_MEM);
    int x = 0;
    CHECK(ranks.run<error>([&](communicator c) -> weir::task<> {
        if (c.rank() == 1) co_await c.recv(std::span(&x, 1), 0);
    }) == 1);
    CHECK(ranks.message == "weir: MPI_Irecv with rank 0 failed: MPI_ERR_NO_MEM");
}

TEST_CASE("a message that is too long for its receive is an error") {
    cluster ranks(2, 2);
    CHECK(ranks.run<error>([](communicator c) -> weir::task<> {
        std::vector<int> data(c.rank() == 0 ? 5 : 4);
        if (c.rank() == 0) co_await c.send(std::span<const int>(data), 1);
        if (c.rank() == 1) co_await c.recv(std::span(data), 0);
    }) == 1);
    CHECK(ranks.message == "weir: MPI_Irecv with rank 0 failed: MPI_ERR_TRUNCATE");
}

TEST_CASE("an operation that fails at its end fails its await alone") {
    for (int nth = 0; nth < 4; ++nth) {
        cluster ranks(2, 4);
        ranks.is_broken = true;
        stand_in::fail("MPI_Ibarrier", nth, MPI_ERR_OTHER, true);
        int num_errors = 0;
        CHECK(ranks.run([&](communicator c) -> weir::task<> {
            for (int i = 0; i < 2; ++i) {
                try {
                    co_await c.barrier();
                } catch (const error& e) {
                    CHECK(std::string(e.what()) == "weir: MPI_Ibarrier failed: MPI_ERR_OTHER");
                    ++num_errors;
                }
            }
        }) == 0);
        CHECK(num_errors == 1);
    }
}

TEST_CASE("a stop ends a receive also if the first MPI_Cancel fails") {
    cluster ranks(1);
    stand_in::fail("MPI_Cancel");
    weir::stop_source source;
    CHECK(ranks.run([&](communicator c) -> weir::task<> {
        int x = 0;
        const auto receiving = [&]() -> weir::task<> {
            const auto none = co_await c.recv(std::span(&x, 1), 0, 1, source.get_token());
            CHECK_FALSE(none.has_value());
        };
        const auto stopping = [&]() -> weir::task<> {
            co_await weir::yield();
            source.request_stop();
        };
        co_await weir::when_all(receiving(), stopping());
    }) == 0);
    CHECK(stand_in::num_calls("MPI_Cancel") == 2);
}

TEST_CASE("if MPI can't tell what became of a receive, the receive is an error") {
    cluster ranks(1);
    stand_in::fail("MPI_Test_cancelled", 0, MPI_ERR_INTERN);
    weir::stop_source source;
    CHECK(ranks.run<error>([&](communicator c) -> weir::task<> {
        int x = 0;
        const auto receiving = [&]() -> weir::task<> {
            co_await c.recv(std::span(&x, 1), 0, 1, source.get_token());
        };
        const auto stopping = [&]() -> weir::task<> {
            co_await weir::yield();
            source.request_stop();
        };
        co_await weir::when_all(receiving(), stopping());
    }) == 1);
    CHECK(ranks.message == "weir: MPI_Irecv with rank 0 failed: MPI_ERR_INTERN");
}

TEST_CASE("a message whose number of elements is unknown is an error") {
    const auto receive = [](communicator c) -> weir::task<> {
        const std::vector<char> data(6);
        std::vector<int> into(2);
        const auto sending = [&]() -> weir::task<> { co_await c.send(std::span<const char>(data), 0); };
        const auto receiving = [&]() -> weir::task<> { co_await c.recv(std::span(into)); };
        co_await weir::when_all(sending(), receiving());
    };
    {
        cluster ranks(1);
        CHECK(ranks.run<error>(receive) == 1);
        CHECK(ranks.message == "weir: MPI_Get_count failed: MPI_ERR_TYPE");
    }
    cluster ranks(1);
    stand_in::fail("MPI_Get_count", 0, MPI_ERR_INTERN);
    CHECK(ranks.run<error>(receive) == 1);
    CHECK(ranks.message == "weir: MPI_Get_count failed: MPI_ERR_INTERN");
}

TEST_CASE("a group that can't be made names the call that failed, and leaves nothing") {
    for (const char* const name : {"MPI_Comm_group", "MPI_Group_incl", "MPI_Comm_create_group",
                                   "MPI_Comm_set_errhandler", "MPI_Comm_rank", "MPI_Comm_size"}) {
        cluster ranks(1);
        stand_in::fail(name);
        CHECK(ranks.run<error>([](communicator c) -> weir::task<> { co_await c.duplicate(); }) == 1);
        CHECK(ranks.message == "weir: " + std::string(name) + " failed: MPI_ERR_OTHER");
    }
}

TEST_CASE("what MPI forbids is refused with a sentence") {
    cluster ranks(2);
    const communicator c = ranks.of(0);
    std::vector<int> x(3);
    const std::span<const int> data(x);
    CHECK_THROWS_WITH(c.send(data, 2), "weir: there is no rank 2 here; ranks are 0 to 1");
    CHECK_THROWS_WITH(c.recv(std::span(x), -2), "weir: there is no rank -2 here; ranks are 0 to 1");
    CHECK_THROWS_WITH(c.send(data, 1, -1), "weir: tags of messages are 0 or more, and this is -1");
    CHECK_THROWS_WITH(c.broadcast(std::span(x), 7), "weir: there is no rank 7 here; ranks are 0 to 1");
    CHECK_THROWS_WITH(c.all_gather(data, std::span(x)),
                      "weir: a gather of 3 elements from each of 2 ranks has no room in 3 elements");
    CHECK_THROWS_WITH(c.split(-5), "weir: a colour is 0 or more, or any_rank for no group, and this is -5");
    CHECK_THROWS_AS(communicator().rank(), std::logic_error);
    const std::span<const int> many(x.data(), std::size_t{1} << 31U);
    CHECK_THROWS_AS(c.send(many, 1), std::length_error);
}

TEST_CASE("after the end of the world an operation is refused, not begun") {
    stand_in::reset();
    stand_in::as(0);
    communicator kept;
    {
        weir::mpi::world w(without_thread());
        kept = w;
    }
    CHECK_THROWS_AS(weir::sync_wait(kept.barrier()), std::logic_error);
    CHECK(stand_in::look().wrong.empty());
}
