// Recordings of pipelines, made by hand, for tests of predictions.
#ifndef WEIR_TESTS_SUPPORT_RECORDINGS_HPP
#define WEIR_TESTS_SUPPORT_RECORDINGS_HPP

#include <weir/insight/recording.hpp>
#include <weir/measure/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace recordings {

// Times in milliseconds, taken in turn: `awaiting({10, 20})`.
inline weir::recorded_stage awaiting(const std::vector<std::int64_t>& ms) {
    weir::recorded_stage sample{.num_tasks = 1'000, .in_sequence = true};
    for (const std::int64_t each : ms)
        sample.tasks.push_back({weir::duration(0), weir::duration(each * 1'000'000), 1});
    return sample;
}
inline weir::recorded_stage running(const std::vector<std::int64_t>& ms) {
    weir::recorded_stage sample = awaiting(ms);
    for (weir::recorded_task& each : sample.tasks) std::swap(each.run, each.await);
    return sample;
}

// Builds a recording: the source, then stages, then the sink and the consumer.
class builder {
  public:
    explicit builder(weir::recorded_stage source = {}) {
        add({.name = "src", .role = weir::stage_role::source}, std::move(source));
    }
    builder& stage(weir::stage_settings settings, weir::recorded_stage sample) {
        add(std::move(settings), std::move(sample));
        return *this;
    }
    builder& aggregate(std::string name, std::size_t size, bool drop_last = false) {
        add({.name = std::move(name),
             .role = weir::stage_role::aggregate,
             .batch_size = size,
             .drop_last = drop_last},
            {});
        return *this;
    }
    builder& disaggregate(std::string name) {
        add({.name = std::move(name), .role = weir::stage_role::disaggregate}, {});
        return *this;
    }
    weir::recording consumed(weir::recorded_stage consumer = {}, std::size_t sink_capacity = 3) {
        add({.name = "sink", .role = weir::stage_role::sink, .capacity = sink_capacity}, {});
        add({.name = "consumer", .role = weir::stage_role::consumer}, std::move(consumer));
        return std::move(made_);
    }

  private:
    void add(weir::stage_settings settings, weir::recorded_stage sample) {
        made_.settings.stages.push_back(std::move(settings));
        made_.stages.push_back(std::move(sample));
    }
    weir::recording made_;
};

}  // namespace recordings

#endif
