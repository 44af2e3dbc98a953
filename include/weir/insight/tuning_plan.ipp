// weir insight, internal: bodies of the functions of insight/tuning_plan.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_TUNING_PLAN_IPP
#define WEIR_INSIGHT_TUNING_PLAN_IPP

#include <weir/insight/tuning_plan.hpp>

#include <weir/insight/predict.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/numbers.hpp>

namespace weir::detail {

inline constexpr double some_gain = 1.005;    // a change is worth resources if it multiplies the rate by this
inline constexpr double no_loss = 0.997;      // a reduction that keeps this share of the rate costs nothing
inline constexpr std::size_t usual_room = 2;  // of a queue, in items

WEIR_INLINE resources resources_of(const pipeline_settings& settings, const plan_limits& limits) {
    resources used;
    for (std::size_t i = 0; i < settings.stages.size() && i < limits.fixed_room.size(); ++i) {
        const stage_settings& each = settings.stages[i];
        if (each.role != stage_role::sink) used.num_slots += each.concurrency;
        used.places += smaller(each.capacity, SIZE_MAX / 4 - used.places);  // a capacity may be unlimited
    }
    if (limits.threads != 0) used.threads = settings.pools[limits.pool];
    return used;
}

WEIR_INLINE bool is_within(const resources& used, const plan_limits& limits) noexcept {
    return (limits.num_slots == 0 || used.num_slots <= limits.num_slots) &&
           (limits.items == 0 || used.items() <= limits.items) &&
           (limits.threads == 0 || used.threads <= limits.threads);
}

WEIR_INLINE double planned_rate(const pipeline_settings& settings, const recording& from) {
    constexpr double most_items = 1'000;
    const predict_options how = short_simulation(tasks_per_item(from), most_items);
    return predict(settings, from, in_whole_waves(how, settings, from)).rate;
}

// The time of a stage for one item of the consumer, in seconds: `in_slots`, the time of its slots (workers),
// working or awaiting; `run`, the part with a thread.
struct stage_cost {
    double in_slots = 0;
    double run = 0;
};
WEIR_INLINE std::vector<stage_cost> costs_of(const recording& from, const plan_limits& limits) {
    std::vector<stage_cost> all(from.stages.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::vector<recorded_task>& tasks = from.stages[i].tasks;
        if (tasks.empty()) continue;
        const double each =
            (i < limits.per_item.size() ? limits.per_item[i] : 1) * 1e-9 / static_cast<double>(tasks.size());
        for (const recorded_task& task : tasks) {
            all[i].in_slots += each * static_cast<double>(sum(task.run, task.await).count());
            all[i].run += each * static_cast<double>(task.run.count());
        }
    }
    return all;
}

// The search of best_settings(): its four steps.
class plan_search {
  public:
    plan_search(const recording& from, const plan_limits& limits)
        : from_(from), limits_(limits), best_(from.settings), costs_(costs_of(from, limits)) {}

    pipeline_settings found() {
        begin_with_least();
        add_slots_by_cost();
        rate_ = planned_rate(best_, from_);
        if (rate_ <= 0) return from_.settings;  // too few items came to tell one rate from another
        for (int i = 0; i < most_rounds && grow(); ++i) continue;
        shrink();
        give_room_back();
        return best_;
    }

  private:
    static constexpr int most_rounds = 40;

    bool may_change_slots(std::size_t i) const {
        return i < limits_.fixed_slots.size() && !limits_.fixed_slots[i] &&
               best_.stages[i].role == stage_role::function;
    }
    bool may_change_room(std::size_t i) const {
        return i < limits_.fixed_room.size() && !limits_.fixed_room[i];
    }
    // The queue before the consumer (of the results) keeps its capacity, as far as the budget allows: a
    // recording may have only the average time of the consumer. Then no prediction tells which capacity
    // varying times need.
    bool keeps_room(std::size_t i) const { return best_.stages[i].role == stage_role::sink; }
    bool may_lose_room(std::size_t i) const {
        return may_change_room(i) && (!keeps_room(i) || limits_.items != 0);
    }
    void give_room_back() {
        for (std::size_t i = 0; i < best_.stages.size(); ++i) {
            if (!may_change_room(i) || !keeps_room(i)) continue;
            std::size_t& room = best_.stages[i].capacity;
            const std::size_t used = resources_of(best_, limits_).items();
            const std::size_t free = limits_.items > used ? limits_.items - used : 0;
            room = larger(room, smaller(from_.settings.stages[i].capacity, room + free));
        }
    }
    bool fits(const pipeline_settings& s) const { return is_within(resources_of(s, limits_), limits_); }
    bool may_change_threads() const noexcept { return limits_.threads != 0; }

    void begin_with_least() {
        for (std::size_t i = 0; i < best_.stages.size(); ++i) {
            if (may_change_slots(i)) best_.stages[i].concurrency = 1;
            if (may_lose_room(i)) best_.stages[i].capacity = usual_room;
        }
        if (may_change_threads()) best_.pools[limits_.pool] = limits_.threads;
        for (std::size_t i = 0; i < best_.stages.size() && !fits(best_); ++i) {
            if (may_lose_room(i)) best_.stages[i].capacity = 1;
        }
    }

