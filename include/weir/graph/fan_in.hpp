// weir graph, internal: the base of `merge` and `zip`, and the stage that joins several queues into one
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_FAN_IN_HPP
#define WEIR_GRAPH_FAN_IN_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/graph/merge_rule.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/intake.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_of.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <exception>    // for std::current_exception
#include <functional>   // for std::function
#include <span>         // for std::span
#include <stdexcept>    // for std::out_of_range
#include <string>       // for std::to_string
#include <tuple>        // for std::tuple
#include <type_traits>  // for std::conditional_t
#include <utility>      // for std::declval, std::forward, std::move
#include <vector>       // for std::vector

namespace weir::detail {

template <class... Inputs>
inline constexpr bool are_pipelines = sizeof...(Inputs) > 0 && (composable<Inputs> && ...);

// Makes a pipeline of an argument, which may be a pipeline or one stage.
template <class P>
auto pipeline_of(P&& part) {
    return detail::make_pipeline(detail::stages_of(std::forward<P>(part)));
}

// The member `stage` is the base class of `merge` and `zip`: `Stage`, which describes the stage. If an
// argument is no pipeline, the base class is `no_stage`, and a static assertion in the derived class fails.
template <bool Fit, template <class...> class Stage, class... Given>
struct joined_stage {
    using stage = no_stage;
};
template <template <class...> class Stage, class... Given>
struct joined_stage<true, Stage, Given...> {
    using stage = Stage<decltype(detail::pipeline_of(std::declval<Given>()))...>;
};
template <template <class...> class Stage, class... Given>
using joined_stage_t = typename joined_stage<are_pipelines<Given...>, Stage, Given...>::stage;

// The item type that an input gives.
template <class P>
struct given_by;
template <class Row>
struct given_by<pipeline<Row>> {
    static_assert(Row::begins && !Row::ends,
                  "weir: merge and zip take pipelines with a source, and without a sink or for_each; that "
                  "follows the merge");
    using type = typename std::conditional_t<Row::begins, given_by_row<Row>, std::type_identity<int>>::type;
};
template <class P>
using given_by_t = typename given_by<P>::type;

// The base of descriptions of stages with several inputs. A derived class has a `kind` and an `output`.
template <class... Inputs>
struct stage_of_inputs : stage_base {
    static constexpr bool begins_pipelines = true;

    template <class Options, class... Given>
    stage_of_inputs(const char* kind, const Options& o, Given&&... from)
        : stage_base{detail::stage_options_of(o, kind)},
          inputs(detail::pipeline_of(std::forward<Given>(from))...) {}

    template <class Self, class Function>
    static void each_options(Self& self, Function function) {
        std::apply([&](auto&... each) { (Inputs::each_options(each, function), ...); }, self.inputs);
        function(self.options);
    }

    std::tuple<Inputs...> inputs;

  protected:
    // Adds the inputs to a run. Returns their last queues.
    template <class Self, class Policy>
    static auto attach_inputs(Self&& self, run_core<Policy>& run) {
        using queues = std::tuple<channel<given_by_t<Inputs>, Policy>*...>;
        return std::apply(
            [&run](auto&&... each) {
                return queues{&Inputs::attach(std::forward<decltype(each)>(each), run)...};
            },
            std::forward<Self>(self).inputs);
    }

    // For `weir::describe`: adds the stages to the description `to`. Returns the last stage.
    template <class Stage, class To>
    typename To::ends describe_as(To& to) const {
        typename To::ends all;
        std::size_t number = 0;
        const auto add = [&](const auto& input) {
            all += to.branch("input " + std::to_string(++number), input);
        };
        std::apply([&](const auto&... each) { (add(each), ...); }, inputs);
        using output = typename Stage::output;
        return to.template stage<output, output>(Stage::kind, options, all);
    }
};

// A function of the user that chooses the next input: see `merge_options::rule`.
using merge_choice = std::function<std::size_t(std::span<const std::size_t>)>;

// Returns `which`, a result of a `merge_choice`. Throws if `which` is not in `open`, the inputs that may
// have more items.
inline std::size_t checked_choice(std::size_t which, const std::vector<std::size_t>& open) {
    std::string all;
    for (const std::size_t each : open) {
        if (each == which) return which;
        all += (all.empty() ? "" : ", ") + std::to_string(each);
    }
    throw std::out_of_range("weir: the rule of a merge chose input " + std::to_string(which) +
                            "; those that may have more to give are " + all);
}

// Takes from several queues, with a slot (worker) for each, and puts into one, in the order of a
// `merge_rule`. Joins the inputs of a merge, and the branches of a route.
template <class C, class Policy>
class running_fan_in : public stage_kind<C, C, Policy> {
    using base = stage_kind<C, C, Policy>;
    using queue = channel<C, Policy>;
    using typename base::slot;

