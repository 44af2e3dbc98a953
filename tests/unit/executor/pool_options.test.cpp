#include <weir/executor/pool_options.hpp>

#include "support/catch.hpp"

TEST_CASE("a pool that is told nothing has the usual most of workers, and no hook") {
    const weir::thread_pool_options options;
    CHECK(options.most_workers == 0);
    CHECK_FALSE(options.on_thread_start);
    CHECK_FALSE(weir::blocking_pool_options().on_thread_start);
}
