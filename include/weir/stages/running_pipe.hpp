// weir stages, internal: the stage that applies a function, at work: one result of an item, or many
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_RUNNING_PIPE_HPP
#define WEIR_STAGES_RUNNING_PIPE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/run/invocation.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/call_traits.hpp>
#include <weir/stages/function_stage.hpp>
#include <weir/stages/output_sequencer.hpp>
#include <weir/stages/pipe_function.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/worker_loop.hpp>

#include <exception>    // for std::current_exception
#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::move

namespace weir::detail {

// What is known of a function that is called by `Call`, and of the queues around it. `C`: what the one before
// holds.
template <class Call, class C>
struct piped {
    using more = typename Call::more;
    using types = pipe_types<typename Call::traits>;
    using value = typename types::value;
    using D = carry_t<C, value>;

    // What the function returned: a value, or a reference to what is somebody else's.
    template <class R>
    static void keep(std::optional<value>& result, R&& r) {
        if constexpr (types::may_skip) {
            if (r) result.emplace(*std::forward<R>(r));
        } else {
            result.emplace(std::forward<R>(r));
        }
    }
};

// What both kinds of it have: the order. `Kept`: a `piped`.
template <class Given, class Kept, class C, class Policy>
class ordered_function : public function_stage<Given, typename Kept::types, C, typename Kept::D, Policy> {
    using base = function_stage<Given, typename Kept::types, C, typename Kept::D, Policy>;

  public:
    using typename base::slot;
    static constexpr bool has_turns = true;

    template <class G>
    ordered_function(run_context& run, const stage_options& options, G&& f, channel<C, Policy>& in,
                     typename base::output& out)
        : base(run, "pipe", options, std::forward<G>(f), in, out),
          keeps_order_(options.output_order == output_order::input ||
                       (run.rehearses() && options.concurrency == 1)),
          takes_turns_(keeps_order_ || is_epoch_item<C>),
          turns_(turn_rule(keeps_order_, run.first_epoch()), "for its turn to give an item on") {}

    bool takes_turns() const noexcept { return takes_turns_; }
    auto turn(const auto& now, slot& me) noexcept { return turns_.wait(now.mine, me, slot_state::wait_turn); }
    bool leave_turn(const auto& now) noexcept {
        turns_.update([&now](turn_rule& rule) { rule.leave(now.mine); }, now.on->me);
        return true;
    }
    // Nothing comes of this item, and of none that has to leave after it.
    void block(const auto& now) noexcept {
        if (takes_turns_) turns_.update([&now](turn_rule& rule) { rule.block(now.mine); });
    }

  private:
    const bool keeps_order_;  // a stage of one slot does, also while it is tried with several
    const bool takes_turns_;
    output_sequencer turns_;
};

// What came of an item. `Wrapped`: the same as the next queue holds it, if that is something else.
template <class C, class Value, class More>
struct one_result : More {
    using wrapped = std::conditional_t<is_epoch_item<C>, std::optional<carry_t<C, Value>>, nothing>;
    std::optional<Value> value;
    [[no_unique_address]] wrapped result;
    [[no_unique_address]] typename epoch_item_traits<C>::provenance about;
};

// A function that gives one result of an item, or none.
template <class Given, class C, class Policy, class Call = function_call<Given, C>>
class running_pipe : public ordered_function<Given, piped<Call, C>, C, Policy> {
    using kept = piped<Call, C>;
    using base = ordered_function<Given, kept, C, Policy>;
    using D = typename kept::D;

  public:
    using pass = typename base::template hand<one_result<C, typename kept::value, typename kept::more>,
                                              typename base::tools>;
    static constexpr bool has_time_limit = true;

    template <class G>
    running_pipe(run_context& run, const stage_options& options, G&& f, channel<C, Policy>& in,
                 typename base::output& out)
        : base(run, options, std::forward<G>(f), in, out), limit_(options.time_limit),
          is_elementwise_(options.elementwise) {}

    duration limit() const noexcept { return limit_; }

