// weir stages, internal: the stage that gathers items by a user's own aggregator: see `aggregate`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_OWN_AGGREGATE_HPP
#define WEIR_STAGES_OWN_AGGREGATE_HPP

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

// The operation that calls the aggregator `A` for items of type `In`.
template <class A, class In>
class own_batch_op {
  public:
    using Batch = typename decltype(std::declval<A&>().accumulate(std::declval<In>()))::value_type;
    static constexpr result_origin origin = result_origin::unknown;

    own_batch_op(A aggregator, bool drop_last) : aggregator_(std::move(aggregator)), drop_last_(drop_last) {}

    void push(In&& item, std::optional<Batch>& batch) {
        std::optional<Batch> made = aggregator_.accumulate(std::move(item));
        if (made) batch.emplace(*std::move(made));
    }
    void end(std::optional<Batch>& batch) {
        std::optional<Batch> made = aggregator_.flush();
        if (made && !drop_last_) batch.emplace(*std::move(made));
    }
    bool result_lacks_item() const noexcept {
        if constexpr (requires { aggregator_.keeps_last(); }) {
            return aggregator_.keeps_last();
        } else {
            return false;
        }
    }
    bool keeps_places() const noexcept { return false; }

  private:
    A aggregator_;
    const bool drop_last_;
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
struct own_aggregate_stage : transform_stage<own_aggregate_stage<A>> {
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
        : transform_stage<own_aggregate_stage>{detail::stage_options_of(o, kind)}, aggregator(std::move(a)),
          drop_last(o.drop_last) {
        refuse_if(o.max_delay != duration(0),
                  "weir: an aggregator of one's own has no max_delay: only a batch by number or by weight "
                  "can be given before it is full");
    }

    template <class In, bool Fits>
    struct result_of {
        using type = In;
    };
    template <class In>
    struct result_of<In, true> {
        using type = typename own_batch_op<A, In>::Batch;
    };
    template <class In>
    using result = typename result_of<In, the_aggregator<A>::template is_given<In>::fits>::type;

    template <class In, class Self>
    static own_batch_op<A, In> op(Self&& self) {
        return {std::forward<Self>(self).aggregator, self.drop_last};
    }

    A aggregator;
    bool drop_last;
};

}  // namespace weir::detail

#endif
