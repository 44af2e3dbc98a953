#include <tbb/global_control.h>
#include <tbb/parallel_for_each.h>
#include <tbb/task_arena.h>

#include <array>
#include <cstdint>
#include <memory>

#include "scenario.hpp"

namespace traverse {
namespace {

struct place {
    explicit place(unsigned workers)
        : threads(tbb::global_control::max_allowed_parallelism, workers + 1),
          arena(static_cast<int>(workers), 1) {}  // the caller is one of the workers
    tbb::global_control threads;
    tbb::task_arena arena;
    bench::tally tally;
};

const bench::contestants<scenario> tbb_feeder([](bench::group& group, const scenario& s) {
    const auto here = std::make_shared<place>(s.workers);
    group.peer("tbb, parallel_for_each", repeat(s, [here, s] {
                   const std::array<std::uint64_t, 1> root{1};
                   here->arena.execute([&] {
                       tbb::parallel_for_each(root.begin(), root.end(),
                                              [&](std::uint64_t node, tbb::feeder<std::uint64_t>& more) {
                                                  visit(here->tally, node, s.nodes,
                                                        [&more](std::uint64_t child) { more.add(child); });
                                              });
                   });
                   return here->tally.take();
               }));
});

}  // namespace
}  // namespace traverse
