// weir graph, internal: bodies of the functions of graph/fan_in.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_FAN_IN_IPP
#define WEIR_GRAPH_FAN_IN_IPP

#include <weir/graph/fan_in.hpp>

#include <weir/platform/config.hpp>

#include <algorithm>  // for std::all_of, std::ranges::count

namespace weir::detail {

WEIR_INLINE merge_rule::merge_rule(const settings& how, std::uint64_t first_epoch)
    : order_(how.order), until_first_end_(how.until_first_end), has_user_rule_(how.has_user_rule),
      epoch_(first_epoch), seed_(how.seed) {
    double greatest = 0;
    for (const double each : how.weights) greatest = detail::larger(greatest, each);
    for (const double each : how.weights) {
        // One division, and a product with a power of two: equal on every platform.
        const double share = greatest > 0 ? each / greatest * greatest_share : 0;
        // Only a weight of 0 has a share (the weight as a whole number) of 0.
        const double least = each > 0 ? 1 : 0;
        inputs_.push_back(
            {.weight = each, .share = static_cast<std::uint64_t>(detail::larger(share, least))});
    }
    next_turn();
}

WEIR_INLINE admission merge_rule::ask(const merge_ticket& t) noexcept {
    const admission answer = judge(t);
    if (answer == admission::go) busy_ = true;
    return answer;
}

WEIR_INLINE admission merge_rule::judge(const merge_ticket& t) const noexcept {
    if (closed_) return admission::refused;
    if (t.mark) {
        // Another input has put the mark that ends this epoch (pass over the data); or an input has ended
        // early, and no further mark is put.
        if (t.epoch < epoch_ || incomplete_) return admission::refused;
        const bool all =
            std::all_of(inputs_.begin(), inputs_.end(), [](const input& i) { return i.has_ended_epoch(); });
        if (!all || busy_ || (has_user_rule_ && !no_input_has_turns())) return admission::wait;
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

WEIR_INLINE void merge_rule::leave(const merge_ticket& t, bool more) noexcept {
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

WEIR_INLINE void merge_rule::end(std::size_t which, bool early) noexcept {
    inputs_[which].has = state::end;
    incomplete_ = incomplete_ || early;
    const bool has_no_turns = order_ == merge_order::arrival || order_ == merge_order::priority;
    if (until_first_end_ && has_no_turns && !has_user_rule_) closed_ = true;
    skip_ended_inputs();
}

WEIR_INLINE bool merge_rule::claim_choice(std::vector<std::size_t>& with_turns) noexcept {
    if (!choice_due_ || closed_ || no_input_has_turns()) return false;
    choice_due_ = false;
    with_turns.clear();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (!inputs_[i].has_no_turn) with_turns.push_back(i);
    }
    return true;
}

WEIR_INLINE void merge_rule::skip_ended_inputs() noexcept {
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

WEIR_INLINE void merge_rule::next_turn() noexcept {
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

WEIR_INLINE void merge_rule::next_by_weight() noexcept {
    double all = 0;
    for (const input& each : inputs_) all += each.has_no_turn ? 0.0 : each.weight;
    const bool are_equal = all <= 0;
    if (are_equal) all = static_cast<double>(std::ranges::count(inputs_, false, &input::has_no_turn));
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        input& each = inputs_[i];
        if (each.has_no_turn || (each.weight <= 0 && !are_equal)) continue;
        each.credit += are_equal ? 1 : each.weight;
        if (turn_ == inputs_.size() || each.credit > inputs_[turn_].credit) turn_ = i;
    }
    if (turn_ != inputs_.size()) inputs_[turn_].credit -= all;
}

WEIR_INLINE void merge_rule::next_by_draw() noexcept {
    std::uint64_t all = 0, left = 0;  // of the inputs that have turns: the sum of the shares, and the number
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

WEIR_INLINE bool merge_rule::no_input_has_turns() const noexcept {
    return std::all_of(inputs_.begin(), inputs_.end(), [](const input& i) { return i.has_no_turn; });
}

}  // namespace weir::detail

#endif
