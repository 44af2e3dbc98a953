// weir floor 10: the stage that makes several items of one
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_DISAGGREGATE_HPP
#define WEIR_DISAGGREGATE_HPP

#include <weir/channel.hpp>
#include <weir/run_core.hpp>
#include <weir/running_stage.hpp>
#include <weir/stage.hpp>
#include <weir/stage_options.hpp>

#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t
#include <exception>  // for std::exception_ptr
#include <memory>     // for std::make_unique
#include <optional>   // for std::optional
#include <ranges>     // for std::ranges::input_range
#include <string>     // for std::string
#include <utility>    // for std::move

namespace weir {

/// Of `disaggregate`.
struct disaggregate_options {
    std::string name = "disaggregate";
    /// Of the queue behind it, in items, at least 1.
    std::size_t capacity = 2;
};

namespace detail {

template <class In>
struct element {
    using type = int;
    static_assert(std::ranges::input_range<In&>,
                  "weir: disaggregate takes ranges apart, and the stage before it gives none; the "
                  "type is that of element<...> in this message");
};
template <std::ranges::input_range In>
struct element<In> {
    using type = std::ranges::range_value_t<In&>;
};

template <class In, class Policy>
class running_disaggregate final : public running_stage<Policy> {
    using Out = typename element<In>::type;
    using input = channel<In, Policy>;
    using output = channel<Out, Policy>;
    using typename running_stage<Policy>::slot;
    using typename running_stage<Policy>::worker;

  public:
    running_disaggregate(run_context& run, const stage_options& options, input& in, output& out)
        : running_stage<Policy>(run, "disaggregate", options), in_(in), out_(out) {}

  private:
    worker make_worker(slot& me) override { return take_apart(me); }

    worker take_apart(slot& me) {
        this->arrive(me);
        bool going = true;
        while (going) {
            get_operation<input> get(in_, &me);
            std::optional<In> whole = co_await get;
            if (!whole) break;
            std::optional<std::ranges::iterator_t<In>> at;
            std::int64_t spent = 0;
            while (going) {
                std::optional<Out> item;
                const std::int64_t began = me.mark;
                std::exception_ptr error = next(item, *whole, at);
                if (!item) {
                    at.reset();
                    whole.reset();  // its destructor is part of the work
                }
                spent += this->work_done(me, began);
                if (error) {
                    this->gave_up(me, get.number(), std::move(error));
                    going = false;
                } else if (!item) {
                    this->gave(me, spent);
                }
                if (!item) break;
                put_operation<output> put(out_, *item, &me);
                going = co_await put;
            }
            if (!going) in_.cancel();
        }
        this->leave(me, out_);
    }

    static std::exception_ptr next(std::optional<Out>& item, In& whole,
                                   std::optional<std::ranges::iterator_t<In>>& at) noexcept {
        try {
            if (!at) {
                at.emplace(std::ranges::begin(whole));
            } else {
                ++*at;
            }
            if (*at == std::ranges::end(whole)) return nullptr;
            if constexpr (std::ranges::view<In>) {
                item.emplace(**at);  // what a view names is somebody else's
            } else {
                item.emplace(std::ranges::iter_move(*at));
            }
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    input& in_;
    output& out_;
};

struct disaggregate_stage : stage_base {
    explicit disaggregate_stage(disaggregate_options o) {
        options.name = std::move(o.name);
        options.capacity = o.capacity;
    }

    template <class In>
    using output = typename element<In>::type;

    template <class Self, class Policy, class In>
    static channel<output<In>, Policy>& attach(Self&& self, run_core<Policy>& run,
                                               channel<In, Policy>& in) {
        run.check(self.options.concurrency == 1, self.options,
                  "disaggregates: it takes one item apart after the other, its concurrency is 1");
        auto& out = run.template add_queue<output<In>>(self.options);
        run.add_stage(
            std::make_unique<running_disaggregate<In, Policy>>(run, self.options, in, out));
        return out;
    }
};

}  // namespace detail

/// Gives the elements of each item, which is a range, one by one.
///
/// Order: kept.
[[nodiscard]] inline auto disaggregate(disaggregate_options options = {}) {
    return detail::disaggregate_stage(std::move(options));
}

}  // namespace weir

#endif
