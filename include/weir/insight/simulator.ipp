// weir insight, internal: bodies of the functions of insight/simulator.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_SIMULATOR_IPP
#define WEIR_INSIGHT_SIMULATOR_IPP

#include <weir/insight/simulator.hpp>

#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

#include <utility>  // for std::exchange, std::swap

namespace weir::detail {

WEIR_INLINE prediction simulator::run() {
    for (index i = 0; i < slots_.size(); ++i) ready_.push(i);
    while (true) {
        while (!ready_.empty() && !is_over_) proceed(ready_.pop());
        if (is_over_) break;
        assign_threads();
        if (!ready_.empty()) continue;
        if (events_.empty()) break;
        if (events_.front().at >= end_) {
            now_ = end_;
            break;
        }
        now_ = events_.front().at;
        while (!events_.empty() && events_.front().at == now_) ready_.push(remove_first(events_));
    }
    return result();
}

WEIR_INLINE void simulator::proceed(index who) {
    slot& me = slots_[who];
    while (true) {
        switch (me.next) {
            case phase::take:
                if (!take(me, who)) return;
                break;
            case phase::begin:
                begin(me, who);
                if (me.next == phase::end_run || me.next == phase::finish || is_over_) return;
                break;
            case phase::end_run:
                end_run(me, who);
                if (me.next == phase::finish && me.await > 0) return;
                break;
            case phase::finish:
                finish(me, who);
                if (me.state == slot_state::wait_turn) return;
                break;
            case phase::give:
                if (!give(me, who)) return;
                break;
            case phase::count_put:
                count_put(me);
                break;
            case phase::input_ended:
                if (me.state == slot_state::off) return;
                end(me);
                if (me.state == slot_state::off) return;
                break;
        }
    }
}

WEIR_INLINE bool simulator::take(slot& me, index who) {
    stage& of = stages_[me.stage];
    if (of.settings->role == stage_role::source) {
        me.number = of.num_made;
        me.next = phase::input_ended;
        if (of.num_made >= settings_.num_items.value_or(most_made)) return true;
        ++of.num_made;
        me.next = phase::begin;
        return true;
    }
    queue& from = before(me);
    if (from.items.empty()) {
        if (from.is_closed) {
            me.next = phase::input_ended;
            return true;
        }
        settle(from);
        from.getters.push(who);
        enter(me, slot_state::wait_get);
        return false;
    }
    settle(from);
    me.holds = from.items.pop();
    me.number = from.num_get++;
    me.next = phase::begin;
    while (!from.putters.empty() && from.items.size() < from.capacity) {
        const index putter = from.putters.pop();
        let_in(from, slots_[putter].holds);
        wake(putter, phase::count_put);
    }
    if (from.put_in_order_by != none) look_in_line(stages_[from.put_in_order_by], from);
    return true;
}

WEIR_INLINE void simulator::begin(slot& me, index who) {
    stage& of = stages_[me.stage];
    switch (of.settings->role) {
        case stage_role::aggregate:
            ++of.finished;
            if (of.batch == 0) begin_batch(of);
            batches_[of.batch - 1].push_back(me.holds);
            me.next = phase::take;
            if (batches_[of.batch - 1].size() < of.full_size) return;
            me.holds = std::exchange(of.batch, 0);
            me.left = 1;
            me.next = phase::give;
            return;
        case stage_role::disaggregate:
            of.batch = me.holds;
            me.left = of.batch == 0 ? 1 : static_cast<std::uint32_t>(batches_[of.batch - 1].size());
            if (of.batch != 0) me.holds = batches_[of.batch - 1][0];
            me.next = phase::give;
            return;
        case stage_role::sink:
            me.left = 1;
            me.next = phase::give;
            return;
        case stage_role::consumer:
            drop(std::exchange(me.holds, 0));
            ++consumed_;
            measured_to_ = now_;
            if (consumed_ == options_.skipped) measured_from_ = now_;
            is_over_ = consumed_ >= options_.items;
            break;
        case stage_role::source:
        case stage_role::function:
            break;
    }
    begin_work(me, who);
}

WEIR_INLINE void simulator::begin_work(slot& me, index who) {
    stage& of = stages_[me.stage];
    const recorded_task task = draw(of, me.number);
    me.run = task.run.count();
    me.await = task.await.count();
    me.left = of.settings->role == stage_role::consumer ? 0 : task.results;
    const bool needs_thread = me.run > 0 || me.await <= 0;
    pool& threads = pools_[of.settings->pool];
    if (!needs_thread || (me.run <= 0 && !threads.is_limited)) {
        me.next = phase::finish;
        enter(me, slot_state::await);
        wake_after(me.await, who);
        return;
    }
    me.next = phase::end_run;
    if (threads.is_limited && of.settings->role != stage_role::consumer) {
        enter(me, slot_state::runnable);
        add(threads.requests, {now_, me.number, me.stage, who});
        return;
    }
    enter(me, slot_state::run);
    wake_after(me.run, who);
}

WEIR_INLINE void simulator::end_run(slot& me, index who) {
    const stage_settings& s = *stages_[me.stage].settings;
    if (s.role != stage_role::consumer) ++pools_[s.pool].free;
    me.next = phase::finish;
    if (me.await <= 0) return;
    enter(me, slot_state::await);
    wake_after(me.await, who);
}

WEIR_INLINE void simulator::assign_threads() {
    for (pool& threads : pools_) {
        while (threads.free != 0 && !threads.requests.empty()) {
            const index who = remove_first(threads.requests);
            --threads.free;
            enter(slots_[who], slot_state::run);
            wake_after(slots_[who].run, who);
        }
    }
}

// Counts an invocation that has ended. The slot (a worker of the stage) waits if its item has to wait for its
// turn.
WEIR_INLINE void simulator::finish(slot& me, index who) {
    stage& of = stages_[me.stage];
    ++of.finished;
    if (me.left > 1 || me.left == 0) drop(std::exchange(me.holds, 0));
    me.next = phase::give;
    if (of.keeps_order && !is_turn_or_early(me, of, behind(me))) {
        enter(me, slot_state::wait_turn);
        of.in_line.push_back(who);
        for (std::size_t i = of.in_line.size() - 1; i > 0; --i) {
            if (slots_[of.in_line[i - 1]].number < me.number) break;
            std::swap(of.in_line[i - 1], of.in_line[i]);
        }
    }
}

WEIR_INLINE bool simulator::give(slot& me, index who) {
    if (me.left != 0) {
        if (!put(behind(me), me.holds, who)) {
            enter(me, slot_state::wait_put);
            return false;
        }
        me.next = phase::count_put;
        return true;
    }
    stage& of = stages_[me.stage];
    me.next = me.is_ending ? phase::input_ended : phase::take;
    if (of.keeps_order && me.number == of.next_to_leave) leave_in_order(of, behind(me));
    return true;
}

// Counts a result that the slot has put; in a disaggregate, the next element of the batch follows.
WEIR_INLINE void simulator::count_put(slot& me) {
    stage& of = stages_[me.stage];
    --me.left;
    me.next = phase::give;
    if (of.settings->role != stage_role::disaggregate) return;
    if (me.left == 0) ++of.finished;
    if (of.batch == 0) return;
    const std::vector<item>& all = batches_[of.batch - 1];
    if (me.left != 0) {
        me.holds = all[all.size() - me.left];
    } else {
        batches_[of.batch - 1].clear();
        drop(std::exchange(of.batch, 0));
    }
}

// The slot's input has ended, so the slot ends; the last slot of a stage closes the queue behind the stage.
// An aggregate puts its incomplete batch first, unless `stage_settings::drop_last`.
WEIR_INLINE void simulator::end(slot& me) {
    stage& of = stages_[me.stage];
    if (of.batch != 0 && of.settings->role == stage_role::aggregate && !of.settings->drop_last) {
        me.holds = std::exchange(of.batch, 0);
        me.left = 1;
        me.is_ending = true;
        me.next = phase::give;
        return;
    }
    enter(me, slot_state::off);
    if (--of.working != 0) return;
    if (of.settings->role == stage_role::consumer) {
        is_over_ = true;
        return;
    }
    queue& to = behind(me);
    settle(to);
    to.is_closed = true;
    while (!to.getters.empty()) wake(to.getters.pop(), phase::input_ended);
}

WEIR_INLINE bool simulator::is_turn_or_early(slot& me, stage& of, queue& to) {
    const std::uint64_t ahead = me.number - of.next_to_leave;
    if (ahead == 0) return true;
    if (ahead + to.items.size() >= to.capacity || me.left > 1) return false;
    while (of.early.size() <= ahead) of.early.push(unfinished);
    of.early[ahead] = me.left == 0 ? no_result : me.holds;
    me.left = 0;
    return true;
}

WEIR_INLINE void simulator::leave_in_order(stage& of, queue& to) {
    settle(to);
    do {
        ++of.next_to_leave;
        if (!of.early.empty()) of.early.pop();
        if (of.early.empty() || of.early[0] == unfinished) break;
        if (of.early[0] != no_result) let_in(to, of.early[0]);
    } while (true);
    look_in_line(of, to);
}

WEIR_INLINE void simulator::look_in_line(stage& of, queue& to) {
    std::size_t num_kept = 0, i = 0;
    for (; i < of.in_line.size(); ++i) {
        const index who = of.in_line[i];
        if (is_turn_or_early(slots_[who], of, to)) {
            wake(who, phase::give);
            continue;
        }
        // Later items have no room either.
        if (slots_[who].number - of.next_to_leave + to.items.size() >= to.capacity) break;
        of.in_line[num_kept++] = who;
    }
    const auto at = [&of](std::size_t k) { return of.in_line.begin() + static_cast<std::ptrdiff_t>(k); };
    of.in_line.erase(at(num_kept), at(i));
}

}  // namespace weir::detail

#endif
