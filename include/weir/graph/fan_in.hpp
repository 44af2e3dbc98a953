// weir graph, internal: the stage that takes from several queues, a slot for each, and gives to one
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_FAN_IN_HPP
#define WEIR_GRAPH_FAN_IN_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/intake.hpp>
#include <weir/stages/worker_loop.hpp>

#include <algorithm>  // for std::all_of
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <optional>   // for std::optional
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir {

/// From which of several inputs the next item comes.
enum class merge_order {
    arrival,      ///< as they come
    round_robin,  ///< one of each in turn; waits for the one whose turn it is
    weighted,     ///< in turn, each as often as its weight says, spread evenly
    priority      ///< of those that have one, the first that was named
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

    // `weights`: one for each input.
    merge_rule(merge_order order, const std::vector<std::uint64_t>& weights, bool until_first_end,
               std::uint64_t first_epoch)
        : order_(order), until_first_end_(until_first_end), epoch_(first_epoch) {
        for (const std::uint64_t each : weights)
            inputs_.push_back({.weight = static_cast<std::int64_t>(each)});
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
            if (t.epoch < epoch_) return admission::refused;  // another input's went on for all
            const bool all = std::all_of(inputs_.begin(), inputs_.end(),
                                         [](const input& i) { return i.has_ended_epoch(); });
            if (!all || busy_) return admission::wait;
        } else if (order_ != merge_order::arrival) {
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
            next_turn();
        } else {
            inputs_[t.input].has = more ? state::item : state::nothing;
            if (turn_ == t.input) next_turn();
        }
        settle_turn();
    }

    void end(std::size_t which) noexcept {
        inputs_[which].has = state::end;
        const bool has_turns = order_ == merge_order::round_robin || order_ == merge_order::weighted;
        if (until_first_end_ && !has_turns) shut_ = true;
        settle_turn();
    }
    void shut() noexcept { shut_ = true; }
    bool is_shut() const noexcept { return shut_; }

  private:
    enum class state : std::uint8_t { nothing, item, mark, end };
    struct input {
        bool has_ended_epoch() const noexcept { return has == state::mark || has == state::end; }
        state has = state::nothing;
        bool is_out = false;  // it has no turn any more in this epoch
        std::int64_t weight = 1;
        std::int64_t credit = 0;
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
        if (order_ == merge_order::weighted) {
            next_by_weight();
        } else {
            for (std::size_t k = 0; k < n && turn_ == n; ++k) {
                if (!inputs_[(next_ + k) % n].is_out) turn_ = (next_ + k) % n;
            }
            next_ = turn_ + 1;
        }
    }

    // Smooth weighted round robin (as nginx has it): each gains its weight, the richest pays for all.
    void next_by_weight() noexcept {
        std::int64_t all = 0;
        for (const input& each : inputs_) all += each.is_out ? 0 : each.weight;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            input& each = inputs_[i];
            if (each.is_out || (each.weight == 0 && all != 0)) continue;
            each.credit += each.weight;
            if (turn_ == inputs_.size() || each.credit > inputs_[turn_].credit) turn_ = i;
        }
        if (turn_ != inputs_.size()) inputs_[turn_].credit -= all;
    }

    merge_order order_;
    std::vector<input> inputs_;
    bool until_first_end_;
    std::uint64_t epoch_;
    std::size_t turn_ = 0;
    std::size_t next_ = 0;  // where to look for it, without weights
    bool busy_ = false;     // one has leave to give, and has not given yet
    bool shut_ = false;
};

template <class C, class Policy>
class running_fan_in : public stage_kind<C, C, Policy> {
    using base = stage_kind<C, C, Policy>;
    using queue = channel<C, Policy>;
    using typename base::slot;

  public:
    using pass = typename base::template hand<merge_ticket>;
    static constexpr bool is_invoked = false;
    static constexpr bool gives_item = true;
    static constexpr bool has_turns = true;

    running_fan_in(run_context& run, const stage_options& options, const char* kind, merge_rule rule,
                   bool as_they_come, std::vector<queue*> in, queue& out)
        : base(run, kind, options, nullptr, &out), ins_(std::move(in)), as_they_come_(as_they_come),
          room_(std::move(rule), "for its turn to merge") {}

    void take(intake<queue>& next, slot& me, pass& now) noexcept {
        now.input = me.index();
        next.comes_from(*ins_[now.input]);
    }
    void accept(pass& now) noexcept {
        now.epoch = now.mine.epoch;
        now.mark = now.mine.mark;
    }
    C* next(pass& now) noexcept { return now.item; }

    bool takes_turns() const noexcept { return !as_they_come_; }
    auto turn(const merge_ticket& mine, slot& me) noexcept {
        room_.update([&mine](merge_rule& rule) { rule.arrive(mine); });
        return room_.wait(mine, me, slot_state::wait_turn);
    }
    bool leave_turn(const merge_ticket& mine) noexcept {
        const bool more = ins_[mine.input]->size() > 0;
        room_.update([&mine, more](merge_rule& rule) { rule.leave(mine, more); });
        return !is_shut();
    }
    bool goes_on_without(const pass&) noexcept {
        room_.update([](merge_rule& rule) { rule.shut(); });
        return false;
    }
    // Who is refused its turn may have had a mark that another one gave for all.
    bool ends_when_refused() const noexcept { return is_shut() || this->run_.ends().stop_requested(); }

    void take_no_more(slot& me) noexcept {
        ins_[me.index()]->cancel();
        room_.update([&me](merge_rule& rule) { rule.end(me.index()); });
        if (is_shut()) {
            for (queue* const other : ins_) other->cancel();
        } else if (this->run_.has_failed()) {
            // What is finished is still to be had, also what waits for room.
            for (queue* const other : ins_) other->close_to_newcomers();
        }
    }

  private:
    bool is_shut() const noexcept {
        return room_.read([](const merge_rule& rule) { return rule.is_shut(); });
    }

    std::vector<queue*> ins_;
    const bool as_they_come_;
    wait_queue<merge_rule> room_;
};

// Joins queues into a new one. `options.concurrency` is not asked: there is a slot for each.
template <class Policy, class C>
channel<C, Policy>& attach_fan_in(run_core<Policy>& run, const char* kind, stage_options options,
                                  merge_order order, std::vector<std::uint64_t> weights, bool until_first_end,
                                  std::vector<channel<C, Policy>*> in) {
    options.concurrency = in.size();
    if (weights.empty()) weights.assign(in.size(), 1);
    auto& out = run.template add_queue<C>(options);
    std::vector<queue_id> inputs(in.begin(), in.end());
    const bool as_they_come = order == merge_order::arrival && !is_epoch_item<C> && !until_first_end;
    merge_rule rule(order, weights, until_first_end, run.first_epoch());
    run.template add<worker_loop<running_fan_in<C, Policy>>>(std::move(inputs), {&out}, options, kind,
                                                             std::move(rule), as_they_come, std::move(in),
                                                             out);
    return out;
}

}  // namespace detail

}  // namespace weir

#endif
