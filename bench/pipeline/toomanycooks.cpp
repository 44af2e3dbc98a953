// TooManyCooks: one coroutine per stage, over its bounded queues for one producer and one consumer.
#define TMC_IMPL
#include "common/toomanycooks.hpp"

#include "scenario.hpp"

#include <array>
#include <memory>
#include <vector>

namespace {

using namespace bench::stages;
using queue = tmc::qu_spsc_bounded<item>;

tmc::task<void> give(queue& out, std::uint64_t n) {
    for (item x = 0; x < n; ++x) co_await out.push(x);
    out.close();
}

tmc::task<void> slot(queue& in, queue& out, const scenario& s) {
    while (true) {
        item x = 0;
        {
            auto got = co_await in.pull();
            if (!got) break;
            x = got.value();
        }
        co_await out.push(s.stage(x));
    }
    out.close();
}

tmc::task<void> take(queue& in, totals& seen) {
    while (true) {
        auto got = co_await in.pull();
        if (!got) break;
        seen.add(got.value());
    }
}

void through_queues(bench::toomanycooks& executor, const scenario& s, std::uint64_t n) {
    std::vector<std::unique_ptr<queue>> queues;
    for (std::size_t i = 0; i <= num_stages; ++i) queues.push_back(std::make_unique<queue>(s.capacity));
    totals seen;
    const auto all = [&]() -> tmc::task<void> {
        std::array<tmc::task<void>, num_stages + 2> parts;
        parts[0] = give(*queues.front(), n);
        for (std::size_t i = 0; i < num_stages; ++i) parts[i + 1] = slot(*queues[i], *queues[i + 1], s);
        parts[num_stages + 1] = take(*queues.back(), seen);
        co_await tmc::spawn_many<num_stages + 2>(parts.data());
    };
    executor.run(all());
    seen.expect(n);
}

const bench::contestants<scenario> toomanycooks_contestants([](bench::group& group, const scenario& s) {
    if (s.slots != 1) return;
    const auto executor = std::make_shared<bench::toomanycooks>(s.workers);
    group.peer("TooManyCooks, queues", [=](std::uint64_t n) { through_queues(*executor, s, n); });
});

}  // namespace
