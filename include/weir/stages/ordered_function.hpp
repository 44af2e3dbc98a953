// weir stages, internal: the base of `pipe`: calls a function with each item, and keeps the order of results
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_ORDERED_FUNCTION_HPP
#define WEIR_STAGES_ORDERED_FUNCTION_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/channel_operations.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/platform/config.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage_kind.hpp>

#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::forward

namespace weir::detail {

// The types of a pipe's function, and of the queues of its stage. `Call`: how the function is called; `C` and
// `D`: the element types of the queues before and behind the stage.
template <class Call, class C>
struct call_signature {
    using more = typename Call::more;
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

// The base of both kinds of pipe, `running_pipe` and `running_expansion`. Keeps the order of the results if
// the options demand it. If the items have epochs, keeps at least the order of epochs. `Given`: the function;
// `Kept`: a `call_signature`. If each item gives at most one result, the queue behind the stage keeps the
// order of the input. A slot (worker) that is done early puts its result into its place in that queue, and
// takes the next item. If an item may give several results, or only epochs are kept in order, a slot waits
// for the turn of its item.
template <class Given, class Kept, class C, class Policy>
class ordered_function : public function_stage<Given, typename Kept::types, C, typename Kept::D, Policy> {
    using base = function_stage<Given, typename Kept::types, C, typename Kept::D, Policy>;
    using D = typename Kept::D;
    static constexpr bool gives_one = !Kept::gives_many;

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

    bool puts_in_order() const noexcept { return gives_one && keeps_order_; }
    bool is_ordered() const noexcept { return !puts_in_order() && (keeps_order_ || is_epoch_item<C>); }
    // A slot must not yield its thread after it has taken an item: the results of all later items would wait.
    void take(auto& from, slot& me, auto& it) noexcept {
        base::take(from, me, it);
        if constexpr (requires { from.keep_slices(); }) {
            if (puts_in_order()) from.keep_slices();
        }
    }
    auto wait_for_turn(const auto& it, slot& me) noexcept {
        return turns_.wait(it.place, me, slot_state::wait_turn);
    }
    WEIR_ALWAYS_INLINE void begin_put(output& to, D* result, output_queue& queue, const auto& it) noexcept {
        if constexpr (gives_one) {
            if (keeps_order_) return to.next_in_order(result, queue, it.place.number);
        }
        to.next(*result, queue);
    }
    bool leave_turn(const auto& it) noexcept {
        turns_.update(detail::leave_turn{it.place}, it.context->slot);
        return true;
    }
    void block_turns(const auto& it) noexcept {
        if (puts_in_order()) {
            detail::base_of(*this->out_).block_puts(it.place.number);
        } else if (is_ordered()) {
            turns_.update(detail::block_turn{it.place});
        }
    }

  private:
    // Whether the results leave in the order of their items: if the options say so; or if the stage has one
    // slot by its options, while a profile runs the stage with several slots.
    const bool keeps_order_;
    output_sequencer turns_;
};

}  // namespace weir::detail

#endif
