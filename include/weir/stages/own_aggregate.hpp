// weir stages, internal: the stage that makes one item of several as a user's own aggregator does
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_OWN_AGGREGATE_HPP
#define WEIR_STAGES_OWN_AGGREGATE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/transform.hpp>

#include <concepts>     // for std::same_as
#include <cstdint>      // for std::uint64_t
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_convertible
#include <utility>      // for std::forward, std::move

namespace weir::detail {

// A user's own way to make batches.
template <class A, class C>
class own_batch_op {
    using In = carried_value_t<C>;
    using load = epoch_item_traits<C>;
    using Batch = typename decltype(std::declval<A&>().accumulate(std::declval<In>()))::value_type;

  public:
    using D = carry_t<C, Batch>;
    static constexpr result_origin results_are_of = result_origin::unknown;

    own_batch_op(A aggregator, bool drop_last) : aggregator_(std::move(aggregator)), drop_last_(drop_last) {}

    void push(C&& item, std::optional<D>& out) {
        auto about = load::provenance_of(item);
        std::optional<Batch> batch = aggregator_.accumulate(std::move(load::value_of(item)));
        bool keeps = false;
        if constexpr (requires { aggregator_.keeps_last(); }) keeps = batch && aggregator_.keeps_last();
        if (!keeps) about_.add(std::move(about));
        give(batch, out);
        if (keeps) about_.add(std::move(about));
    }
    void enter(std::uint64_t epoch) noexcept { about_ = typename load::provenance(epoch); }
    void end(std::optional<D>& out, bool cut) {
        std::optional<Batch> batch = aggregator_.flush();
        if (!drop_last_) give(batch, out);
        if (!cut) about_.acknowledge();
    }

  private:
    void give(std::optional<Batch>& batch, std::optional<D>& out) {
        if (!batch) return;
        about_.forget_places();
        out.emplace(load::carry(*batch, std::move(about_)));  // whose epoch stays, for what is held
    }

    A aggregator_;
    const bool drop_last_;
    typename load::provenance about_;
};

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
struct own_aggregate_stage : transform_stage {
    static constexpr const char* kind = "aggregate";
    static constexpr const char* one_slot =
        "aggregates: it fills one batch after the other, its concurrency is 1";
    static constexpr const char* no_checkpoint =
        requires(const A& a) { a.keeps_last(); }
            ? nullptr
            : "may hold items longer than until its next batch; if its aggregator doesn't, give it bool "
              "keeps_last() const, which says whether a batch lacks the last item";

    template <class Options>
    own_aggregate_stage(A a, const Options& o)
        : transform_stage{detail::stage_options_of(o, kind)}, aggregator(std::move(a)),
          drop_last(o.drop_last) {
        refuse_if(o.max_delay != duration(0),
                  "weir: an aggregator of one's own has no max_delay: only a batch by number or by weight "
                  "can be given before it is full");
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

    template <class Self, class C, class Policy>
    static own_batch_op<A, C> op(Self&& self, channel<C, Policy>&) {
        return {std::forward<Self>(self).aggregator, self.drop_last};
    }

    A aggregator;
    bool drop_last;
};

}  // namespace weir::detail

#endif
