// weir graph, internal: the order in which several inputs give items: turns, weights, priorities, epochs
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_MERGE_RULE_HPP
#define WEIR_GRAPH_MERGE_RULE_HPP

#include <weir/channel/wait_queue.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/platform/random_bits.hpp>

#include <algorithm>  // for std::all_of
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <vector>     // for std::vector

namespace weir {

/// The order in which several inputs give items.
enum class merge_order {
    arrival,      ///< as items arrive
    round_robin,  ///< one item of each input in turn; waits for the input whose turn it is
    weighted,     ///< in turn, each input as often as its weight says, spread evenly
    priority,     ///< of the inputs that have an item, the first argument of `merge`
    random        ///< in turn; each turn is drawn at random by weight: see `merge_options::seed`
};

namespace detail {

// What an input has to give: an item, or the mark that an epoch has ended.
struct merge_ticket {
    std::size_t input = 0;
    std::uint64_t epoch = 0;
    bool mark = false;
};

// Decides which input may put its item. The mark of an epoch is put once, when all inputs are at it; until
// then none continues with the next epoch.
//
// Turns depend on the items of the inputs and not on their times: an end or a mark of an input counts when it
// is the turn of this input, even if it is known before.
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

    merge_rule(const settings& how, std::uint64_t first_epoch)
        : order_(how.order), until_first_end_(how.until_first_end), has_user_rule_(how.has_user_rule),
          epoch_(first_epoch), seed_(how.seed) {
        double greatest = 0;
        for (const double each : how.weights) greatest = detail::larger(greatest, each);
        for (const double each : how.weights) {
            // One division, and a product with a power of two: equal on every platform.
            const double share = greatest > 0 ? each / greatest * greatest_share : 0;
            inputs_.push_back({.weight = each, .share = static_cast<std::uint64_t>(share)});
        }
        next_turn();
    }

    // Called by each input before `ask`.
    void arrive(const merge_ticket& t) noexcept {
        inputs_[t.input].has = t.mark ? state::mark : state::item;
        skip_ended_inputs();
    }

    admission ask(const merge_ticket& t) noexcept {
        const admission answer = judge(t);
        if (answer == admission::go) busy_ = true;
        return answer;
    }
    admission judge(const merge_ticket& t) const noexcept {
        if (closed_) return admission::refused;
        if (t.mark) {
            // The mark of another input was put; or an input has ended early, so that the epoch has no end.
            if (t.epoch < epoch_ || incomplete_) return admission::refused;
            const bool all = std::all_of(inputs_.begin(), inputs_.end(),
                                         [](const input& i) { return i.has_ended_epoch(); });
            if (!all || busy_ || (has_user_rule_ && !none_open())) return admission::wait;
        } else if (order_ != merge_order::arrival || has_user_rule_) {
            if (busy_) return admission::wait;
            if (order_ == merge_order::priority) {
                for (std::size_t i = 0; i < t.input; ++i) {
                    if (inputs_[i].has == state::item) return admission::wait;
                }
            } else if (turn_ != t.input) {
                return admission::wait;
            }
        }
        return admission::go;
    }

    // The item or mark was put. `more`: the input has another one.
    void leave(const merge_ticket& t, bool more) noexcept {
        busy_ = false;
        if (t.mark) {
            epoch_ = t.epoch + 1;
            for (input& each : inputs_) {
                if (each.has == state::mark) each.has = state::nothing;
                each.has_no_turn = false;
            }
            next_ = 0;
            draws_ = 0;
            next_turn();
        } else {
            inputs_[t.input].has = more ? state::item : state::nothing;
            if (turn_ == t.input) next_turn();
        }
        skip_ended_inputs();
    }

