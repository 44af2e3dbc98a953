#include <weir/run/progress_recorder.hpp>

#include "support/catch.hpp"

#include <weir/sampling/sampler.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

using weir::detail::origin;
using weir::detail::progress_recorder;
using weir::detail::provenance;

namespace {

provenance of(progress_recorder& recorder, std::uint64_t position) {
    return provenance(0, std::make_shared<origin>(position, recorder));
}
void take(progress_recorder& recorder, std::uint64_t position) { of(recorder, position).acknowledge(true); }

}  // namespace

TEST_CASE("several threads settle items at once, and a checkpoint has either all draws of an item or none") {
    const weir::sampler all({.size = 4001});
    progress_recorder recorder(all.start());
    std::vector<std::thread> threads;
    std::atomic<int> left{2};
    for (std::uint64_t t = 0; t < 2; ++t) {
        threads.emplace_back([&recorder, &left, t] {
            for (std::uint64_t i = 4 * t; i < 4000; i += 8) {
                provenance batch;
                for (std::uint64_t k = 0; k < 4; ++k) batch.add(of(recorder, i + k));
                batch.acknowledge(true);
            }
            --left;
        });
    }
    while (left != 0) {
        const auto now = recorder.checkpoint();  // at any time
        if ((now.watermark() + now.ahead().size()) % 4 != 0) FAIL("it has a part of a batch");
        std::this_thread::yield();
    }
    for (auto& t : threads) t.join();
    CHECK(recorder.checkpoint().watermark() == 4000);
    CHECK(recorder.checkpoint().ahead().empty());
}

TEST_CASE("an error while an item is settled is thrown by the next checkpoint") {
    const weir::sampler all({.size = 10});
    progress_recorder recorder(all.start());
    take(recorder, 3);
    CHECK(recorder.checkpoint().ahead().size() == 1);
    take(recorder, 3);
    CHECK_THROWS_AS(recorder.checkpoint(), std::invalid_argument);
}

TEST_CASE("there is no checkpoint while the consumer has only some results of a draw") {
    const weir::sampler all({.size = 10});
    progress_recorder recorder(all.start());
    provenance one = of(recorder, 0);
    provenance other = one.share();
    CHECK(recorder.checkpoint().watermark() == 0);
    one.acknowledge(true);
    CHECK_THROWS_AS(recorder.checkpoint(), std::logic_error);
    other.acknowledge(true);
    CHECK(recorder.checkpoint().watermark() == 1);
}