  public:
    using iteration = typename base::template iteration_with<merge_ticket>;
    static constexpr stage_traits traits{.counts_tasks = false, .forwards_item = true};

    running_fan_in(run_context& run, const stage_options& options, const char* kind, merge_rule rule,
                   bool as_they_come, merge_choice choice, std::vector<queue*> in, queue& out)
        : base(run, kind, options, nullptr, &out), ins_(std::move(in)), as_they_come_(as_they_come),
          choice_(std::move(choice)), room_(std::move(rule), "for its turn to merge") {
        open_.reserve(ins_.size());
    }

    void take(intake<queue>& next, slot& me, iteration& it) noexcept {
        it.input = me.number();
        next.prepare(*ins_[it.input]);
    }
    void on_item(iteration& it) noexcept {
        it.epoch = it.place.epoch;
        it.mark = it.place.mark;
    }
    C* next_result(iteration& it) noexcept { return it.item; }

    bool is_ordered() const noexcept { return !as_they_come_; }
    auto wait_for_turn(const merge_ticket& next, slot& me) noexcept {
        room_.update([&next](merge_rule& rule) { rule.arrive(next); }, me);
        make_choices(me);
        return room_.wait(next, me, slot_state::wait_turn);
    }
    bool leave_turn(const iteration& it) noexcept {
        const bool more = ins_[it.input]->size() > 0;
        room_.update([&it, more](merge_rule& rule) { rule.leave(it, more); }, it.context->slot);
        make_choices(it.context->slot);
        return !is_closed();
    }
    bool continues_when_output_closed(const iteration&) noexcept {
        room_.update([](merge_rule& rule) { rule.close(); });
        return false;
    }
    // Whether a worker ends after a refusal: if the run stops, the stage was closed, or an input has ended
    // early. Otherwise another slot has put the mark (end of an epoch) of all inputs, and the worker drops
    // its own.
    bool ends_when_refused() const noexcept {
        return this->run_.ends().stop_requested() ||
               room_.read([](const merge_rule& rule) { return rule.is_closed() || rule.is_incomplete(); });
    }

    void close_input(slot& me) noexcept {
        ins_[me.number()]->cancel();
        const bool early = this->may_end_early();
        room_.update([&me, early](merge_rule& rule) { rule.end(me.number(), early); });
        make_choices(me);
        if (is_closed()) {
            for (queue* const other : ins_) other->cancel();
        } else if (this->run_.has_failed()) {
            // The other slots still take the items that the inputs have made, also those that wait for room.
            for (queue* const other : ins_) other->close_to_newcomers();
        }
    }

  private:
    // Calls the function of the user if the next turn has to be chosen. Not under the lock; but only one
    // thread at a time, because only one can claim a choice.
    void make_choices(slot& me) noexcept {
        if (!choice_) return;
        const auto claims = [this] {
            bool is_claimed = false;
            room_.update([this, &is_claimed](merge_rule& rule) { is_claimed = rule.claim_choice(open_); });
            return is_claimed;
        };
        while (claims()) {
            try {
                const std::size_t which = detail::checked_choice(choice_(open_), open_);
                ++choices_;
                room_.update([which](merge_rule& rule) { rule.choose(which); });
            } catch (...) {
                this->fail_stage(me, choices_, std::current_exception());
                room_.update([](merge_rule& rule) { rule.close(); });
            }
        }
    }

    bool is_closed() const noexcept {
        return room_.read([](const merge_rule& rule) { return rule.is_closed(); });
    }

    std::vector<queue*> ins_;
    const bool as_they_come_;
    merge_choice choice_;
    std::vector<std::size_t> open_;  // the inputs that `choice_` may choose
    std::uint64_t choices_ = 0;
    wait_queue<merge_rule> room_;
};

// Adds a stage that joins queues into a new one. `options.concurrency` is ignored: each queue has a slot.
template <class Policy, class C>
channel<C, Policy>& attach_fan_in(run_core<Policy>& run, const char* kind, stage_options options,
                                  merge_rule::settings how, std::vector<channel<C, Policy>*> in,
                                  merge_choice choice = nullptr) {
    options.concurrency = in.size();
    if (how.weights.empty()) how.weights.assign(in.size(), 1);
    how.has_user_rule = static_cast<bool>(choice);
    auto& out = run.template add_queue<C>(options);
    std::vector<queue_id> inputs(in.begin(), in.end());
    const bool as_they_come =
        how.order == merge_order::arrival && !is_epoch_item<C> && !how.until_first_end && !how.has_user_rule;
    merge_rule rule(how, run.first_epoch());
    run.template add<stage_of<running_fan_in<C, Policy>>>(std::move(inputs), {&out}, options, kind,
                                                          std::move(rule), as_they_come, std::move(choice),
                                                          std::move(in), out);
    return out;
}

}  // namespace weir::detail

#endif