    void work(pass& now) {
        if constexpr (!base::waits) {
            if (!now.mine.mark) kept::keep(now.value, this->begin(now));
        }
    }
    template <class Got>
    void keep(pass& now, Got&& got) {
        kept::keep(now.value, std::forward<Got>(got));
    }
    D* next(pass& now) noexcept {
        if constexpr (!is_epoch_item<C>) {
            return now.value ? &*now.value : nullptr;
        } else if (now.mine.mark) {
            return &now.result.emplace(D::end_of_epoch(now.mine.epoch));
        } else if (now.value) {
            if (!is_elementwise_) now.about.forget_places();
            return &now.result.emplace(base::load::carry(*now.value, std::move(now.about)));
        } else {
            this->dismiss(std::move(now.about));
            return nullptr;
        }
    }

  private:
    const duration limit_;
    const bool is_elementwise_;
};

template <class C, class Kept>
struct many_results : one_result<C, typename Kept::value, typename Kept::more> {
    std::optional<typename Kept::types::result> values;
    bool is_first = true;
};

// A function that gives many results of an item. Each is put as soon as it is there; the time of the
// invocation is that of the function, without its waits for room.
template <class Given, class C, class Policy, class Call = function_call<Given, C>>
class running_expansion : public ordered_function<Given, piped<Call, C>, C, Policy> {
    using kept = piped<Call, C>;
    using base = ordered_function<Given, kept, C, Policy>;
    using types = typename kept::types;
    using D = typename kept::D;

  public:
    using pass = typename base::template hand<many_results<C, kept>, typename base::tools>;
    static constexpr bool gives_several = true;
    static constexpr bool results_are_work = true;
    static constexpr bool results_wait = is_async_generator<typename types::result>;

    template <class G>
    running_expansion(run_context& run, const stage_options& options, G&& f, channel<C, Policy>& in,
                      typename base::output& out)
        : base(run, options, std::forward<G>(f), in, out) {
        run_context::refuse_unless(options.output_order == output_order::completion, options,
                                   "gives many items for one, each as it comes: with several slots it "
                                   "can't keep the order of the input");
        run_context::refuse_unless(options.time_limit == duration(0), options,
                                   "gives many items for one, at the pace of the next stage: it can't have "
                                   "a time limit");
    }

    void work(pass& now) {
        if constexpr (!base::waits) {
            if (!now.mine.mark) now.values.emplace(this->begin(now));
        }
    }
    template <class Got>
    void keep(pass& now, Got&& got) {
        now.values.emplace(std::forward<Got>(got));
    }
    auto next_value(pass& now) { return now.values->next(); }
    void keep_next(pass& now, std::optional<typename types::value>&& value) {
        detail::replace(now.value, std::move(value));
    }
    D* next(pass& now) noexcept {
        try {
            const bool is_first = std::exchange(now.is_first, false);
            if constexpr (is_epoch_item<C>) {
                if (now.mine.mark) {
                    return is_first ? &now.result.emplace(D::end_of_epoch(now.mine.epoch)) : nullptr;
                }
            }
            if constexpr (!results_wait) {
                detail::replace(now.value, detail::next_of<typename types::value>(*now.values, is_first));
            }
            if (!now.value) return nullptr;
            if constexpr (is_epoch_item<C>) {
                return &now.result.emplace(base::load::carry(*now.value, now.about.share()));
            } else {
                return &*now.value;
            }
        } catch (...) {
            now.error = std::current_exception();
            return nullptr;
        }
    }
    void release(pass& now) noexcept { now.values.reset(); }
};

template <class Given, class C, class Policy, class Call = function_call<Given, C>>
using pipe_kind = std::conditional_t<Call::traits::gives_many, running_expansion<Given, C, Policy, Call>,
                                     running_pipe<Given, C, Policy, Call>>;
template <class Given, class C, class Policy>
using running_function = worker_loop<pipe_kind<Given, C, Policy>>;

}  // namespace weir::detail

#endif
