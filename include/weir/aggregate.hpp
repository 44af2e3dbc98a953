// weir floor 10: the stage that makes one item of several
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_AGGREGATE_HPP
#define WEIR_AGGREGATE_HPP

#include <weir/channel.hpp>
#include <weir/run_core.hpp>
#include <weir/running_stage.hpp>
#include <weir/stage.hpp>
#include <weir/stage_options.hpp>

#include <concepts>     // for std::same_as
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <exception>    // for std::exception_ptr
#include <memory>       // for std::make_unique
#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <type_traits>  // for std::is_constructible_v
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

/// Of `aggregate`.
struct aggregate_options {
    std::string name = "aggregate";
    /// At the end of the stream: drop a batch that is not full, instead of giving it as it is.
    bool drop_last = false;
    /// Of the queue behind it, in batches, at least 1.
    std::size_t capacity = 2;
};

namespace detail {

template <class In, class Batch, class Policy>
class running_aggregate final : public running_stage<Policy> {
    using input = channel<In, Policy>;
    using output = channel<Batch, Policy>;
    using typename running_stage<Policy>::slot;
    using typename running_stage<Policy>::worker;

  public:
    running_aggregate(run_context& run, const stage_options& options, std::size_t size,
                      bool drop_last, input& in, output& out)
        : running_stage<Policy>(run, "aggregate", options), size_(size), drop_last_(drop_last), in_(in),
          out_(out) {}

  private:
    worker make_worker(slot& me) override { return gather(me); }

    worker gather(slot& me) {
        this->arrive(me);
        std::vector<In> items;
        std::uint64_t number = 0;  // of the last one
        bool going = true;
        while (going) {
            get_operation<input> get(in_, &me);
            std::optional<In> item = co_await get;
            const std::int64_t began = me.mark;
            const bool ended = !item;
            if (item) number = get.number();
            std::optional<Batch> batch;
            std::exception_ptr error;
            if (item) error = keep(items, std::move(*item));
            const bool full = ended ? !items.empty() && !drop_last_ : items.size() == size_;
            if (!error && full) {
                error = make(batch, std::move(items));
                items = std::vector<In>();
            }
            const std::int64_t spent = this->work_done(me, began);
            if (error) {
                this->gave_up(me, number, std::move(error));
                in_.cancel();
                break;
            }
            going = !ended;
            if (!ended) this->gave(me, spent);
            if (!batch) continue;
            put_operation<output> put(out_, *batch, &me);
            const bool taken = co_await put;
            if (!taken) {
                in_.cancel();
                break;
            }
        }
        this->leave(me, out_);
    }

    // Not in the coroutine: g++ 12 keeps a try block's temporaries too long there.
    std::exception_ptr keep(std::vector<In>& items, In&& item) const noexcept {
        try {
            if (items.empty() && size_ <= most_reserved) items.reserve(size_);
            items.push_back(std::move(item));
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    static std::exception_ptr make(std::optional<Batch>& batch, std::vector<In>&& items) noexcept {
        try {
            batch.emplace(std::move(items));
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    static constexpr std::size_t most_reserved = 1U << 16U;

    const std::size_t size_;
    const bool drop_last_;
    input& in_;
    output& out_;
};

// The type of a batch. Named so that the compiler's own message reads as a sentence.
template <class Batch>
struct the_batch {
    template <class Item>
    struct made_of {
        using type = Batch;
        static_assert(std::is_constructible_v<Batch, std::vector<Item>&&>,
                      "weir: aggregate<Batch> makes its batches of a std::vector of what the stage "
                      "before it gives, and this Batch can't be made of one; the types are those of "
                      "the_batch<...>::made_of<...> in this message");
    };
};
template <>
struct the_batch<void> {
    template <class Item>
    struct made_of {
        using type = std::vector<Item>;
    };
};

template <class Batch>
struct aggregate_stage : stage_base {
    aggregate_stage(std::size_t n, aggregate_options o) : size(n), drop_last(o.drop_last) {
        options.name = std::move(o.name);
        options.capacity = o.capacity;
    }

    template <class In>
    using output = typename the_batch<Batch>::template made_of<In>::type;

    template <class Self, class Policy, class In>
    static channel<output<In>, Policy>& attach(Self&& self, run_core<Policy>& run,
                                               channel<In, Policy>& in) {
        run.check(self.options.concurrency == 1, self.options,
                  "aggregates: it fills one batch after the other, its concurrency is 1");
        auto& out = run.template add_queue<output<In>>(self.options);
        run.add_stage(std::make_unique<running_aggregate<In, output<In>, Policy>>(
            run, self.options, self.size, self.drop_last, in, out));
        return out;
    }

    std::size_t size;
    bool drop_last;
};

}  // namespace detail

/// Gathers `size` items into a `std::vector` of them, or into a `Batch` made from that.
///
/// Order:  kept. The last batch may be smaller: see `aggregate_options::drop_last`.
/// Errors: `std::invalid_argument` for a size of 0.
template <class Batch = void>
[[nodiscard]] auto aggregate(std::size_t size, aggregate_options options = {}) {
    if (size == 0) {
        throw std::invalid_argument(
            "weir: aggregate(0) would wait for ever for an empty batch; give it 1 or more");
    }
    return detail::aggregate_stage<Batch>(size, std::move(options));
}

/// The same, by position: `aggregate(4, true)` drops a last batch that is not full.
template <class Batch = void>
[[nodiscard]] auto aggregate(std::size_t size, std::same_as<bool> auto drop_last) {
    return aggregate<Batch>(size, aggregate_options{.drop_last = drop_last});
}

}  // namespace weir

#endif
