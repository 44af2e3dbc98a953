// weir graph, internal: the order in which a merge takes items from its inputs
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_MERGE_RULE_HPP
#define WEIR_GRAPH_MERGE_RULE_HPP

#include <weir/channel/wait_queue.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/random_bits.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <vector>   // for std::vector

namespace weir {

/// The order in which several inputs give items.
enum class merge_order {
    arrival,      ///< as items arrive
    round_robin,  ///< one item of each input in turn; waits for the input whose turn it is
    weighted,     ///< in turn, each input as often as its weight says, spread evenly
    priority,     ///< of the inputs that have an item, the earliest among the arguments of `merge`
    random        ///< in turn; each turn is drawn at random by weight: see `merge_options::seed`
};

namespace detail {

// The request of an input to put its next item, or its mark at the end of an epoch.
struct merge_ticket {
    std::size_t input = 0;
    std::uint64_t epoch = 0;
    bool mark = false;
};

// The rule of a `wait_queue`, in which the slots of a `running_fan_in` wait, one for each input. Decides
// which input may put its item. The mark of an epoch is put once, when all inputs have reached it. Only then
// the inputs continue with the next epoch.
//
// Turns depend on the items of the inputs and not on their times: an end or a mark of an input counts when it
// is the turn of this input, even if the end or mark has come earlier.
class merge_rule {
  public:
    using ticket = merge_ticket;

    struct settings {
        merge_order order = merge_order::arrival;
        std::vector<double> weights = {};  // one for each input
        std::uint64_t seed = 0;
        bool until_first_end = false;
        bool has_user_rule = false;  // turns are chosen by the user: see claim_choice()
    };

    merge_rule(const settings& how, std::uint64_t first_epoch);

    // Called for each item and mark, before `ask`.
    void arrive(const merge_ticket& t) noexcept {
        inputs_[t.input].has = t.mark ? state::mark : state::item;
        skip_ended_inputs();
    }

    // Whether an input may put its item now. `judge` changes nothing; `ask` also records a positive answer.
    admission ask(const merge_ticket& t) noexcept;
    admission judge(const merge_ticket& t) const noexcept;

    // The item or mark was put. `more`: the input has another item.
    void leave(const merge_ticket& t, bool more) noexcept;

    // The input has ended. `early`: maybe because of a stop or a failure.
    void end(std::size_t which, bool early = false) noexcept;
    // If the user's function has to choose the next turn, and no other thread calls it, returns true. `open`
    // then has the inputs with turns, and the caller calls `choose` with one of them. `open` has capacity for
    // all inputs.
    bool claim_choice(std::vector<std::size_t>& open) noexcept;
    void choose(std::size_t which) noexcept {
        turn_ = which;
        skip_ended_inputs();
    }

    void close() noexcept { closed_ = true; }
    bool is_closed() const noexcept { return closed_; }
    bool is_incomplete() const noexcept { return incomplete_; }

  private:
    enum class state : std::uint8_t { nothing, item, mark, end };
    struct input {
        bool has_ended_epoch() const noexcept { return has == state::mark || has == state::end; }
        state has = state::nothing;
        bool has_no_turn = false;  // in the rest of the epoch
        double weight = 1;
        double credit = 0;        // see next_by_weight()
        std::uint64_t share = 0;  // the weight as a whole number
    };

    // Inputs that have ended, or have ended the epoch, lose their turns. All credits then become 0, because
    // their sum has to be 0.
    void skip_ended_inputs() noexcept;

    void next_turn() noexcept;

    // Smooth weighted round robin (as in nginx): each input gains its weight; the input with the greatest
    // credit has the turn, and pays the sum of the weights.
    void next_by_weight() noexcept;

    // Draws the next turn, with probabilities proportional to the weights of the inputs that have turns; if
    // all weights are 0, with equal ones. The draws of an epoch don't depend on other epochs.
    void next_by_draw() noexcept;

    bool none_open() const noexcept;

    // The `share` of the greatest weight: 2^52, so that the shares of 4095 inputs sum to less than 2^64.
    static constexpr double greatest_share = static_cast<double>(std::uint64_t{1} << 52U);

    merge_order order_;
    std::vector<input> inputs_;
    bool until_first_end_;
    bool has_user_rule_;
    bool choice_due_ = false;  // the user's function has to be called, and no thread has claimed this
    std::uint64_t epoch_;
    std::uint64_t seed_;
    std::uint64_t draws_ = 0;  // in this epoch
    std::size_t turn_ = 0;     // the input that has the turn; the number of inputs: none has
    std::size_t next_ = 0;     // the input that is tried first for the next turn, in an order without weights
    bool busy_ = false;        // an input was admitted, and has not left yet
    bool closed_ = false;
    bool incomplete_ = false;  // an input has ended early: no more epoch ends
};

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/graph/merge_rule.ipp>
#endif

#endif
