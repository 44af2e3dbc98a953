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
#include <weir/stages/in_hand.hpp>
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
    using tools = std::conditional_t<is_slot_factory<Given>, std::optional<Function>, nothing>;
    static constexpr bool any_concurrency = true;
    static constexpr bool is_tolerant = true;
    static constexpr bool waits = Types::waits;

    template <class G>
    function_stage(run_context& run, const char* kind, const stage_options& options, G&& f,
                   channel<C, Policy>& in, typename base::output& out)
        : base(run, kind, options, &in, &out), given_(std::forward<G>(f)) {
        if constexpr (!Policy::statistics) detail::measure_nothing(given_);
        run_context::refuse_unless(options.time_limit >= duration(0), options,
                                   "has a negative time limit; 0 means that there is none");
    }

    bool wants_call() const noexcept { return Types::takes_call; }
    bool equip([[maybe_unused]] auto& on) noexcept {
        if constexpr (is_slot_factory<Given>) {
            try {
                on.tools.emplace(given_.make());
                this->tick(on.me);
            } catch (...) {
                this->tick(on.me);
                this->gave_up(on.me, 0, std::current_exception());
                return false;  // what the other slots have in hand is finished
            }
        }
        return true;
    }
    void put_away([[maybe_unused]] auto& on) noexcept {
        if constexpr (is_slot_factory<Given>) on.tools.reset();
    }

    void accept(auto& now) noexcept { now.about = base::load::provenance_of(*now.item); }
    void left_out(auto& now) noexcept {
        if constexpr (requires { function(now).left_out(now.on->around->call()); }) {
            if (now.on->around) function(now).left_out(now.on->around->call());
        }
    }
    decltype(auto) begin(auto& now) {
        auto& item = base::load::value_of(*now.item);
        const invocation* call = nullptr;
        if constexpr (Types::takes_call) call = &now.on->around->call();
        if constexpr (requires { now.more; }) {
            return detail::call(function(now), std::move(item), call, *now.more);
        } else {
            return detail::call(function(now), std::move(item), call);
        }
    }
    void acknowledge(auto& now) noexcept { this->dismiss(std::move(now.about)); }

  private:
    auto& function([[maybe_unused]] auto& now) noexcept {
        if constexpr (is_slot_factory<Given>) {
            return *now.on->tools;
        } else {
            return given_;
        }
    }
    std::optional<transfer_stats> transfers() const override { return detail::transfers_of(given_); }

    Given given_;
};

}  // namespace weir::detail

#endif
