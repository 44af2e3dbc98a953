// weir stages, internal: a stage whose function adds items to the stage itself, at work
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_RUNNING_TRAVERSAL_HPP
#define WEIR_STAGES_RUNNING_TRAVERSAL_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/channel_end.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/channel/item_storage.hpp>
#include <weir/measure/slot.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/call_traits.hpp>
#include <weir/stages/feeder.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/traversal.hpp>
#include <weir/stages/traversal_intake.hpp>
#include <weir/stages/traversal_rule.hpp>
#include <weir/task/task.hpp>

#include <cstddef>   // for std::size_t
#include <optional>  // for std::optional
#include <utility>   // for std::forward

namespace weir::detail {

// Of the call of a function with an item and a feeder: see `function_call`.
template <class T>
struct fed {
    feeder<T>* more;
};
template <class Function>
struct the_traversal {
    template <class T>
    struct is_given : call_traits<Function, T, feeder<T>> {
        static_assert(is_given::fits,
                      "weir: the function of a traverse is called with what the stage before it gives and a "
                      "feeder of that, [](T item, weir::feeder<T>& more), and this one can't be; the types "
                      "are those of the_traversal<...>::is_given<...> in this message");
    };
};
template <class Given, class C>
struct fed_call {
    using traits =
        typename the_traversal<typename function_of<Given>::type>::template is_given<carried_value_t<C>>;
    using more = fed<carried_value_t<C>>;
};

// `Base`: the kind of stage that the function's results make it, for a `fed_call`.
template <class Base>
class running_traversal : public Base {
    using C = typename Base::item_taken;
    using Policy = typename Base::policy_type;

  public:
    using typename Base::iteration;
    using typename Base::slot;
    using input = traversal_intake<C, Policy>;

    template <class G>
    running_traversal(run_context& run, const stage_options& options, bool first_found_first,
                      std::size_t max_waiting, G&& f, channel<C, Policy>& in,
                      typename Base::output_queue& out)
        : Base(run, options, std::forward<G>(f), in, out),
          all_(item_type_of<C>, this->name(), first_found_first, max_waiting) {}

    void take(input& next, slot& me, iteration& it) noexcept {
        if (next.has_mark) all_.update([&next](traversal_rule& rule) { rule.forget_mark(next); });
        it.more = &next;
        const bool at_once =
            next.is_present && !must_look(me) && !detail::needs_suspend<Policy>(false, next.num_taken, &me);
        next.comes_from(all_, at_once, [&] { return fetch(next, me); }, it.error);
    }
    // Else it is no item's failure that it could not be taken.
    bool tolerates_failure(const iteration& it) const noexcept { return it.item != nullptr; }
    void on_item(iteration& it) noexcept {
        Base::on_item(it);
        static_cast<input&>(*it.more).begin_call(it.about);
    }
    void end_task(iteration& it) noexcept {
        static_cast<input&>(*it.more).end_call();
        Base::end_task(it);
    }
    void close_input(slot& me) noexcept {
        all_.end(me);
        this->in_->cancel();
    }
    void recall_idle() noexcept {
        all_.update([](traversal_rule&) {});
    }

  private:
    std::optional<added_stats> added() const override { return all_.stats(); }
    bool must_look(const slot& me) const noexcept {
        return me.recalled.load(std::memory_order_relaxed) || has_to_end();
    }
    bool has_to_end() const noexcept { return all_.is_over() || this->run_.ends().stop_requested(); }

    // What can't be had at once. False: nothing came, as the stage ends, or the slot was recalled.
    task<bool> fetch(input& mine, slot& me) {
        if (mine.is_present && !must_look(me)) {
            yielded_turn<slot> turn(me);
            co_await turn;
        }
        all_.update([&mine](traversal_rule& rule) { rule.enter(mine); });
        for (;;) {
            if (has_to_end() || this->out_->closed()) co_return false;
            if (me.recalled.load(std::memory_order_relaxed)) {
                mine.is_recalled();
                all_.update([&mine](traversal_rule& rule) { rule.leave(mine); });
                co_return false;
            }
            if (mine.take_pending()) co_return true;
            mine.from_queue.comes_from(*this->in_);  // before it may be called off
            const idle_step next = all_.look(mine);
            if (next == idle_step::end) co_return false;
            if (next == idle_step::lead) {
                const bool came = co_await mine.from_queue;
                heard(mine, came);
                if (mine.has_mark) {
                    const bool is_alone = co_await all_.wait(mine, me, slot_state::wait_turn);
                    if (!is_alone) co_return false;
                }
                if (came) {
                    mine.came();
                    co_return true;
                }
            }
            if (next == idle_step::wait) {
                const bool goes_on = co_await all_.wait(mine, me, slot_state::wait_get);
                if (!goes_on) co_return false;
            }
        }
    }
    void heard(input& mine, bool came) noexcept {
        const bool mark = came && epoch_item_traits<C>::is_mark(*mine.from_queue.item());
        const bool ended = !came && !mine.from_queue.was_recalled();
        all_.update([&](traversal_rule& rule) { rule.heard(mine, came, mark, ended); });
    }

    traversal all_;
};

}  // namespace weir::detail

#endif