    // The rate, in items of the consumer, that a stage would have if its slots never waited.
    double rate_of(std::size_t i) const {
        constexpr double no_limit = 1e18;
        return costs_[i].in_slots <= 0
                   ? no_limit
                   : static_cast<double>(best_.stages[i].concurrency) / costs_[i].in_slots;
    }
    // The greatest rate that any number of slots allows, because of stages with fixed slots and of threads.
    double greatest_rate() const {
        double least = 1e18;
        for (std::size_t i = 0; i < best_.stages.size(); ++i) {
            if (!may_change_slots(i)) least = smaller(least, rate_of(i));
        }
        for (std::size_t pool = 0; pool < best_.pools.size(); ++pool) {
            double run = 0;
            for (std::size_t i = 0; i < best_.stages.size(); ++i) {
                const stage_role role = best_.stages[i].role;
                const bool uses = role == stage_role::source || role == stage_role::function;
                if (uses && best_.stages[i].pool == pool) run += costs_[i].run;
            }
            if (best_.pools[pool] != 0 && run > 0) {
                least = smaller(least, static_cast<double>(best_.pools[pool]) / run);
            }
        }
        return least;
    }
    void add_slots_by_cost() {
        const double enough = greatest_rate();
        while (true) {
            std::size_t slowest = best_.stages.size();
            for (std::size_t i = 0; i < best_.stages.size(); ++i) {
                if (!may_change_slots(i) || rate_of(i) >= enough) continue;
                if (slowest == best_.stages.size() || rate_of(i) < rate_of(slowest)) slowest = i;
            }
            if (slowest == best_.stages.size()) return;
            std::size_t& num_slots = best_.stages[slowest].concurrency;
            if (num_slots >= limits_.most_slots) return;
            ++num_slots;
            if (fits(best_)) continue;
            --num_slots;
            return;
        }
    }

    // The settings with more of one thing: more slots of a stage (an eighth and one more), or twice the
    // capacity of a queue or of all queues.
    std::vector<pipeline_settings> larger_ones() const {
        std::vector<pipeline_settings> all;
        const auto add = [&](const pipeline_settings& next) {
            if (fits(next)) all.push_back(next);
        };
        pipeline_settings more_room = best_;
        for (std::size_t i = 0; i < best_.stages.size(); ++i) {
            pipeline_settings next = best_;
            std::size_t& num_slots = next.stages[i].concurrency;
            if (may_change_slots(i) && costs_[i].in_slots > 0 && num_slots < limits_.most_slots) {
                num_slots = smaller(num_slots + 1 + num_slots / 8, limits_.most_slots);
                add(next);
                num_slots = best_.stages[i].concurrency;
            }
            std::size_t& room = next.stages[i].capacity;
            if (may_change_room(i) && room < limits_.most_capacity) {
                room = smaller(2 * room, limits_.most_capacity);
                more_room.stages[i].capacity = room;
                add(next);
            }
        }
        add(more_room);
        return all;
    }
    bool grow() {
        const pipeline_settings* best = nullptr;
        double most = rate_ * some_gain;
        const std::vector<pipeline_settings> all = larger_ones();
        for (const pipeline_settings& each : all) {
            const double rate = planned_rate(each, from_);
            if (rate < most) continue;
            most = rate;
            best = &each;
        }
        if (best == nullptr) return false;
        best_ = *best;
        rate_ = most;
        return true;
    }

    // Lowers one number of `best_`, down to `least`, as long as the predicted rate stays close to `rate_`: by
    // half, if `by_half`; else by 1, but a number above 64 first by an eighth, then by ever smaller steps.
    void shrink_one(std::size_t& number, std::size_t least, bool by_half) {
        constexpr std::size_t great = 64;
        std::size_t step = number > great ? number / 8 : 1;
        while (number > least) {
            const std::size_t before = number;
            number = larger(by_half ? number / 2 : number - smaller(step, number), least);
            if (planned_rate(best_, from_) >= rate_ * no_loss) continue;
            number = before;
            if (by_half || step == 1) return;
            step /= 2;
        }
    }
    void shrink() {
        for (std::size_t i = 0; i < best_.stages.size(); ++i) {
            if (may_change_slots(i)) shrink_one(best_.stages[i].concurrency, 1, false);
        }
        for (std::size_t i = 0; i < best_.stages.size(); ++i) {
            const std::size_t least = may_lose_room(i) ? usual_room : from_.settings.stages[i].capacity;
            if (may_change_room(i)) shrink_one(best_.stages[i].capacity, least, true);
        }
        if (may_change_threads()) shrink_one(best_.pools[limits_.pool], 1, false);
    }

    const recording& from_;
    const plan_limits& limits_;
    pipeline_settings best_;
    const std::vector<stage_cost> costs_;
    double rate_ = 0;
};

WEIR_INLINE pipeline_settings best_settings(const recording& from, const plan_limits& limits) {
    return plan_search(from, limits).found();
}

}  // namespace weir::detail

#endif
