// weir graph, internal: which of several inputs gives the next item
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

/// From which of several inputs the next item comes.
enum class merge_order {
    arrival,      ///< as they come
    round_robin,  ///< one of each in turn; waits for the one whose turn it is
    weighted,     ///< in turn, each as often as its weight says, spread evenly
    priority,     ///< of those that have one, the first that was named
    random        ///< in turn, drawn by weight, each time anew: see `merge_options::seed`
};

namespace detail {

// An input has something in hand: an item, or the mark that an epoch has ended.
struct merge_ticket {
    std::size_t input = 0;
    std::uint64_t epoch = 0;
    bool mark = false;
};

// Which input may give what it has. The mark of an epoch's end goes on once, when each input is at it;
// until then none goes on with the next epoch.
//
// Turns are a matter of what the inputs give, and not of when: that one has ended, or is at a mark, counts
// when its turn comes, however long that is known.
class merge_rule {
  public:
    using ticket = merge_ticket;

    struct settings {
        merge_order order = merge_order::arrival;
        std::vector<double> weights = {};  // one for each input
        std::uint64_t seed = 0;
        bool until_first_end = false;
        bool is_asked = false;  // who has the next turn is somebody else's choice: see claims_choice()
    };

    merge_rule(const settings& how, std::uint64_t first_epoch)
        : order_(how.order), until_first_end_(how.until_first_end), is_asked_(how.is_asked),
          epoch_(first_epoch), seed_(how.seed) {
        double greatest = 0;
        for (const double each : how.weights) greatest = detail::larger(greatest, each);
        for (const double each : how.weights) {
            // By a power of two and one division: the same on every platform.
            const double share = greatest > 0 ? each / greatest * greatest_share : 0;
            inputs_.push_back({.weight = each, .share = static_cast<std::uint64_t>(share)});
        }
        next_turn();
    }

    // Each input says what it has, before it asks.
    void arrive(const merge_ticket& t) noexcept {
        inputs_[t.input].has = t.mark ? state::mark : state::item;
        settle_turn();
    }

