// weir stages: the stage that applies a function
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_PIPE_HPP
#define WEIR_STAGES_PIPE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/running_pipe.hpp>
#include <weir/stages/stage.hpp>

#include <type_traits>  // for std::remove_cvref_t
#include <utility>      // for std::move

namespace weir {

namespace detail {

template <class Function>
struct pipe_stage : stage_base {
    static constexpr const char* kind = "pipe";

    template <class G>
    pipe_stage(G&& f, kept_options o) : stage_base{std::move(o)}, function(std::forward<G>(f)) {}

    template <class C>
    using output = typename piped<function_call<Function, C>, C>::D;

    template <class Self, class Policy, class C>
    static channel<output<C>, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        // NOLINTNEXTLINE(bugprone-use-after-move): another part of it
        return run.template append<running_function<Function, C, Policy>>(self.options, in,
                                                                          std::forward<Self>(self).function);
    }

    Function function;
};

// `adapted`: what the user's function has become for a pipe.
template <class Function, class Adapted>
auto pipe_of(const char* kind, Adapted&& adapted, stage_options options) {
    return pipe_stage<kept_t<Adapted>>(
        std::forward<Adapted>(adapted),
        kept_options::of_function<std::remove_cvref_t<Function>>(std::move(options), kind));
}

}  // namespace detail

/// Applies a function to each item.
///
/// \param function  called with an item (moved in), and, if it can be, with the `invocation`, which tells
///                  the item's number, epoch and slot. What it returns decides what the stage does:
///                  - a value: that is the item for the next stage;
///                  - `std::optional`: an empty one drops the item;
///                  - `task<U>`, or any awaitable: it is awaited, and its result taken as above;
///                  - `generator<U>`, `async_generator<U>`: each value is an item, put as it comes.
///                  Each run gets a copy of the function (start a pipeline as an rvalue to move it),
///                  which its slots share: with a concurrency over 1 several threads call it at once.
/// \param options   see `stage_options`.
/// Order:    with one slot, items leave in the order in which they came; with more, as they are done, or
///           as `stage_options::output_order` says. Never across the end of an epoch.
/// Resumes:  a function that waits, where what it waits for resumes it; the stage, on its own executor.
/// Errors:   an exception from the function fails the item: see `stage_options::max_failures`.
template <class Function>
[[nodiscard]] auto pipe(Function&& function, stage_options options = {}) {
    return detail::pipe_of<Function>("pipe", std::forward<Function>(function), std::move(options));
}

/// Refuses the name of an overloaded function, and what is not options, at compile time.
template <class Function = detail::not_deduced, class Options = stage_options,
          class = detail::refused_t<Function, Options>>
void pipe(Function&&, Options&& = {}) noexcept;

/// Refuses a third argument at compile time.
template <class Function, class Third, class... More>
auto pipe(Function&& function, stage_options options, Third&&, More&&...) {
    static_assert(std::is_void_v<Third>,
                  "weir: a pipe is given a function and its options, and no more: where it stands in the "
                  "program it knows by itself; what else the function needs goes into a lambda");
    return weir::pipe(std::forward<Function>(function), std::move(options));
}

}  // namespace weir

#endif
