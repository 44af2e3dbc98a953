// weir stages: `pipe`, the stage that applies a function to each item
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_PIPE_HPP
#define WEIR_STAGES_PIPE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/running_function.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_kind.hpp>
#include <weir/stages/stage_worker.hpp>

#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t, std::remove_cvref_t
#include <utility>      // for std::move

namespace weir {

namespace detail {

// The result for an item. `value`: from the function. `result`: in a run with epochs (passes over the data),
// an end-of-epoch mark, or the value with its provenance: the epoch, and for checkpoints the items of the
// source from which the value was made. `More`: stores the second argument of the function, if there is one.
template <class C, class Value, class More>
struct one_result : More {
    using wrapped = std::conditional_t<is_epoch_item<C>, std::optional<carry_t<C, Value>>, nothing>;
    std::optional<Value> value;
    [[no_unique_address]] wrapped result;
    [[no_unique_address]] typename epoch_item_traits<C>::provenance item_provenance;
};

// A pipe whose function returns one result, or none.
template <class Given, class C, class Policy, class Call = function_call<Given, C>>
class running_pipe : public ordered_function<Given, call_signature<Call, C>, C, Policy> {
    using signature = call_signature<Call, C>;
    using base = ordered_function<Given, signature, C, Policy>;
    using D = typename signature::D;

  public:
    using iteration = typename base::template iteration_with<
        one_result<C, typename signature::value, typename signature::argument_state>,
        typename base::resources>;

    template <class G>
    running_pipe(run_context& run, const stage_options& options, G&& f, channel<C, Policy>& in,
                 typename base::output_queue& out)
        : base(run, options, std::forward<G>(f), in, out), is_elementwise_(options.elementwise) {}

    // The worker of the stage calls these functions for each item; stages/stage_kind.hpp says when.
    decltype(auto) work(iteration& it) {
        if constexpr (base::waits) {
            return this->call(it);
        } else if (!it.place.mark) {
            signature::store(it.value, this->call(it));
        }
    }
    template <class Got>
    void store_result(iteration& it, Got&& got) {
        signature::store(it.value, std::forward<Got>(got));
    }
    void discard_result(iteration& it) noexcept { it.value.reset(); }
    any_item result_for_hooks(iteration& it) const noexcept {
        return it.value ? any_item(*it.value) : any_item();
    }
    D* next_result(iteration& it) noexcept {
        if constexpr (!is_epoch_item<C>) {
            return detail::pointer_to(it.value);
        } else if (it.place.mark) {
            return &it.result.emplace(D::end_of_epoch(it.place.epoch));
        } else if (it.value) {
            // For checkpoints, each element of this result then counts as made of the whole item.
            if (!is_elementwise_) it.item_provenance.clear_elementwise();
            return &it.result.emplace(base::item_traits::carry(*it.value, std::move(it.item_provenance)));
        } else {
            this->acknowledge_drop(std::move(it.item_provenance));  // no checkpoint waits for the item
            return nullptr;
        }
    }

  private:
    const bool is_elementwise_;  // `stage_options::elementwise`
};

// The results for an item, made one after the other. `Kept`: the types of the function.
template <class C, class Kept>
struct many_results : one_result<C, typename Kept::value, typename Kept::argument_state> {
    std::optional<typename Kept::types::result> values;  // the generator
    bool is_first = true;                                // no value, and no mark, was given yet
};

// A pipe whose function returns a `generator` or `async_generator`. Each value is put before the next one is
// made. The time of the task does not include the waits for room in the queue.
template <class Given, class C, class Policy, class Call = function_call<Given, C>>
class running_expansion : public ordered_function<Given, call_signature<Call, C>, C, Policy> {
    using signature = call_signature<Call, C>;
    using base = ordered_function<Given, signature, C, Policy>;
    using types = typename signature::types;
    using value = typename types::value;
    using D = typename signature::D;

  public:
    using iteration =
        typename base::template iteration_with<many_results<C, signature>, typename base::resources>;
    static constexpr stage_traits traits{.makes_results_later = true};

    template <class G>
    running_expansion(run_context& run, const stage_options& options, G&& f, channel<C, Policy>& in,
                      typename base::output_queue& out)
        : base(run, options, std::forward<G>(f), in, out) {
        run_context::refuse_unless(options.output_order == output_order::completion, options,
                                   "gives many items for one, each as it comes: with several slots it "
                                   "can't keep the order of the input");
        run_context::refuse_unless(options.time_limit == duration(0), options,
                                   "gives many items for one, at the pace of the next stage: it can't have "
                                   "a time limit");
    }

