// weir stages, internal: what all stages have in common that call a function with each item
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_FUNCTION_STAGE_HPP
#define WEIR_STAGES_FUNCTION_STAGE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/call_traits.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage_kind.hpp>

#include <exception>    // for std::current_exception
#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::forward, std::move

namespace weir::detail {

// How a stage calls its function. `Given`: that, or the factory of them; `C`: what comes.
template <class Given, class C>
struct function_call {
    using traits =
        typename the_function<typename function_of<Given>::type>::template is_given<carried_value_t<C>>;
    using more = nothing;  // what a worker has in hand for the call, beside the item
};

// The function, made for each slot or once for all. `Given`: it, or the factory of them; `Types`: its
// `call_traits`. What a kind has in hand has the item's provenance, `about`.
template <class Given, class Types, class C, class D, class Policy>
class function_stage : public stage_kind<C, D, Policy> {
    using base = stage_kind<C, D, Policy>;
    using Function = typename function_of<Given>::type;

  public:
    using typename base::slot;
    // A function of its own for each slot, or one for all.
    using resources = std::conditional_t<is_slot_factory<Given>, std::optional<Function>, nothing>;
    static constexpr bool waits = Types::waits;

    template <class G>
    function_stage(run_context& run, const char* kind, const stage_options& options, G&& f,
                   channel<C, Policy>& in, typename base::output_queue& out)
        : base(run, kind, options, &in, &out), given_(std::forward<G>(f)) {
        if constexpr (!Policy::statistics) detail::measure_nothing(given_);
        run_context::refuse_unless(options.time_limit >= duration(0), options,
                                   "has a negative time limit; 0 means that there is none");
    }

    bool is_resizable() const noexcept override { return true; }
    bool tolerates_failure(const auto&) const noexcept { return true; }
    bool needs_invocation() const noexcept { return Types::takes_call; }
    bool acquire_resources([[maybe_unused]] auto& context) noexcept {
        if constexpr (is_slot_factory<Given>) {
            try {
                context.resources.emplace(given_.make());
                this->read_clock(context.slot);
            } catch (...) {
                this->read_clock(context.slot);
                this->fail_stage(context.slot, 0, std::current_exception());
                return false;  // what the other slots have in hand is finished
            }
        }
        return true;
    }
    void release_resources([[maybe_unused]] auto& context) noexcept {
        if constexpr (is_slot_factory<Given>) context.resources.reset();
    }

    void on_item(auto& it) noexcept { it.about = base::load::provenance_of(*it.item); }
    void on_skipped(auto& it) noexcept {
        if constexpr (requires { function(it).left_out(it.context->guard->call()); }) {
            if (it.context->guard) function(it).left_out(it.context->guard->call());
        }
    }
    decltype(auto) call(auto& it) {
        auto& item = base::load::value_of(*it.item);
        const invocation* call = nullptr;
        if constexpr (Types::takes_call) call = &it.context->guard->call();
        if constexpr (requires { it.more; }) {
            return detail::call(function(it), std::move(item), call, *it.more);
        } else {
            return detail::call(function(it), std::move(item), call);
        }
    }
    void acknowledge(auto& it) noexcept { this->acknowledge_drop(std::move(it.about)); }

  private:
    auto& function([[maybe_unused]] auto& it) noexcept {
        if constexpr (is_slot_factory<Given>) {
            return *it.context->resources;
        } else {
            return given_;
        }
    }
    std::optional<transfer_stats> transfers() const override { return detail::transfers_of(given_); }

    Given given_;
};

}  // namespace weir::detail

#endif
