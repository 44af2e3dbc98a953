// simulate: turns the stages of a spec into stages of weir.
// They are known only at run time, so they are a stage_list.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_STAGE_BUILDER_HPP
#define WEIR_EXAMPLES_SIMULATE_STAGE_BUILDER_HPP

#include "item.hpp"
#include "processors.hpp"
#include "spec.hpp"
#include "work.hpp"

#include <weir/executor/executor.hpp>
#include <weir/graph/branch.hpp>
#include <weir/graph/route.hpp>
#include <weir/measure/policy.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage_list.hpp>

#include <cstddef>  // for std::size_t
#include <memory>   // for std::make_shared
#include <utility>  // for std::index_sequence, std::make_index_sequence, std::move
#include <vector>   // for std::vector

namespace simulate {

namespace detail {

// The default policy of runs. A stage is compiled for each policy.
using stage_row = weir::stage_list<item, weir::policies<weir::measured>>;

inline weir::failure_limit to_failure_limit(const limit_spec& limit) {
    if (limit.count) return *limit.count;
    return limit.rate > 0 ? weir::rate(limit.rate) : weir::unlimited;
}

// Builds the stages of one run; `rank` counts the pipes.
struct stage_builder {
    weir::executor& clock;
    processors* cpus;
    std::size_t rank = 0;

    stage_row stages(const std::vector<stage_spec>& specs) {
        stage_row all;
        for (const stage_spec& s : specs) add(all, s);
        return all;
    }

    void add(stage_row& to, const stage_spec& s) {
        switch (s.kind) {
            case op::pipe: {
                weir::stage_options options{.name = s.name,
                                            .concurrency = s.concurrency,
                                            .capacity = s.capacity};
                if (s.keeps_order) options.output_order = weir::output_order::input;
                if (s.max_failures) options.max_failures = to_failure_limit(*s.max_failures);
                to.add(weir::pipe(timed_work(s, rank++, clock, cpus), std::move(options)));
                break;
            }
            case op::aggregate:
                to.add(weir::aggregate<item>(
                    s.size, {.name = s.name, .drop_last = s.drop_last, .capacity = s.capacity}));
                break;
            case op::disaggregate:
                to.add(weir::disaggregate({.name = s.name, .capacity = s.capacity}));
                break;
            case op::route: {
                std::vector<stage_row> branches;
                for (const part_spec& part : s.branches) branches.push_back(stages(part.stages));
                if (branches.size() == 1) add_route(to, s, branches, std::make_index_sequence<1>());
                if (branches.size() == 2) add_route(to, s, branches, std::make_index_sequence<2>());
                if (branches.size() == 3) add_route(to, s, branches, std::make_index_sequence<3>());
                if (branches.size() == 4) add_route(to, s, branches, std::make_index_sequence<4>());
                break;
            }
        }
    }

    template <std::size_t... I>
    static void add_route(stage_row& to, const stage_spec& s, std::vector<stage_row>& branches,
                          std::index_sequence<I...>) {
        const auto next = [where = s.to, k = std::make_shared<std::size_t>(0)](const item&) {
            return where[(*k)++ % where.size()];
        };
        to.add(weir::route(next, weir::route_options{.name = s.name},
                           weir::branch(s.branches[I].name, std::move(branches[I]))...));
    }
};

}  // namespace detail

}  // namespace simulate

#endif
