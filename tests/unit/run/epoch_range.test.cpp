#include <weir/run/epoch_range.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/filter.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using weir::channel_status;
using weir::task;
using weir::virtual_time;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

// Epoch e has items 10 e, 10 e + 1, ..., as many as the list says.
auto epochs_of(std::vector<int> sizes) {
    const auto count = sizes.size();
    const auto make = [sizes](std::uint64_t epoch) {
        const int first = static_cast<int>(epoch) * 10;
        return std::views::iota(first, first + sizes.at(epoch));
    };
    return weir::source(weir::epochs(make, count)) | weir::sink();
}

using nested = std::vector<ints>;

// All that is left, epoch by epoch; each has to have the number after the one before.
template <class Run>
nested all_epochs(Run& run, std::uint64_t first = 0) {
    nested all;
    for (auto& epoch : run.epochs()) {
        CHECK(epoch.number() == first++);
        all.emplace_back();
        for (const int n : epoch) all.back().push_back(n);
    }
    return all;
}

}  // namespace

TEST_CASE("a consumer loops over epochs, and over the items of each, empty ones included") {
    virtual_time time;
    const std::vector<std::pair<std::vector<int>, nested>> cases = {
        {{}, {}},
        {{0}, {{}}},
        {{1}, {{0}}},
        {{3, 1, 2}, {{0, 1, 2}, {10}, {20, 21}}},
        {{0, 0, 2, 0, 1, 0}, {{}, {}, {20, 21}, {}, {40}, {}}},
    };
    for (const auto& [sizes, expected] : cases) {
        auto run = epochs_of(sizes).start(time);
        CHECK(all_epochs(run) == expected);
        CHECK(run.ended());
        CHECK(all_epochs(run).empty());
        auto other = epochs_of(sizes).start<weir::unmeasured>(time);
        CHECK(all_epochs(other) == expected);
    }
}

TEST_CASE("the outer loop skips the rest of an epoch") {
    virtual_time time;
    auto run = epochs_of({3, 0, 4, 1}).start(time);
    nested taken;
    for (auto& epoch : run.epochs()) {
        taken.emplace_back();
        for (const int n : epoch) {
            taken.back().push_back(n);
            if (epoch.number() == 0 || n == 21) break;
        }
    }
    CHECK(taken == nested{{0}, {}, {20, 21}, {30}});
    // Also one that was not begun.
    auto other = epochs_of({2, 2}).start(time);
    std::uint64_t seen = 0;
    for (auto& epoch : other.epochs()) CHECK(epoch.number() == seen++);
    CHECK(seen == 2);
}

TEST_CASE("a second loop over the same epoch continues in it") {
    virtual_time time;
    auto run = epochs_of({4, 1}).start(time);
    nested taken;
    for (auto& epoch : run.epochs()) {
        taken.emplace_back();
        for (const int n : epoch) {
            taken.back().push_back(n);
            if (n == 1) break;
        }
        for (const int n : epoch) taken.back().push_back(n);
        for (const int n : epoch) taken.back().push_back(n);
    }
    CHECK(taken == nested{{0, 1, 2, 3}, {10}});
}

