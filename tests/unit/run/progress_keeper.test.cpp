#include <weir/run/progress_keeper.hpp>

#include "support/catch.hpp"

#include <weir/sampling/sampler.hpp>

#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

using weir::detail::progress_keeper;

TEST_CASE("a keeper is told by several threads, and knows all of it") {
    const weir::sampler all({.size = 4000});
    progress_keeper keeper(all.start());
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&keeper, t] {
            for (std::uint64_t i = t; i < 3999; i += 4) keeper.finished(i);
        });
    }
    static_cast<void>(keeper.checkpoint());  // at any time
    for (auto& t : threads) t.join();
    CHECK(keeper.checkpoint().watermark() == 3999);
    CHECK(keeper.checkpoint().ahead().empty());
}

TEST_CASE("what a keeper was told wrongly is told by whoever asks for the checkpoint") {
    const weir::sampler all({.size = 10});
    progress_keeper keeper(all.start());
    keeper.finished(3);
    CHECK(keeper.checkpoint().ahead().size() == 1);
    keeper.finished(3);
    CHECK_THROWS_AS(keeper.checkpoint(), std::invalid_argument);
}
