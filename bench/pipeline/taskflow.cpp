// Taskflow: its pipeline, which bounds the items in flight by lines.
#include "scenario.hpp"

#include <taskflow/algorithm/pipeline.hpp>
#include <taskflow/taskflow.hpp>

#include <memory>
#include <vector>

namespace {

using namespace bench::stages;

void through_lines(tf::Executor& executor, const scenario& s, std::size_t lines, std::uint64_t n) {
    const tf::PipeType middle = s.slots == 1 ? tf::PipeType::SERIAL : tf::PipeType::PARALLEL;
    std::vector<item> of_line(lines);
    totals seen;
    const auto middle_pipe = [&] {
        return tf::Pipe(middle,
                        [&](tf::Pipeflow& flow) { of_line[flow.line()] = s.stage(of_line[flow.line()]); });
    };
    tf::Pipeline pipeline(lines,
                          tf::Pipe{tf::PipeType::SERIAL,
                                   [&](tf::Pipeflow& flow) {
                                       if (flow.token() == n) return flow.stop();
                                       of_line[flow.line()] = flow.token();
                                   }},
                          middle_pipe(), middle_pipe(), middle_pipe(),
                          tf::Pipe{tf::PipeType::SERIAL,
                                   [&](tf::Pipeflow& flow) { seen.add(of_line[flow.line()]); }});
    tf::Taskflow graph;
    graph.composed_of(pipeline);
    executor.run(graph).wait();
    seen.expect(n);
}

const bench::contestants<scenario> taskflow_contestants([](bench::group& group, const scenario& s) {
    const auto executor = std::make_shared<tf::Executor>(s.workers);
    // As many as weir's queues and slots hold, and as many as one of its queues holds.
    for (const std::size_t lines : {s.tokens(), s.capacity}) {
        group.peer("Taskflow, " + bench::count(lines, "line"),
                   [=](std::uint64_t n) { through_lines(*executor, s, lines, n); });
    }
});

}  // namespace