TEST_CASE("a second call of epochs continues in the current epoch, and loses no item") {
    virtual_time time;
    SECTION("left in the middle of an epoch") {
        auto run = epochs_of({3, 2}).start(time);
        for (auto& epoch : run.epochs()) {
            for (const int n : epoch) {
                CHECK(n == 0);
                break;
            }
            break;
        }
        CHECK(all_epochs(run) == nested{{1, 2}, {10, 11}});
    }
    SECTION("left before anything of an epoch was taken") {
        auto run = epochs_of({3, 2}).start(time);
        for (auto& epoch : run.epochs()) {
            CHECK(epoch.number() == 0);
            break;
        }
        CHECK(all_epochs(run) == nested{{0, 1, 2}, {10, 11}});
    }
    SECTION("by the same range") {
        auto run = epochs_of({3, 2}).start(time);
        auto range = run.epochs();
        for (auto& epoch : range) {
            CHECK(epoch.number() == 0);
            break;
        }
        nested all;
        for (auto& epoch : range) {
            all.emplace_back();
            for (const int n : epoch) all.back().push_back(n);
        }
        CHECK(all == nested{{0, 1, 2}, {10, 11}});
    }
    SECTION("left before an empty epoch was seen to end") {
        auto run = epochs_of({0, 2}).start(time);
        for (auto& epoch : run.epochs()) {
            CHECK(epoch.number() == 0);
            break;
        }
        CHECK(all_epochs(run) == nested{{}, {10, 11}});
    }
    SECTION("what was looked at is given by whatever gives the next item") {
        for (int way = 0; way < 5; ++way) {
            auto run = epochs_of({2, 1}).start(time);
            for (auto& epoch : run.epochs()) {
                CHECK(epoch.number() == 0);
                break;
            }
            const auto next = [&]() -> task<std::optional<int>> { co_return co_await run.next(); };
            std::optional<int> first;
            switch (way) {
                case 0:
                    first = run.get();
                    break;
                case 1:
                    first = *run.get(1s);
                    break;
                case 2:
                    first = run.get_in_epoch();
                    break;
                case 3:
                    first = weir::sync_wait(time, next());
                    break;
                default:
                    first = weir::sync_wait(time, run.next_in_epoch());
                    break;
            }
            CHECK(first == 0);
            CHECK(items::take_all(run) == ints{1, 10});
        }
    }
}

TEST_CASE(
    "a consumer that waits when a range of epochs is destroyed gets the item that the range had taken") {
    const auto waits = [](int n) -> task<int> {
        co_await weir::sleep_for(n * 1s);
        co_return n;
    };
    const auto is_first = [](int n) { return n == 0; };
    const auto check = [&](auto take) {
        virtual_time time;
        auto run = (weir::source(weir::epochs(ints{0, 1}, 1)) | weir::pipe(waits, {.concurrency = 1}) |
                    weir::take(2) | weir::filter(is_first) | weir::sink())
                       .start(time);
        std::optional<weir::epoch_range<decltype(run)>> range(std::in_place, run);
        CHECK((*range->begin()).number() == 0);
        const auto leave = [&range]() -> task<void> {
            co_await weir::sleep_for(1ms);
            range.reset();
        };
        weir::task_group other(time);
        other.spawn(leave());
        const std::optional<int> first = take(run, time);
        CHECK(first == 0);
        CHECK(time.now() == weir::time_point(1s));
        CHECK(run.get() == std::nullopt);
        weir::sync_wait(time, other.join());
    };
    check([](auto& run, virtual_time&) { return run.get(); });
    check([](auto& run, virtual_time&) -> std::optional<int> {
        auto got = run.get(1h);
        return got ? std::optional(*got) : std::nullopt;
    });
    check([](auto& run, virtual_time& time) {
        const auto next = [&]() -> task<std::optional<int>> { co_return co_await run.next(); };
        return weir::sync_wait(time, next());
    });
}

TEST_CASE("a stream that is stopped in the middle of an epoch ends that epoch and the loop") {
    virtual_time time;
    const auto slow = [](int n) -> task<int> {
        co_await weir::sleep_for(1s);
        co_return n;
    };
    auto run =
        (weir::source(weir::epochs([] { return std::views::iota(0, 5); })) | weir::pipe(slow) | weir::sink())
            .start(time);
    int epochs = 0;
    ints taken;
    for (auto& epoch : run.epochs()) {
        ++epochs;
        for (const int n : epoch) {
            taken.push_back(n);
            if (taken.size() == 7) run.stop();
        }
    }
    CHECK(epochs == 2);
    CHECK(taken == ints{0, 1, 2, 3, 4, 0, 1});
    CHECK(run.ended());
}

TEST_CASE("a failure in the middle of an epoch is thrown after the finished items of the epoch") {
    virtual_time time;
    const auto picky = [](int n) {
        if (n == 12) throw std::runtime_error("twelve");
        return n;
    };
    auto run = (weir::source(weir::epochs(
                    [](std::uint64_t e) {
                        const int first = static_cast<int>(e) * 10;
                        return std::views::iota(first, first + 4);
                    },
                    3)) |
                weir::pipe(picky) | weir::sink())
                   .start(time);
    ints taken;
    const auto loop = [&] {
        for (auto& epoch : run.epochs()) {
            for (const int n : epoch) taken.push_back(n);
        }
    };
    CHECK_THROWS_AS(loop(), weir::pipeline_failure);
    CHECK(taken == ints{0, 1, 2, 3, 10, 11});
    CHECK_NOTHROW(loop());
    CHECK(taken.size() == 6);
}

