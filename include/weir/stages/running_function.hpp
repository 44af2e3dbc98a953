// weir stages, internal: the function of a `pipe` in a run: hides its type, keeps the order of its results
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_RUNNING_FUNCTION_HPP
#define WEIR_STAGES_RUNNING_FUNCTION_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/channel_operations.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/owned.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/common_waits.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage_kind.hpp>

#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t, std::remove_cvref_t
#include <utility>      // for std::forward, std::in_place_t, std::move

namespace weir::detail {

// Holds any function that takes an item of type `T` and returns `R`. If `TakesCall`, the function also takes
// the `invocation`, which describes the call. A running stage stores its function in an `any_function`, and
// so is compiled once for all functions with the same `R` and `T`. Cost: an allocation for each run, a
// virtual call for each item.
//
// Measured with g++ 12, for three stages that add 1 to an int; in ns an item, without and with an
// `any_function`: 64 and 67 with queues of capacity 64, 148 and 132 with capacity 2. With statistics: 83 and
// 87 with capacity 64, 264 and 247 with capacity 2. One more stage takes 0.43 and 0.11 s to compile at -O2,
// 0.17 and 0.03 s at -O0. Rejected: a pointer to a function in place of the virtual call (71 ns, 94 ns with
// statistics); small items by value (no difference).
template <class R, class T, bool TakesCall>
class any_function {
    struct callee : hidden_object {
        virtual R call(T&& item, const invocation* info) = 0;
    };
    template <class Function>
    struct callee_of final : callee {
        template <class G>
        explicit callee_of(std::in_place_t, G&& g) : function(std::forward<G>(g)) {}
        R call(T&& item, const invocation* info) override {
            return detail::call(function, std::move(item), info);
        }
        Function function;
    };

  public:
    template <class Function>
    any_function(std::in_place_t, Function&& function)
        : callee_(new callee_of<std::remove_cvref_t<Function>>(std::in_place,
                                                               std::forward<Function>(function))) {}

    R operator()(T&& item)
        requires(!TakesCall)
    {
        return static_cast<callee&>(*callee_).call(std::move(item), nullptr);
    }
    R operator()(T&& item, const invocation& info)
        requires TakesCall
    {
        return static_cast<callee&>(*callee_).call(std::move(item), &info);
    }

  private:
    owned<hidden_object> callee_;
};

// Whether the type of a function can be hidden. Not if the function is a factory of functions (`per_slot`),
// or has one of the members below, which the stage calls.
template <class Function>
inline constexpr bool is_erasable =
    !is_slot_factory<Function> && !requires(Function& f, const invocation& call) { f.left_out(call); } &&
    !requires(Function& f) { f.measure_nothing(); } && !requires(const Function& f) { f.transfers(); };

// The type in which a stage keeps a function: an `any_function` if the type of the function can be hidden.
// `C`: the element type of the queue before the stage.
template <class Function, class C>
struct kept_function {
    using type = Function;
};
template <class Function, class C>
    requires is_erasable<Function>
struct kept_function<Function, C> {
    using traits = typename function_call<Function, C>::traits;
    using type = any_function<typename traits::returned, carried_value_t<C>, traits::takes_call>;
};
template <class Function, class C>
using kept_function_t = typename kept_function<Function, C>::type;

// Returns `function`, or the `any_function` in which a stage keeps it.
template <class Function, class C, class G>
decltype(auto) keep_function(G&& function) {
    if constexpr (is_erasable<Function>) {
        return kept_function_t<Function, C>(std::in_place, std::forward<G>(function));
    } else {
        return std::forward<G>(function);
    }
}

// The types of a pipe's function, and of the queues of its stage. `Call`: how the function is called; `C` and
// `D`: the element types of the queues before and behind the stage.
template <class Call, class C>
struct call_signature {
    using argument_state = typename Call::argument_state;
    static constexpr bool gives_many = Call::traits::gives_many;
    using types = pipe_types<typename Call::traits>;
    using value = typename types::value;
    using D = carry_t<C, value>;

