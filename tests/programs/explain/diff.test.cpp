// Pairs of runs on virtual time: is a stage that takes 10 % longer named, and is nothing named if both runs are equal but
// for the draws of their times? Other seeds: WEIR_DIFF_SEED in the environment.
#include <weir/insight/diff.hpp>

#include "support/catch.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/insight/recording.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <ranges>
#include <string>
#include <vector>

namespace {

enum class distribution { constant, exponential, log_normal };

struct stage_spec {
    std::string name;
    distribution times = distribution::constant;
    double sigma = 0;  // of a log-normal distribution
    double mean_ns = 1e7;
    std::size_t concurrency = 1;
    std::size_t capacity = 2;
    bool in_order = false;
};

struct run_spec {
    std::vector<stage_spec> stages;
    int num_items = 0;
};

// Draws times as a server would take them.
class clock_of_stage {
  public:
    clock_of_stage(const stage_spec& spec, std::uint64_t seed) : spec_(spec), random_(seed) {}
    weir::duration next() {
        double time = 1;
        if (spec_.times == distribution::exponential) time = std::exponential_distribution<>(1)(random_);
        if (spec_.times == distribution::log_normal)
            time =
                std::exp(spec_.sigma * std::normal_distribution<>()(random_) - spec_.sigma * spec_.sigma / 2);
        return weir::duration(static_cast<std::int64_t>(spec_.mean_ns * time + 0.5));
    }

  private:
    stage_spec spec_;
    std::mt19937_64 random_;
};

template <std::size_t Left, class Pipeline>
weir::pipeline_stats run_rest(Pipeline so_far, const run_spec& spec, std::uint64_t seed) {
    const std::size_t at = 6 - Left;
    if constexpr (Left == 0) {
        weir::virtual_time time;
        auto run = (std::move(so_far) | weir::sink(3)).start(time);
        while (run.get()) continue;
        return run.stats();
    } else {
        if (at == spec.stages.size()) return run_rest<0>(std::move(so_far), spec, seed);
        const stage_spec& s = spec.stages[at];
        auto clock = std::make_shared<clock_of_stage>(s, 1'000 * seed + at);
        return run_rest<Left - 1>(std::move(so_far) |
                                      weir::pipe(
                                          [clock](int n) -> weir::task<int> {
                                              co_await weir::sleep_for(clock->next());
                                              co_return n;
                                          },
                                          {.name = s.name,
                                           .concurrency = s.concurrency,
                                           .output_order = s.in_order ? weir::output_order::input
                                                                      : weir::output_order::completion,
                                           .capacity = s.capacity}),
                                  spec, seed);
    }
}

weir::pipeline_stats run_of(const run_spec& spec, std::uint64_t seed) {
    return run_rest<6>(weir::source(std::views::iota(0, spec.num_items)), spec, seed);
}

// 3 to 6 stages of any kind. There are as many items as show a change of 10 %: 6,000 if the times vary as much as their mean.
run_spec random_spec(std::mt19937_64& random) {
    const auto to = [&](int most) { return std::uniform_int_distribution<>(0, most)(random); };
    run_spec spec;
    const int num_stages = 3 + to(3);
    for (int i = 0; i < num_stages; ++i) {
        stage_spec s{.name = "s" + std::to_string(i)};
        s.times = static_cast<distribution>(to(2));
        constexpr double sigmas[] = {0.25, 0.5, 1};
        s.sigma = sigmas[to(2)];
        s.concurrency = static_cast<std::size_t>(1 + to(3));
        s.mean_ns = 1e6 * (2 + to(18)) * static_cast<double>(s.concurrency);
        s.capacity = static_cast<std::size_t>(1 + to(7));
        s.in_order = to(3) == 0;
        spec.stages.push_back(s);
    }
    spec.num_items = 7'000;
    return spec;
}

std::uint64_t first_seed() {
    const char* const text = std::getenv("WEIR_DIFF_SEED");
    return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

struct outcome {
    int pairs = 0;
    int named = 0;        // the stage that changed
    int named_wrong = 0;  // another one
    int any = 0;
};

// `slower`: one stage, chosen at random, takes 10 % longer in the second run.
template <class Compare>
outcome compare_pairs(bool slower, Compare compare) {
    outcome all;
    for (std::uint64_t i = 0; i < 100; ++i) {
        const std::uint64_t seed = first_seed() + i + (slower ? 50'000 : 0);
        std::mt19937_64 random(seed);
        const run_spec before = random_spec(random);
        run_spec after = before;
        const std::size_t changed = random() % after.stages.size();
        if (slower) after.stages[changed].mean_ns *= 1.1;
        const weir::run_difference found = compare(run_of(before, 2 * seed), run_of(after, 2 * seed + 1));
        CHECK(found.refused.empty());
        ++all.pairs;
        all.any += found.has_difference();
        for (const weir::stage_difference& each : found.stages) {
            if (!each.has_changed) continue;
            ++(slower && each.stage == before.stages[changed].name ? all.named : all.named_wrong);
        }
        if (found.has_difference() != slower) INFO(found.text());
    }
    std::cout << (slower ? "one stage 10 % slower: named in " : "equal runs: something named in ")
              << (slower ? all.named : all.any) << " of " << all.pairs << ", another stage in "
              << all.named_wrong << '\n';
    return all;
}

weir::run_difference by_stats(const weir::pipeline_stats& a, const weir::pipeline_stats& b) {
    return weir::diff(a, b, {.explain = false});
}
weir::run_difference by_recordings(const weir::pipeline_stats& a, const weir::pipeline_stats& b) {
    return weir::diff(weir::record_of(a), weir::record_of(b), {.explain = false});
}

}  // namespace

TEST_CASE("of 100 pairs of runs, a stage that takes 10 % longer is named in 95") {
    const outcome found = compare_pairs(true, by_stats);
    CHECK(found.named >= 95);
    CHECK(found.named_wrong <= 1);
}

TEST_CASE("of 100 pairs of equal runs, nothing is named in 99") {
    CHECK(compare_pairs(false, by_stats).any <= 1);
}

TEST_CASE("recordings tell the same") {
    CHECK(compare_pairs(true, by_recordings).named >= 95);
    CHECK(compare_pairs(false, by_recordings).any <= 1);
}