TEST_CASE("items can be moved out of an epoch, and need not be assigned to") {
    virtual_time time;
    class only_moved {
      public:
        explicit only_moved(int n) : number(std::make_unique<int>(n)) {}
        only_moved(only_moved&&) = default;
        only_moved& operator=(only_moved&&) = delete;
        std::unique_ptr<int> number;
    };
    auto run = (weir::source(weir::epochs([] { return std::views::iota(0, 3); }, 2)) |
                weir::pipe([](int n) { return only_moved(n); }) | weir::sink())
                   .start(time);
    std::vector<std::unique_ptr<int>> all;
    for (auto& epoch : run.epochs()) {
        for (auto& item : epoch) all.push_back(std::move(item.number));
    }
    REQUIRE(all.size() == 6);
    CHECK(*all.at(5) == 2);
}

TEST_CASE("get_in_epoch tells each end once, and the end of the stream from then on") {
    virtual_time time;
    auto run = epochs_of({2, 0, 1}).start(time);
    std::vector<std::optional<int>> got;
    while (true) {
        got.push_back(run.get_in_epoch());
        if (run.ended()) break;
    }
    CHECK(got == std::vector<std::optional<int>>{0, 1, {}, {}, 20, {}, {}});
    CHECK_FALSE(run.get_in_epoch().has_value());

    auto other = epochs_of({2, 0, 1}).start(time);
    const auto all = [&]() -> task<std::vector<std::optional<int>>> {
        std::vector<std::optional<int>> each;
        while (!other.ended()) each.push_back(co_await other.next_in_epoch());
        co_return each;
    };
    CHECK(weir::sync_wait(time, all()) == got);
}

TEST_CASE("get, next and a plain loop go over the ends of epochs") {
    virtual_time time;
    const ints expected = {0, 1, 20, 30, 31, 32};
    const auto pipeline = epochs_of({2, 0, 1, 3, 0});
    auto first = pipeline.start(time);
    CHECK(items::take_all(first) == expected);
    auto second = pipeline.start(time);
    ints all;
    while (const auto n = second.get()) all.push_back(*n);
    CHECK(all == expected);
    auto third = pipeline.start(time);
    const auto consume = [&]() -> task<ints> {
        ints each;
        while (const auto n = co_await third.next()) each.push_back(*n);
        co_return each;
    };
    CHECK(weir::sync_wait(time, consume()) == expected);
}

TEST_CASE("a time-out is not made longer by the ends of epochs, and loses nothing") {
    virtual_time time;
    // Each epoch takes 600 ms and has no items, but the fourth, which has one.
    const auto make = [](std::uint64_t epoch) -> weir::async_generator<int> {
        co_await weir::sleep_for(600ms);
        if (epoch == 3) co_yield 7;
    };
    auto run = (weir::source(weir::epochs(make, 5)) | weir::sink()).start(time);
    CHECK(run.get(1s).status() == channel_status::timed_out);
    CHECK(time.now() == weir::time_point(1s));
    CHECK(run.get(1s).status() == channel_status::timed_out);
    CHECK(time.now() == weir::time_point(2s));
    auto got = run.get(1s);
    REQUIRE(got);
    CHECK(*got == 7);
    CHECK(time.now() == weir::time_point(2400ms));
    CHECK(run.get(1s).status() == channel_status::closed);
}

TEST_CASE("on a pool a consumer's loop sees every epoch whole") {
    weir::thread_pool pool(2);
    auto run = (weir::source(weir::epochs([] { return std::views::iota(0, 100); }, 50)) |
                weir::pipe([](int n) { return n; }, {.concurrency = 3}) | weir::sink())
                   .start(pool);
    std::uint64_t epochs = 0;
    for (auto& epoch : run.epochs()) {
        int sum = 0;
        for (const int n : epoch) sum += n;
        CHECK(sum == 4950);
        CHECK(epoch.number() == epochs++);
    }
    CHECK(epochs == 50);
}
