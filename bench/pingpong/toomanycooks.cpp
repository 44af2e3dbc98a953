#define TMC_IMPL
#include "common/toomanycooks.hpp"

#include "scenario.hpp"

#include <array>
#include <memory>

namespace {

using queue = tmc::qu_spsc_bounded<std::uint64_t>;

struct queues {
    static constexpr std::size_t capacity = 1;
    queue there{capacity};
    queue back{capacity};

    tmc::task<void> ping(std::uint64_t n, std::uint64_t& sum) {
        for (std::uint64_t i = 0; i < n; ++i) {
            co_await there.push(i);
            auto number = co_await back.pull();
            sum += number.value();
        }
    }
    tmc::task<void> pong(std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            std::uint64_t number = 0;
            {
                auto got = co_await there.pull();
                number = got.value();
            }
            co_await back.push(number + 1);
        }
    }
};

// There is always room, so no bound is needed.
struct channels {
    tmc::chan_tok<std::uint64_t> there = tmc::make_channel<std::uint64_t>();
    tmc::chan_tok<std::uint64_t> back = tmc::make_channel<std::uint64_t>();

    tmc::task<void> ping(std::uint64_t n, std::uint64_t& sum) {
        auto out = there;
        auto in = back;
        for (std::uint64_t i = 0; i < n; ++i) {
            out.post(i);
            const auto number = co_await in.pull();
            sum += *number;
        }
    }
    tmc::task<void> pong(std::uint64_t n) {
        auto in = there;
        auto out = back;
        for (std::uint64_t i = 0; i < n; ++i) {
            const auto number = co_await in.pull();
            out.post(*number + 1);
        }
    }
};

template <class Channels>
void play(bench::toomanycooks& executor, std::uint64_t n) {
    Channels both;
    std::uint64_t sum = 0;
    const auto all = [&]() -> tmc::task<void> {
        std::array<tmc::task<void>, 2> parts{both.ping(n, sum), both.pong(n)};
        co_await tmc::spawn_many<2>(parts.data());
    };
    executor.run(all());
    check_replies(sum, n);
}

const bench::contestants<scenario> joined([](bench::group& g, const scenario& s) {
    const auto executor = std::make_shared<bench::toomanycooks>(s.workers);
    g.peer("TooManyCooks, bounded queues", [=](std::uint64_t n) { play<queues>(*executor, n); });
    g.peer("TooManyCooks, channels", [=](std::uint64_t n) { play<channels>(*executor, n); });
});

}  // namespace
