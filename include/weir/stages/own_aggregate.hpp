// weir stages, internal: the stage that makes one item of several as a user's own aggregator does
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_OWN_AGGREGATE_HPP
#define WEIR_STAGES_OWN_AGGREGATE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/run/run_core.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/transform.hpp>

#include <concepts>     // for std::same_as
#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument
#include <type_traits>  // for std::is_convertible
#include <utility>      // for std::move

namespace weir::detail {

// A user's own way to make batches.
template <class A, class C>
class own_batch_op {
    using In = carried_value_t<C>;
    using load = epoch_item_traits<C>;
    using Batch = typename decltype(std::declval<A&>().accumulate(std::declval<In>()))::value_type;

  public:
    using D = carry_t<C, Batch>;

    own_batch_op(A aggregator, bool drop_last) : aggregator_(std::move(aggregator)), drop_last_(drop_last) {}

    void push(C&& item) {
        auto about = load::provenance_of(item);
        std::optional<Batch> batch = aggregator_.accumulate(std::move(load::value_of(item)));
        bool keeps = false;
        if constexpr (requires { aggregator_.keeps_last(); }) keeps = batch && aggregator_.keeps_last();
        if (!keeps) about_.add(std::move(about));
        give(batch);
        if (keeps) about_.add(std::move(about));
    }
    std::optional<D> pop() {
        std::optional<D> batch;
        detail::replace(batch, std::move(ready_));
        ready_.reset();
        return batch;
    }
    bool done() const noexcept { return !ready_; }
    void end() {
        cut_off();
        about_.acknowledge();
    }
    void cut_off() {
        std::optional<Batch> batch = aggregator_.flush();
        if (!drop_last_) give(batch);
    }

  private:
    void give(std::optional<Batch>& batch) {
        if (!batch) return;
        ready_.emplace(load::carry(*batch, std::move(about_)));
        about_ = {};
    }

    A aggregator_;
    const bool drop_last_;
    typename load::provenance about_;
    std::optional<D> ready_;
};

// Named so that the compiler's own message reads as a sentence.
template <class A>
struct the_aggregator {
    template <class Item>
    struct is_given {
        static constexpr bool fits = requires(A& a, Item&& item) {
            { a.accumulate(std::move(item)).has_value() } -> std::convertible_to<bool>;
            { a.flush() } -> std::same_as<decltype(a.accumulate(std::move(item)))>;
        };
        static_assert(fits,
                      "weir: an aggregator has accumulate(item), which is given what the stage before "
                      "it gives, and flush(), both of which return a std::optional batch; the types are "
                      "those of the_aggregator<...>::is_given<...> in this message");
    };
};

template <class A>
struct own_aggregate_stage : stage_base {
    template <class Options>
    own_aggregate_stage(A a, const Options& o)
        : stage_base{detail::stage_options_of(o)}, aggregator(std::move(a)), drop_last(o.drop_last) {
        if (o.max_delay != duration(0)) {
            throw std::invalid_argument(
                "weir: an aggregator of one's own has no max_delay: only a batch by "
                "number or by weight can be given before it is full");
        }
    }

    template <class C, bool Fits>
    struct output_of {
        using type = C;
    };
    template <class C>
    struct output_of<C, true> {
        using type = typename own_batch_op<A, C>::D;
    };
    template <class C>
    using output =
        typename output_of<C, the_aggregator<A>::template is_given<carried_value_t<C>>::fits>::type;

    template <class Self, class Policy, class C>
    static channel<output<C>, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        return detail::attach_transform<output<C>>(
            run, "aggregate", self.options,
            "aggregates: it fills one batch after the other, its concurrency is 1",
            own_batch_op<A, C>(std::forward<Self>(self).aggregator, self.drop_last), in);
    }

    A aggregator;
    bool drop_last;
};

}  // namespace weir::detail

#endif
