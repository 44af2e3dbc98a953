#include <weir/mpi/lasting.hpp>

#include "mpi/support.hpp"

#include <memory>
#include <utility>

using namespace mpi_tests;
using weir::mpi::detail::lasting;

TEST_CASE("memory that MPI may use stays after a failure, and only then") {
    cluster ranks(1);
    ranks.is_broken = true;
    const auto before = std::make_shared<int>(1);
    const auto after = std::make_shared<int>(2);
    {
        lasting<std::shared_ptr<int>> held(ranks.of(0), before);
        CHECK(**held == 1);
    }
    CHECK(before.use_count() == 1);
    {
        const lasting<std::shared_ptr<int>> held(ranks.of(0), after);
        ranks.at(0).fail("no disk");
    }
    CHECK(after.use_count() == 2);
}