    // Stores the result of the function. An empty optional result stores nothing.
    template <class R>
    static void store(std::optional<value>& result, R&& r) {
        if constexpr (types::may_skip) {
            if (r) result.emplace(*std::forward<R>(r));
        } else {
            result.emplace(std::forward<R>(r));
        }
    }
};

// Replaces the `output_sequencer` (in which slots wait for their turns) in a stage whose slots never wait.
struct no_turns {
    no_turns(const turn_rule&, const char*) noexcept {}
};

// The base of both kinds of pipe, `running_pipe` and `running_expansion`. Keeps the order of the results if
// the options demand it, or if `weir::profile`, which tries several concurrencies, may run a stage of one
// slot (worker) with several slots. If the items have epochs (passes over the data), keeps at least the order
// of epochs. `Given`: the function; `Kept`: a `call_signature`.
// - Order of items, at most one result per item: the queue behind the stage keeps the order. A slot that is
//   done early puts the result into the result's place in that queue, and takes the next item.
// - Order of items, several results per item: a slot waits until all earlier items have left the stage.
// - Order of epochs only: a slot waits until all items of earlier epochs have left the stage.
template <class Given, class Kept, class C, class Policy>
class ordered_function : public function_stage<Given, typename Kept::types, C, typename Kept::D, Policy> {
    using base = function_stage<Given, typename Kept::types, C, typename Kept::D, Policy>;
    using D = typename Kept::D;
    static constexpr bool gives_one = !Kept::gives_many;
    static constexpr bool has_turns = !gives_one || is_epoch_item<C>;

  public:
    using typename base::output_queue;
    using typename base::slot;
    using output = std::conditional_t<gives_one, numbered_put<output_queue>, typename base::output>;

    template <class G>
    ordered_function(run_context& run, const stage_options& options, G&& f, channel<C, Policy>& in,
                     typename base::output_queue& out)
        : base(run, "pipe", options, std::forward<G>(f), in, out),
          keeps_order_(options.output_order == output_order::input ||
                       (run.is_profiled() && options.concurrency == 1)),
          turns_(turn_rule(keeps_order_, run.first_epoch()), "for its turn to give an item on") {
        if (puts_in_order()) detail::base_of(out).keep_order();
    }

    // Whether the queue behind the stage keeps the order of the items.
    bool puts_in_order() const noexcept { return gives_one && keeps_order_; }
    // Whether slots wait for their turns.
    bool is_ordered() const noexcept {
        return has_turns && !puts_in_order() && (keeps_order_ || is_epoch_item<C>);
    }
    // Prepares a take. With `puts_in_order`, the slot does not yield its thread after it has taken an item:
    // the results of later items would wait for this slot.
    void take(auto& from, slot& me, auto& it) noexcept {
        base::take(from, me, it);
        if constexpr (requires { from.end_slices_only_at_puts(); }) {
            if (puts_in_order()) from.end_slices_only_at_puts();
        }
    }
    // The worker of the stage calls these functions for each item: see stages/stage_kind.hpp.
    auto wait_for_turn([[maybe_unused]] const auto& it, [[maybe_unused]] slot& me) noexcept {
        if constexpr (has_turns) {
            return turns_.wait(it.place, me, slot_state::wait_turn);
        } else {
            return no_wait();
        }
    }
    WEIR_ALWAYS_INLINE void begin_put(output& to, D* result, output_queue& queue, const auto& it) noexcept {
        if constexpr (gives_one) {
            if (keeps_order_) return to.next_in_order(result, queue, it.place.number);
        }
        to.next(*result, queue);
    }
    bool leave_turn([[maybe_unused]] const auto& it) noexcept {
        if constexpr (has_turns) turns_.update(detail::leave_turn{it.place}, it.context->slot);
        return true;
    }
    // The stage ends at this item: refuses later items, whose turns never come.
    void block_turns(const auto& it) noexcept {
        if (puts_in_order()) {
            detail::base_of(*this->out_).block_puts(it.place.number);
        } else if constexpr (has_turns) {
            if (!is_ordered()) return;
            turns_.update(detail::block_turn{it.place});
            turns_.ask_all();  // refuses items behind those that have to wait, too
        }
    }

  private:
    // Whether the results leave in the order of their items: if the options say so; or if the stage has one
    // slot by its options, and `weir::profile` may run the stage with several slots.
    const bool keeps_order_;
    std::conditional_t<has_turns, output_sequencer, no_turns> turns_;
};

}  // namespace weir::detail

#endif