    admission ask(const merge_ticket& t) noexcept {
        const admission answer = judge(t);
        if (answer == admission::go) busy_ = true;
        return answer;
    }
    admission judge(const merge_ticket& t) const noexcept {
        if (shut_) return admission::refused;
        if (t.mark) {
            // Another input's went on for all; or one lacks items, so that the epoch has no end.
            if (t.epoch < epoch_ || broken_) return admission::refused;
            const bool all = std::all_of(inputs_.begin(), inputs_.end(),
                                         [](const input& i) { return i.has_ended_epoch(); });
            if (!all || busy_ || (is_asked_ && !has_none_open())) return admission::wait;
        } else if (order_ != merge_order::arrival || is_asked_) {
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

    // It was given. `more`: the next one is there, and comes at once.
    void leave(const merge_ticket& t, bool more) noexcept {
        busy_ = false;
        if (t.mark) {
            epoch_ = t.epoch + 1;
            for (input& each : inputs_) {
                if (each.has == state::mark) each.has = state::nothing;
                each.is_out = false;
            }
            next_ = 0;
            draws_ = 0;
            next_turn();
        } else {
            inputs_[t.input].has = more ? state::item : state::nothing;
            if (turn_ == t.input) next_turn();
        }
        settle_turn();
    }

    // `early`: maybe before its time, as the run ends.
    void end(std::size_t which, bool early = false) noexcept {
        inputs_[which].has = state::end;
        broken_ = broken_ || early;
        const bool has_no_turns = order_ == merge_order::arrival || order_ == merge_order::priority;
        if (until_first_end_ && has_no_turns && !is_asked_) shut_ = true;
        settle_turn();
    }
    // True: whose turn is next is due to be chosen, among `open`, which has room for all inputs, and then to
    // be told to `choose`. One caller gets it for each choice.
    bool claims_choice(std::vector<std::size_t>& open) noexcept {
        if (!is_due_ || shut_ || has_none_open()) return false;
        is_due_ = false;
        open.clear();
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            if (!inputs_[i].is_out) open.push_back(i);
        }
        return true;
    }
    void choose(std::size_t which) noexcept {
        turn_ = which;
        settle_turn();
    }

    void shut() noexcept { shut_ = true; }
    bool is_shut() const noexcept { return shut_; }
    bool is_broken() const noexcept { return broken_; }

  private:
    enum class state : std::uint8_t { nothing, item, mark, end };
    struct input {
        bool has_ended_epoch() const noexcept { return has == state::mark || has == state::end; }
        state has = state::nothing;
        bool is_out = false;  // it has no turn any more in this epoch
        double weight = 1;
        double credit = 0;
        std::uint64_t share = 0;  // the weight as a whole number
    };

    // The turn comes to nobody who has nothing to give until the next epoch. Who is left begins evenly: what
    // that one had saved, or owed, was theirs.
    void settle_turn() noexcept {
        while (turn_ != inputs_.size() && inputs_[turn_].has_ended_epoch()) {
            if (inputs_[turn_].has == state::end && until_first_end_) {
                shut_ = true;
                return;
            }
            inputs_[turn_].is_out = true;
            for (input& each : inputs_) each.credit = 0;
            next_turn();
        }
    }

    void next_turn() noexcept {
        const std::size_t n = inputs_.size();
        turn_ = n;
        if (is_asked_) {
            is_due_ = true;
        } else if (order_ == merge_order::weighted) {
            next_by_weight();
        } else if (order_ == merge_order::random) {
            next_by_lot();
        } else {
            for (std::size_t k = 0; k < n && turn_ == n; ++k) {
                if (!inputs_[(next_ + k) % n].is_out) turn_ = (next_ + k) % n;
            }
            next_ = turn_ + 1;
        }
    }

    // Smooth weighted round robin (as nginx has it): each gains its weight, the richest pays for all.
    void next_by_weight() noexcept {
        double all = 0;
        for (const input& each : inputs_) all += each.is_out ? 0.0 : each.weight;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            input& each = inputs_[i];
            if (each.is_out || (each.weight <= 0 && all > 0)) continue;
            each.credit += each.weight;
            if (turn_ == inputs_.size() || each.credit > inputs_[turn_].credit) turn_ = i;
        }
        if (turn_ != inputs_.size()) inputs_[turn_].credit -= all;
    }

    // Each that is left as often, on average, as its weight is of the sum of theirs; if that is 0, as the
    // others. The draws of an epoch depend on no other one.
    void next_by_lot() noexcept {
        std::uint64_t all = 0, left = 0;
        for (const input& each : inputs_) {
            all += each.is_out ? 0 : each.share;
            left += each.is_out ? 0U : 1U;
        }
        std::uint64_t lot = high_product(splitmix64(subseed(seed_, epoch_), draws_++), all == 0 ? left : all);
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const std::uint64_t share = all == 0 ? 1 : inputs_[i].share;
            if (inputs_[i].is_out) continue;
            if (lot < share) {
                turn_ = i;
                return;
            }
            lot -= share;
        }
    }

    bool has_none_open() const noexcept {
        return std::all_of(inputs_.begin(), inputs_.end(), [](const input& i) { return i.is_out; });
    }

    static constexpr double greatest_share = static_cast<double>(std::uint64_t{1} << 52U);

    merge_order order_;
    std::vector<input> inputs_;
    bool until_first_end_;
    bool is_asked_;
    bool is_due_ = false;  // a choice, which nobody has claimed
    std::uint64_t epoch_;
    std::uint64_t seed_;
    std::uint64_t draws_ = 0;  // in this epoch
    std::size_t turn_ = 0;
    std::size_t next_ = 0;  // where to look for it, without weights
    bool busy_ = false;     // one has leave to give, and has not given yet
    bool shut_ = false;
    bool broken_ = false;  // an input has ended early: no epoch ends any more
};

}  // namespace detail

}  // namespace weir

#endif