    // The worker of the stage calls these functions for each item; stages/stage_kind.hpp says when.
    decltype(auto) work(iteration& it) {
        if constexpr (base::waits) {
            return this->call(it);
        } else if (!it.place.mark) {
            it.values.emplace(this->call(it));
        }
    }
    template <class Got>
    void store_result(iteration& it, Got&& got) {
        it.values.emplace(std::forward<Got>(got));
    }
    auto fetch_result(iteration& it) {
        if constexpr (is_async_generator<typename types::result>) {
            return it.values->next();
        } else if (!it.place.mark) {
            detail::replace(it.value, detail::next_of<value>(*it.values, it.is_first));
        }
    }
    void store_fetched(iteration& it, std::optional<value>&& next) {
        detail::replace(it.value, std::move(next));
    }
    D* next_result(iteration& it) noexcept {
        const bool is_first = std::exchange(it.is_first, false);
        if constexpr (is_epoch_item<C>) {
            if (it.place.mark) {
                return is_first ? &it.result.emplace(D::end_of_epoch(it.place.epoch)) : nullptr;
            }
        }
        if (!it.value) return nullptr;
        if constexpr (is_epoch_item<C>) {
            return &it.result.emplace(base::item_traits::carry(*it.value, it.item_provenance.share()));
        } else {
            return detail::pointer_to(it.value);
        }
    }
    bool is_last_result(const iteration&) const noexcept { return false; }  // only the generator's end tells
    // The generator is destroyed before the item, to which it may refer.
    void end_task(iteration& it) noexcept { it.values.reset(); }
};

// The class of a pipe in a run, by what its function returns.
template <class Given, class C, class Policy, class Call = function_call<Given, C>>
using pipe_kind = std::conditional_t<Call::traits::gives_many, running_expansion<Given, C, Policy, Call>,
                                     running_pipe<Given, C, Policy, Call>>;

template <class Function>
struct pipe_stage : stage_base {
    static constexpr const char* kind = "pipe";

    template <class G>
    pipe_stage(G&& f, kept_options o) : stage_base{std::move(o)}, function(std::forward<G>(f)) {}

    template <class C>
    using output = typename call_signature<function_call<Function, C>, C>::D;

    template <class Self, class Policy, class C>
    static channel<output<C>, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        using running = stage_of<pipe_kind<kept_function_t<Function, C>, C, Policy>>;
        const stage_options& options = self.options;
        auto&& kept = keep_function<Function, C>(std::forward<Self>(self).function);
        return run.template append<running>(options, in, std::forward<decltype(kept)>(kept));
    }

    Function function;
};

// Returns a `pipe_stage`, which describes a pipe. `adapted`: the function of the pipe: the user's function,
// of type `Function`, or one that calls it. The class `Function` gives the default name of the stage.
template <class Function, class Adapted>
auto pipe_of(const char* kind, Adapted&& adapted, stage_options options) {
    return pipe_stage<kept_t<Adapted>>(
        static_cast<typename kept<Adapted>::given>(adapted),
        kept_options::of_function<std::remove_cvref_t<Function>>(std::move(options), kind));
}

}  // namespace detail

/// Applies a function to each item.
///
///     weir::source(files) | weir::pipe(decode, {.name = "decode", .concurrency = 4}) | weir::sink()
///
/// \param function  called with an item (moved in), and, if `function` requires a second argument, with the
///                  `invocation`, which has the item's number, epoch and slot. The type that the function
///                  returns decides what the stage does:
///                  - a value: it is the item for the next stage;
///                  - `std::optional`: an empty one drops the item;
///                  - `generator<U>`, `async_generator<U>`: each value is an item, put as it comes;
///                  - `task<U>`, or any awaitable: it is awaited, and its result handled as described above.
///                  Each run gets a copy of the function (start a pipeline as an rvalue to move it). All
///                  slots (workers) of the stage share the function, unless `per_slot` makes one for each:
///                  with a concurrency over 1 several threads call the function at once.
/// \param options   see `stage_options`.
/// Order:    with a concurrency of 1, items leave in the order in which they came; with more, as they are
///           done, or as `stage_options::output_order` says. No item overtakes the end of an epoch.
/// Resumes:  a suspended function, where its awaitable resumes it; the stage, on its own executor.
/// Errors:   an exception from the function fails the item, which is lost. If more items fail than
///           `stage_options::max_failures`, the run stops. With a generator, `output_order::input` and a time
///           limit are refused at the start of a run.
template <class Function>
[[nodiscard]] auto pipe(Function&& function, stage_options options = {}) {
    return detail::pipe_of<Function>("pipe", std::forward<Function>(function), std::move(options));
}

/// Rejects the name of an overloaded function, and options of another type, at compile time.
template <class Function = detail::not_deduced, class Options = stage_options,
          class = detail::refused_t<Function, Options>>
void pipe(Function&&, Options&& = {}) noexcept;

/// Rejects a third argument at compile time.
template <class Function, class Third, class... More>
auto pipe(Function&& function, stage_options options, Third&&, More&&...) {
    static_assert(std::is_void_v<Third>,
                  "weir: a pipe takes a function and options, and no third argument; capture in a lambda "
                  "what else the function needs");
    return weir::pipe(std::forward<Function>(function), std::move(options));
}

}  // namespace weir

#endif
