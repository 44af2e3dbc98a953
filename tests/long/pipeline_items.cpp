// pipeline_items [TIMES [ITEMS]]: ten million items through five stages of four slots, fifty times over;
// each time compares count, sum and xor of what comes out with what a loop computes.
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <ranges>
#include <string>

namespace {

using number = std::uint64_t;

number mix(number n) { return n * 0x9e3779b97f4a7c15ULL ^ (n >> 29); }
bool keeps(number n) { return n % 7 != 3; }

struct digest {
    number count = 0;
    number sum = 0;
    number x_or = 0;

    void add(number n) {
        ++count;
        sum += n;
        x_or ^= n;
    }
    bool operator==(const digest&) const = default;
};

digest reference(number items) {
    digest d;
    for (number n = 0; n < items; ++n) {
        const number kept = mix(mix(n));
        if (keeps(kept)) d.add(mix(mix(kept)));
    }
    return d;
}

weir::task<number> mix_in_a_task(number n) { co_return mix(n); }

weir::task<digest> consume(weir::run<number>& run) {
    digest d;
    while (const auto n = co_await run.next()) d.add(*n);
    co_return d;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) try {
    const int times = argc > 1 ? std::stoi(argv[1]) : 50;
    const number items = argc > 2 ? std::stoull(argv[2]) : 10'000'000;
    const auto some = [](number n) { return keeps(n) ? std::optional<number>(n) : std::nullopt; };
    const weir::stage_options four{.concurrency = 4, .capacity = 4};
    const auto pipeline = weir::source(std::views::iota(number{0}, items)) | weir::pipe(mix, four) |
                          weir::pipe(mix_in_a_task, four) | weir::pipe(some, four) | weir::pipe(mix, four) |
                          weir::pipe(mix_in_a_task, four) | weir::sink(4);
    const digest expected = reference(items);
    weir::thread_pool pool;
    std::cout << items << " items, five stages of four slots, " << pool.workers() << " workers\n";
    int wrong = 0;
    for (int i = 1; i <= times; ++i) {
        const auto start = std::chrono::steady_clock::now();
        auto run = pipeline.start(pool);
        const digest got = weir::sync_wait(pool, consume(run));
        const double seconds = seconds_since(start);
        const bool right = got == expected;
        if (!right) ++wrong;
        std::cout << i << " of " << times << ": " << (right ? "right" : "WRONG") << ", " << got.count
                  << " came out, " << seconds << " s, " << seconds * 1e9 / static_cast<double>(items)
                  << " ns an item" << std::endl;
    }
    std::cout << (wrong == 0 ? "all right" : "wrong: " + std::to_string(wrong)) << '\n';
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return EXIT_FAILURE;
}
