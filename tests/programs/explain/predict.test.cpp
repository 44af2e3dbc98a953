#include <weir/insight/predict.hpp>

#include "../../../examples/simulate/measure.hpp"
#include "../../../examples/simulate/parse.hpp"
#include "../../../examples/simulate/predicted.hpp"
#include "support/catch.hpp"

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <fstream>    // for std::ifstream
#include <iterator>   // for std::istreambuf_iterator
#include <random>     // for std::mt19937_64
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::string

using simulate::pipeline_spec;

namespace {

// Everything in which a prediction differs from a run on virtual time, as text.
std::string differences(const weir::prediction& p, const weir::pipeline_stats& s) {
    std::string all;
    const auto same = [&all](const std::string& what, std::int64_t predicted, std::int64_t measured) {
        if (predicted == measured) return;
        all += what + ": predicted " + std::to_string(predicted) + ", measured " + std::to_string(measured) +
               "\n";
    };
    const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
    same("elapsed", p.elapsed.count(), s.elapsed.count());
    same("items", number(p.num_items), number(s.num_items));
    for (std::size_t i = 0; i < p.queues.size(); ++i) {
        const weir::predicted_queue& q = p.queues[i];
        const weir::channel_stats& c = s.channels.at(i);
        const std::string name = "queue " + std::to_string(i) + " ";
        same(name + "num_put", number(q.num_put), number(c.num_put));
        same(name + "num_get", number(q.num_get), number(c.num_get));
        same(name + "size", number(q.size), number(c.size));
        same(name + "put_wait", q.put_wait.count(), c.put_wait.count());
        same(name + "put_blocked", q.put_blocked.count(), c.put_blocked.count());
        same(name + "get_blocked", q.get_blocked.count(), c.get_blocked.count());
        same(name + "empty", q.empty.count(), c.empty.count());
    }
    for (std::size_t i = 0; i + 2 < p.stages.size(); ++i) {  // without sink and consumer
        const weir::slot_times& mine = p.stages[i].times;
        const weir::slot_times theirs = s.stages.at(i).times();
        const std::string name = "stage " + p.stages[i].name + " ";
        same(name + "tasks", number(p.stages[i].num_tasks), number(s.stages[i].num_tasks));
        same(name + "work", (mine.busy() + mine.runnable).count(), theirs.busy().count());
        same(name + "wait_get", mine.wait_get.count(), theirs.wait_get.count());
        same(name + "wait_put", mine.wait_put.count(), theirs.wait_put.count());
        same(name + "wait_turn", mine.wait_turn.count(), theirs.wait_turn.count());
    }
    return all;
}

std::string differences(const pipeline_spec& spec) {
    const weir::recording from = simulate::to_recording(spec);
    weir::predict_options options{.items = 1'000'000'000, .skipped = 1};
    if (spec.snapshot_ns) options.until = weir::duration(*spec.snapshot_ns);
    return differences(weir::predict(from.settings, from, options), simulate::measure_virtual(spec).stats);
}

// A pipeline without branches, with everything that a prediction knows. All times differ, so that few events
// happen at the same instant.
pipeline_spec drawn(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&random](std::size_t from, std::size_t to) {
        return from + random() % (to - from + 1);
    };
    const auto chance = [&draw](std::size_t percent) { return draw(1, 100) <= percent; };
    const auto times = [&draw](std::size_t most_ms) {
        std::vector<std::int64_t> all;
        for (std::size_t n = draw(1, 9); all.size() < n;) {
            all.push_back(static_cast<std::int64_t>(draw(1, most_ms * 1'000'000)));
        }
        return all;
    };
    pipeline_spec spec;
    spec.items = draw(1, 80);
    spec.sink_capacity = draw(1, 5);
    spec.source_capacity = draw(1, 4);
    if (chance(40)) spec.source_ns = times(12);
    if (chance(30)) spec.workers = draw(1, 4);
    spec.max_failures.count = 1'000'000;
    std::size_t depth = 0;
    for (std::size_t i = 0, n = draw(1, 5); i < n; ++i) {
        simulate::stage_spec s;
        s.name = "s" + std::to_string(i);
        s.capacity = draw(1, 6);
        if (chance(20)) {
            s.kind = simulate::op::aggregate;
            s.size = draw(1, 5);
            s.drop_last = chance(30);
            ++depth;
        } else if (depth != 0 && chance(30)) {
            s.kind = simulate::op::disaggregate;
            --depth;
        } else {
            s.concurrency = draw(1, 5);
            s.service_ns = times(30);
            s.keeps_order = chance(40);
            if (chance(20)) s.fails_every = draw(2, 6);
            s.computes = spec.workers.has_value() && chance(70);
            if (s.computes && chance(40)) s.run_ns = static_cast<std::int64_t>(draw(1, 10'000'000));
        }
        spec.stages.push_back(s);
    }
    bool computes = false;
    for (const simulate::stage_spec& s : spec.stages) computes = computes || s.computes;
    if (!computes) spec.workers.reset();
    spec.foreground_ns = times(15);
    return spec;
}

}  // namespace

TEST_CASE(
    "a prediction has the figures of a run on virtual time, to the nanosecond, in 1000 random pipelines") {
    for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
        INFO("seed " << seed);
        REQUIRE(differences(drawn(seed)) == "");
    }
}

TEST_CASE("a prediction has the figures of each golden pipeline that can be predicted") {
    std::size_t predicted = 0;
    for (const std::string name : {"random_24.jsonl", "more_60.jsonl"}) {
        std::ifstream file(std::string(WEIR_TEST_DATA "/") + name);
        REQUIRE(file.is_open());
        for (const pipeline_spec& spec :
             simulate::parse_specs(std::string(std::istreambuf_iterator<char>(file), {}), name)) {
            try {
                static_cast<void>(simulate::to_recording(spec));
            } catch (const std::invalid_argument&) {
                continue;
            }
            if (simulate::measure_virtual(spec).failed) continue;  // a run that stops early
            INFO(name << ", " << spec.name);
            CHECK(differences(spec) == "");
            ++predicted;
        }
    }
    CHECK(predicted >= 30);
}
