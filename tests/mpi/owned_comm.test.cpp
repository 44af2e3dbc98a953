#include <weir/mpi/owned_comm.hpp>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mpi/support.hpp"

using namespace mpi_tests;
using weir::mpi::detail::creation_turns;
using turn = creation_turns::turn;
using weir::mpi::detail::elements;
using weir::mpi::detail::leaked_on_failure;

namespace {
struct sample {
    double position[3];
    int label;
};
}  // namespace

TEST_CASE("numbers are sent by their type, and all else as bytes") {
    CHECK(elements<int>::type() == MPI_INT32_T);
    CHECK(elements<unsigned char>::type() == MPI_UINT8_T);
    CHECK(elements<std::size_t>::type() == MPI_UINT64_T);
    CHECK(elements<long double>::type() == MPI_LONG_DOUBLE);
    CHECK(elements<float>(7).count == 7);
    CHECK(elements<std::byte>::type() == MPI_BYTE);
    CHECK(elements<bool>::type() == MPI_BYTE);
    CHECK(elements<sample>::type() == MPI_BYTE);
    CHECK(elements<sample>(3).count == 3 * int{sizeof(sample)});
}

TEST_CASE("a number for which MPI has no type is sent as bytes, also with GNU extensions") {
    using weir::mpi::detail::number;
    STATIC_REQUIRE(number<char>);
    STATIC_REQUIRE(number<wchar_t>);
    STATIC_REQUIRE(number<long long>);
    STATIC_REQUIRE(number<long double>);
    STATIC_REQUIRE_FALSE(number<bool>);
#ifdef __SIZEOF_INT128__
    __extension__ using wide = __int128;
    STATIC_REQUIRE_FALSE(number<wide>);
    CHECK(elements<wide>::type() == MPI_BYTE);
    CHECK(elements<wide>(3).count == 3 * int{sizeof(wide)});
#endif
}

TEST_CASE("more elements than MPI can count are refused") {
    constexpr auto most = std::size_t{INT_MAX};
    CHECK(elements<int>(most).count == INT_MAX);
    CHECK_THROWS_AS(elements<int>(most + 1), std::length_error);
    CHECK_THROWS_AS(elements<sample>(most / sizeof(sample) + 1), std::length_error);
}

TEST_CASE("the last owner of a communicator frees it on a thread that may call MPI") {
    cluster ranks(1);
    const std::size_t before = stand_in::look().communicators;
    {
        const communicator twin = weir::sync_wait(ranks.all, ranks.of(0).duplicate());
        CHECK(stand_in::look().communicators == before + 1);
        const communicator copy = twin;  // NOLINT(performance-unnecessary-copy-initialization): shares it
        CHECK(copy.handle() == twin.handle());
    }
    CHECK(stand_in::look().communicators == before);
}

TEST_CASE("memory that MPI may use stays after a failure, and only then") {
    cluster ranks(1);
    ranks.is_broken = true;
    const auto before = std::make_shared<int>(1);
    const auto after = std::make_shared<int>(2);
    {
        leaked_on_failure<std::shared_ptr<int>> held(ranks.of(0), before);
        CHECK(**held == 1);
    }
    CHECK(before.use_count() == 1);
    {
        const leaked_on_failure<std::shared_ptr<int>> held(ranks.of(0), after);
        ranks.at(0).fail("no disk");
    }
    CHECK(after.use_count() == 2);
}

TEST_CASE("no number is proposed twice, by one rank or by two") {
    creation_turns first(0);
    creation_turns second(1);
    const std::uint64_t a = first.propose();
    const std::uint64_t b = second.propose();
    const std::uint64_t c = first.propose();
    CHECK(a != b);
    CHECK(b != c);
    CHECK(c > a);
    CHECK(a != 0);
}

TEST_CASE("a rank lets one creation go on at a time") {
    creation_turns here(0);
    turn only(here, 7);
    CHECK(only.approve());
    CHECK(only.approve());
    turn lower(here, 5);
    CHECK_FALSE(lower.approve());
    CHECK(only.approve());
    only.withdraw();
    CHECK_FALSE(only.approve());
    CHECK(lower.approve());
}

TEST_CASE("a creation lets those with lower numbers go first, in whatever order they come") {
    creation_turns here(0);
    turn last(here, 9);
    {
        turn first(here, 3);
        turn second(here, 6);
        CHECK_FALSE(last.approve());
        CHECK_FALSE(second.approve());
        CHECK(first.approve());
        CHECK_FALSE(second.approve());
    }
    CHECK(last.approve());
}

TEST_CASE("ranks that let different creations go on give way, and then agree") {
    creation_turns left(0);
    creation_turns right(1);
    turn a_left(left, 1);
    turn b_right(right, 2);
    CHECK(a_left.approve());
    CHECK(b_right.approve());
    turn b_left(left, 2);
    turn a_right(right, 1);
    CHECK_FALSE(b_left.approve());   // so b withdraws
    CHECK_FALSE(a_right.approve());  // so a withdraws
    a_left.withdraw();
    b_right.withdraw();
    CHECK_FALSE(b_right.approve());
    CHECK(a_right.approve());
    CHECK(a_left.approve());
}
