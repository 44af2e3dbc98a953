// weir stages, internal: what a kind of stage says of itself to the loop of its workers
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_KIND_HPP
#define WEIR_STAGES_STAGE_KIND_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/env.hpp>
#include <weir/run/running_stage.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/in_hand.hpp>
#include <weir/stages/intake.hpp>
#include <weir/stages/stage.hpp>

#include <cstdint>      // for std::uint64_t
#include <type_traits>  // for std::is_same_v

namespace weir::detail {

// `C`: what comes, or `nothing`; `D`: what is given on. A kind derives from this, and the
// `worker_loop` from it; it has a type `pass`, which is a `hand` with what it adds, and says:
//     D* next(pass& now) noexcept  what is to be given on now, and stays until it is taken; null: nothing
//     void work(pass& now)         what it does before; what it throws fails the item, or the stage
// All else is here, as most kinds have it; what a kind has otherwise it says by a member of the same name.
template <class C, class D, class Policy>
class stage_kind : public running_stage<Policy> {
  public:
    using typename running_stage<Policy>::slot;
    using policy_type = Policy;
    using item_taken = C;
    using item_given = D;
    using input = channel<C, Policy>;
    using output = channel<D, Policy>;

    stage_kind(run_context& run, const char* kind, const stage_options& options, input* in, output* out)
        : running_stage<Policy>(run, kind, options), in_(in), out_(out) {}

  protected:
    using load = epoch_item_traits<C>;
    template <class Own = nothing, class Tools = nothing>
    using hand = in_hand<C, D, slot, Own, Tools>;
    static constexpr bool takes = !std::is_same_v<C, nothing>;

    // ---- what kind it is
    static constexpr bool makes_items = false;      // it is a source, of which the run's bytes are limited
    static constexpr bool any_concurrency = false;  // it works with any number of slots, also a changing one
    static constexpr bool is_invoked = true;        // its work is an invocation: hooks hear, it is counted
    static constexpr bool is_tolerant = false;      // an item may fail; else the stage can't go on
    static constexpr bool gathers_parts = false;    // several of what comes are one: see `is_complete`
    static constexpr bool gives_item = false;       // what it gives on is the item that came
    static constexpr bool waits = false;            // its work is awaited: `begin`, `awaiting` and `keep`
    static constexpr bool drops_result = false;     // and what it gives is nobody's: no `keep`
    static constexpr bool has_time_limit = false;   // of an invocation, whose result is `now.value`
    static constexpr bool works_without_item = false;  // also at the end, or when it is recalled
    static constexpr bool gives_several = false;       // `next` is called until it gives null, or `is_done`
    static constexpr bool results_are_work = false;    // to make the next one is part of the invocation
    static constexpr bool results_wait = false;        // and is awaited: `next_value` and `keep_next`
    static constexpr bool has_turns = false;  // it may have to wait for its turn: `turn`, `leave_turn`

    static constexpr made_of results_are_of = made_of::its_item;  // if all: `has_item` and `holds`

    static constexpr bool numbers_itself = !takes;                       // by those that count, from 0
    using tools = nothing;                                               // what each slot works with
    using taking = std::conditional_t<takes, intake<input>, no_intake>;  // how it takes: see intake.hpp

    // ---- what it does, in this order
    // False: it can't, and has told why.
    bool equip(auto&) noexcept { return true; }
    void put_away(auto&) noexcept {}
    void take(taking& next, slot&, auto&) noexcept {
        if constexpr (takes) next.comes_from(*in_);
    }
    // Which sources of the run it is, if it makes items: see `byte_budget`.
    std::uint64_t sources(const auto&) const noexcept { return 0; }
    bool wants_call() const noexcept { return false; }  // to know which invocation it is
    duration limit() const noexcept { return duration(0); }
    // Whether there is anything to invoke. A kind that has `counts` says there, afterwards, whether that
    // counts as an invocation; else it does.
    bool is_call(const auto& now) const noexcept { return !now.mine.mark && (now.item != nullptr || !takes); }
    void accept(auto&) noexcept {}  // an item came
    // It failed before it began.
    void left_out(auto&) noexcept {}
    void work(auto&) noexcept {}
    // What its work waits for, so that its slot knows.
    static decltype(auto) awaiting(auto& pending, coroutine_env& env) {
        return detail::await_measured(pending, env);
    }
    bool is_tolerable(const auto&) const noexcept { return true; }
    // The invocation has ended; what it needed goes, before the item does.
    void release(auto&) noexcept {}
    // All that comes of the item was given, or it failed, which is tolerated: for a checkpoint it is taken,
    // if the run goes on (`dismiss`).
    void acknowledge(auto&) noexcept {}
    bool is_done(const auto&) const noexcept { return false; }
    output& output_for(const auto&) noexcept { return *out_; }
    // Who takes it takes nothing any more.
    bool goes_on_without(const auto&) noexcept { return false; }
    bool takes_turns() const noexcept { return false; }
    void block(const auto&) noexcept {}
    bool ends_when_refused() const noexcept { return true; }
    bool is_over(const auto&) const noexcept { return false; }
    // It has ended: takes no more, and then gives no more.
    void take_no_more(slot&) noexcept { in_->cancel(); }
    void leave_stage(slot& me) noexcept { this->leave(me, *out_); }

    // A function made nothing of it, which for a checkpoint is for good; not once the run was asked to stop,
    // as the function may have given up because of that.
    void dismiss(provenance about) const noexcept {
        if (!this->run_.may_give_up()) about.acknowledge();
    }
    static void dismiss(no_provenance) noexcept {}

    // Marks are no items.
    template <class Turn>
    std::uint64_t number_of(const Turn& t) const noexcept {
        return t.number - (is_epoch_item<C> ? t.epoch - this->run_.first_epoch() : 0);
    }

    input* const in_;
    output* const out_;
};

}  // namespace weir::detail

#endif