    // The input has ended. `early`: maybe because of a stop or a failure.
    void end(std::size_t which, bool early = false) noexcept {
        inputs_[which].has = state::end;
        incomplete_ = incomplete_ || early;
        const bool has_no_turns = order_ == merge_order::arrival || order_ == merge_order::priority;
        if (until_first_end_ && has_no_turns && !has_user_rule_) closed_ = true;
        skip_ended_inputs();
    }
    // Whether the caller has to choose the next turn among `open`, and to call `choose`. True for one caller
    // of each choice. `open` has capacity for all inputs.
    bool claim_choice(std::vector<std::size_t>& open) noexcept {
        if (!choice_due_ || closed_ || none_open()) return false;
        choice_due_ = false;
        open.clear();
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            if (!inputs_[i].has_no_turn) open.push_back(i);
        }
        return true;
    }
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
        double credit = 0;
        std::uint64_t share = 0;  // the weight as a whole number
    };

    // Inputs that have ended, or have ended the epoch, lose their turns. Credits then begin anew, as they
    // balance each other.
    void skip_ended_inputs() noexcept {
        while (turn_ != inputs_.size() && inputs_[turn_].has_ended_epoch()) {
            if (inputs_[turn_].has == state::end && until_first_end_) {
                closed_ = true;
                return;
            }
            inputs_[turn_].has_no_turn = true;
            for (input& each : inputs_) each.credit = 0;
            next_turn();
        }
    }

    void next_turn() noexcept {
        const std::size_t n = inputs_.size();
        turn_ = n;
        if (has_user_rule_) {
            choice_due_ = true;
        } else if (order_ == merge_order::weighted) {
            next_by_weight();
        } else if (order_ == merge_order::random) {
            next_by_draw();
        } else {
            for (std::size_t k = 0; k < n && turn_ == n; ++k) {
                if (!inputs_[(next_ + k) % n].has_no_turn) turn_ = (next_ + k) % n;
            }
            next_ = turn_ + 1;
        }
    }

    // Smooth weighted round robin (as in nginx): each input gains its weight; the input with the greatest
    // credit has the turn, and pays the sum of the weights.
    void next_by_weight() noexcept {
        double all = 0;
        for (const input& each : inputs_) all += each.has_no_turn ? 0.0 : each.weight;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            input& each = inputs_[i];
            if (each.has_no_turn || (each.weight <= 0 && all > 0)) continue;
            each.credit += each.weight;
            if (turn_ == inputs_.size() || each.credit > inputs_[turn_].credit) turn_ = i;
        }
        if (turn_ != inputs_.size()) inputs_[turn_].credit -= all;
    }

    // With a probability proportional to the weights of the inputs that have turns; if all are 0, equal. The
    // draws of an epoch don't depend on other epochs.
    void next_by_draw() noexcept {
        std::uint64_t all = 0, left = 0;
        for (const input& each : inputs_) {
            all += each.has_no_turn ? 0 : each.share;
            left += each.has_no_turn ? 0U : 1U;
        }
        std::uint64_t lot = high_product(splitmix64(subseed(seed_, epoch_), draws_++), all == 0 ? left : all);
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const std::uint64_t share = all == 0 ? 1 : inputs_[i].share;
            if (inputs_[i].has_no_turn) continue;
            if (lot < share) {
                turn_ = i;
                return;
            }
            lot -= share;
        }
    }

    bool none_open() const noexcept {
        return std::all_of(inputs_.begin(), inputs_.end(), [](const input& i) { return i.has_no_turn; });
    }

    static constexpr double greatest_share = static_cast<double>(std::uint64_t{1} << 52U);

    merge_order order_;
    std::vector<input> inputs_;
    bool until_first_end_;
    bool has_user_rule_;
    bool choice_due_ = false;  // and not claimed yet
    std::uint64_t epoch_;
    std::uint64_t seed_;
    std::uint64_t draws_ = 0;  // in this epoch
    std::size_t turn_ = 0;
    std::size_t next_ = 0;  // the first candidate for the next turn, without weights
    bool busy_ = false;     // an input was admitted, and has not left yet
    bool closed_ = false;
    bool incomplete_ = false;  // an input has ended early: no epoch ends any more
};

}  // namespace detail

}  // namespace weir

#endif
