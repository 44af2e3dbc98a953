#include <weir/mpi/channel_plan.hpp>

#include "mpi/support.hpp"

#include <stdexcept>
#include <string>

using namespace mpi_tests;
using weir::mpi::channel_options;
using weir::mpi::detail::plan_channel;

TEST_CASE("all ranks know what each rank does in a channel") {
    cluster ranks(3, 7);
    const int failed = ranks.run([](communicator c) -> weir::task<> {
        channel_options mine;
        mine.capacity = static_cast<std::size_t>(c.rank() + 1);
        mine.puts = c.rank() == 0;
        mine.gets = c.rank() != 0;
        const auto plan = co_await plan_channel(c, mine);
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
    for (int wrong = 0; wrong < 3; ++wrong) {
        cluster ranks(2);
        CHECK(ranks.run<std::invalid_argument>([&](communicator c) -> weir::task<> {
            channel_options mine;
            mine.puts = wrong != 0;
            mine.gets = wrong != 1;
            mine.capacity = wrong == 2 && c.rank() == 1 ? 0 : 4;
            static_cast<void>(co_await plan_channel(c, mine));
        }) == 2);
        CHECK(ranks.message ==
              "weir: a channel between ranks needs a rank that puts, a rank that gets, and a "
              "capacity of at least 1 on each");
    }
}
