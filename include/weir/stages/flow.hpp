// weir stages, internal: stages in a row: what leaves the last one, and how each is put behind the one before
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_FLOW_HPP
#define WEIR_STAGES_FLOW_HPP

#include <weir/channel/channel.hpp>
#include <weir/run/run_core.hpp>
#include <weir/stages/stage.hpp>

#include <tuple>        // for std::tuple
#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::forward, std::index_sequence

namespace weir::detail {

// The type of the items that leave the last of the stages; checks each pair on the way.
template <class In, class... Stages>
struct flow {
    using type = In;
};
template <class In, class First, class... Rest>
struct flow<In, First, Rest...> : flow<typename First::template output<In>, Rest...> {};

template <class In, class First, class... Rest>
    requires is_source<First>
struct flow<In, First, Rest...> {  // refused when they were put together
    using type = In;
};

template <class... Stages>
struct flow_from_source {};
template <class First, class... Rest>
    requires is_source<First>
struct flow_from_source<First, Rest...> : flow<typename First::output, Rest...> {};

template <class Policy, class In, class Stages>
auto& attach_from(run_core<Policy>&, channel<In, Policy>& in, Stages&&, std::index_sequence<>) {
    return in;
}
template <class Policy, class In, class Stages, std::size_t I, std::size_t... Rest>
auto& attach_from(run_core<Policy>& run, channel<In, Policy>& in, Stages&& stages,
                  std::index_sequence<I, Rest...>) {
    using stage = std::tuple_element_t<I, std::remove_cvref_t<Stages>>;
    auto& out = stage::attach(std::get<I>(std::forward<Stages>(stages)), run, in);
    // NOLINTNEXTLINE(bugprone-use-after-move): another part of it
    return detail::attach_from(run, out, std::forward<Stages>(stages), std::index_sequence<Rest...>());
}

// Puts a part of a pipeline into a run, behind a queue.
template <class Policy, class In, class Part>
auto& attach_part(run_core<Policy>& run, channel<In, Policy>& in, Part&& part) {
    using stages = std::remove_cvref_t<decltype(part.stages())>;
    return detail::attach_from(run, in, std::forward<Part>(part).stages(),
                               std::make_index_sequence<std::tuple_size_v<stages>>());
}

// The same of one that begins with a source.
template <class Policy, class Part, std::size_t... I>
auto& attach_source_part(run_core<Policy>& run, Part&& part, std::index_sequence<I...>) {
    using stages = std::remove_cvref_t<decltype(part.stages())>;
    using first = std::tuple_element_t<0, stages>;
    auto& begin = first::attach(std::get<0>(std::forward<Part>(part).stages()), run);
    // NOLINTNEXTLINE(bugprone-use-after-move): another part of it
    return detail::attach_from(run, begin, std::forward<Part>(part).stages(),
                               std::index_sequence<(I + 1)...>());
}
template <class Policy, class Part>
auto& attach_source_part(run_core<Policy>& run, Part&& part) {
    using stages = std::remove_cvref_t<decltype(part.stages())>;
    return detail::attach_source_part(run, std::forward<Part>(part),
                                      std::make_index_sequence<std::tuple_size_v<stages> - 1>());
}

}  // namespace weir::detail

#endif
