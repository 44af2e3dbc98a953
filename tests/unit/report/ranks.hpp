// Statistics of ranks that tests of reports share: a job in which rank 2 is slow in one stage.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_UNIT_REPORT_RANKS_HPP
#define WEIR_TESTS_UNIT_REPORT_RANKS_HPP

#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/report/rank_stats.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ranks {

using namespace std::chrono_literals;

inline weir::stage_stats stage(std::string name, std::uint64_t tasks, weir::duration each,
                               weir::duration awaited = 0ns) {
    weir::stage_stats s;
    s.name = std::move(name);
    s.kind = "pipe";
    s.elapsed = 10s;
    s.num_tasks = tasks;
    s.task_time = s.busy = each * static_cast<std::int64_t>(tasks);
    s.task_times.record(each, tasks);
    s.per_slot.resize(1);
    s.per_slot[0].await = awaited * static_cast<std::int64_t>(tasks);
    s.per_slot[0].run = s.busy - s.per_slot[0].await;
    s.per_slot[0].wait_get = 10s - s.busy;
    return s;
}

inline weir::channel_stats queue(std::string name, std::uint64_t items, weir::duration empty) {
    weir::channel_stats c;
    c.name = std::move(name);
    c.capacity = 2;
    c.elapsed = 10s;
    c.num_put = c.num_get = items;
    c.get_wait = c.get_blocked = empty;
    c.empty = empty;
    c.put_waits.record(0ns, items);
    c.get_waits.record(empty / 100, 100);
    return c;
}

// What a rank has whose `decode` takes that long.
inline weir::pipeline_stats rank(weir::duration decode, weir::duration awaited = 0ns) {
    const auto items = static_cast<std::uint64_t>(8s / decode);
    weir::pipeline_stats p;
    p.elapsed = 10s;
    p.num_items = items;
    p.stages = {stage("read", items, 1ms), stage("decode", items, decode, awaited)};
    p.stages[0].outputs = p.stages[1].inputs = {0};
    p.stages[1].outputs = {1};
    p.channels = {queue("read", items, 1s), queue("decode", items, decode * 100)};
    return p;
}

// Four ranks; the third one's `decode` is at work 1.9 times the time.
inline std::vector<weir::pipeline_stats> job() { return {rank(10ms), rank(10ms), rank(19ms), rank(10ms)}; }

}  // namespace ranks

#endif
