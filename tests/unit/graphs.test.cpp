// Random graphs of all kinds of stages, on virtual time: what comes out is what a program without any
// concurrency would give, and the accounts of every stage and queue balance, in every lap.
#include <weir/run/running_stage.hpp>

#include "support/catch.hpp"
#include "support/graphs.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/sink.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <random>
#include <string>
#include <utility>

using namespace graphs;

namespace {

template <bool Epochs>
void check_graphs(std::uint64_t from, std::uint64_t to) {
    std::size_t laps = 0, taken = 0, acted = 0;
    for (std::uint64_t number = from; number < to; ++number) {
        complaints wrong("graph " + std::to_string(number));
        std::mt19937_64 random(number);
        const auto pick = [&random](int least, int most) {
            return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
        };
        random_graph<Epochs, weir::policies<weir::measured>, decltype(pick)> graph(pick);
        graph.run([&](auto description, std::size_t capacity, expectation expected) {
            weir::virtual_time time(random() % 7);
            const duration lap(pick(20, 2'000));
            // Some without epochs have an end of their own, which acts on the items.
            const bool acts = !Epochs && pick(0, 3) == 0;
            weir::run_options options{.max_failures = weir::unlimited,
                                      .lap = lap,
                                      .on_lap = [&](const pipeline_stats& s) {
                                          ++laps;
                                          check_accounts(s, wrong, true, !acts);
                                      }};
            if (pick(0, 3) == 0) options.max_bytes = static_cast<std::size_t>(pick(1, 60));
            options.later_stages_first = pick(0, 3) == 0;
            const duration foreground(pick(0, 1) == 0 ? 0 : pick(1, 50));
            lists got;
            const auto finish = [&](auto& going) {
                for (const ints& each : got) taken += each.size();
                if (!expected.ordered) {
                    for (ints& each : got) std::ranges::sort(each);
                    for (ints& each : expected.items) std::ranges::sort(each);
                }
                wrong.check(got == expected.items, "run", "gives what a program without concurrency gives");
                if (!expected.whole) going.stop();
                const pipeline_stats end = going.stats();
                check_accounts(end, wrong, true, !acts);
                check_total(end, wrong);
                check_end(end, expected.whole, wrong);
                if (!expected.whole) return;
                std::uint64_t failures = 0;
                for (const stage_stats& stage : end.stages) failures += stage.num_failures;
                wrong.check(failures == expected.failures, "run", "as many items fail as should");
            };
            if (acts) {
                got.emplace_back();
                const auto act = [&got, foreground](int n) -> task<> {
                    if (foreground > 0ns) co_await weir::sleep_for(foreground);
                    got.back().push_back(n);
                };
                const std::size_t slots = expected.ordered ? 1 : capacity;
                auto going =
                    (std::move(description) | weir::for_each(act, {.name = "act", .concurrency = slots}))
                        .start(time, std::move(options));
                const weir::run_result all = going.wait();
                wrong.check(all.items == got.back().size(), "run", "counts the items on which its end acted");
                finish(going);
                ++acted;
                return;
            }
            const auto pipeline = std::move(description) | weir::sink(capacity);
            auto going = pipeline.start(time, std::move(options));
            try {
                const auto take = [&](int n) {
                    got.back().push_back(n);
                    if (foreground > 0ns) time.run_until(time.now() + foreground);
                };
                if constexpr (Epochs) {
                    for (auto& epoch : going.epochs()) {
                        got.emplace_back();
                        for (const int n : epoch) take(n);
                    }
                } else {
                    got.emplace_back();
                    for (const int n : going) take(n);
                }
            } catch (const std::exception& e) {
                wrong.check(false, "run", e.what());
                return;
            }
            finish(going);
        });
        if (!wrong.text().empty()) FAIL_CHECK(wrong.text());
    }
    CHECK(laps > 50);
    CHECK(taken > 3'000);
    CHECK((acted > 25) == !Epochs);
}

}  // namespace

TEST_CASE("250 random graphs give what a program without concurrency gives, and their accounts balance") {
    check_graphs<false>(0, 250);
}

TEST_CASE("250 random graphs with epochs do, too, and no item is in the epoch of another") {
    check_graphs<true>(1'000, 1'250);
}
