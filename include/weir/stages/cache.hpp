// weir stages: the stage that records the first epoch and repeats it, so that it is made only once
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_CACHE_HPP
#define WEIR_STAGES_CACHE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/running_stage.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/stage.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::uint64_t
#include <exception>    // for std::exception_ptr
#include <memory>       // for std::make_unique
#include <optional>     // for std::optional
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <type_traits>  // for std::is_copy_constructible_v
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir {

/// Of `cache`.
struct cache_options {
    std::string name = "cache";  ///< see `stage_options::name`
    /// Of the queue behind it, in items, at least 1.
    std::size_t capacity = 2;
};

namespace detail {

// Named so that the compiler's own message reads as a sentence.
template <class T>
struct the_cache_of {
    using type = epoch_item<T>;
    static_assert(std::is_copy_constructible_v<T>,
                  "weir: a cache gives each item once an epoch, so its items have to be copyable; what only "
                  "moves can be held by std::shared_ptr; the type is that of the_cache_of<...> in this "
                  "message");
};

template <class C, class Policy>
class running_cache final : public running_stage<Policy> {
    using T = carried_value_t<C>;
    using D = epoch_item<T>;
    using load = epoch_item_traits<C>;
    using input = channel<C, Policy>;
    using output = channel<D, Policy>;
    using typename running_stage<Policy>::slot;
    using typename running_stage<Policy>::worker;

  public:
    running_cache(run_context& run, const stage_options& options, std::uint64_t epochs, input& in,
                  output& out)
        : running_stage<Policy>(run, "cache", options), left_(epochs), in_(in), out_(out) {}

  private:
    worker make_worker(slot& me) override { return repeat(me); }

    // The first epoch comes through the queue, each other one out of the record: one loop for both, as they
    // differ only in where an item is from.
    worker repeat(slot& me) {
        this->arrive(me);
        std::uint64_t number = 0;
        std::uint64_t epoch = this->run_.first_epoch();
        std::size_t at = 0;  // in the record
        bool first = true;
        bool over = false;
        while (!over) {
            std::optional<D> item;
            std::exception_ptr error;
            std::size_t hooked = 0;
            std::optional<C> got;
            if (first) {
                get_operation<input> get(in_, &me);
                std::optional<C> next = co_await get;
                detail::replace(got, std::move(next));
                if (!got && this->run_.has_failed()) break;  // that was not all of it
            }
            bool begins = true;
            while (begins &&
                   (first ? this->is_held_up() : this->is_held_up(detail::inside(out_).sources()))) {
                begins = co_await this->admitted(me);
                if (begins && !first && this->run_.budget() != nullptr)
                    co_await this->run_.budget()->wait(detail::inside(out_).sources(), me);
            }
            if (!begins) break;
            if (got ? !load::is_mark(*got) : !first && at < record_.size()) {
                if (this->has_hooks()) this->before(me, number, epoch, hooked, error);
                if (!error) error = got ? record(*got, item) : play(at++, epoch, item);
                got.reset();
            }
            if (hooked > 0) this->after(me, number, epoch, hooked, error);
            if (error) {
                this->failed(me);
                this->gave_up(me, number, std::move(error));
                break;
            }
            const bool is_end = !item;
            if (is_end) {
                this->went_on(me);
                item.emplace(D::end_of_epoch(epoch));
                if (first) in_.cancel();
                first = false;
                at = 0;
                ++epoch;
                if (left_ != forever) --left_;
            } else {
                this->gave(me);
                ++number;
            }
            put_operation<output> put(out_, *item, &me);
            const bool taken = co_await put;
            over = !taken || (is_end && (left_ == 0 || record_.empty() || this->run_.has_failed()));
        }
        in_.cancel();
        this->leave(me, out_);
    }

    // Not in the coroutine: g++ 12 keeps a try block's temporaries too long there.
    std::exception_ptr record(C& from, std::optional<D>& item) noexcept {
        try {
            if (left_ > 1) record_.push_back(load::value_of(from));
            item.emplace(std::move(load::value_of(from)), as_epoch_item(load::provenance_of(from)));
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }
    std::exception_ptr play(std::size_t at, std::uint64_t epoch, std::optional<D>& item) noexcept {
        try {
            if (left_ == 1) {
                item.emplace(std::move(record_[at]), provenance(epoch));
            } else {
                T copy(record_[at]);
                item.emplace(std::move(copy), provenance(epoch));
            }
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }
    provenance as_epoch_item(provenance&& about) const noexcept { return std::move(about); }
    provenance as_epoch_item(no_provenance) const noexcept { return provenance(this->run_.first_epoch()); }

    static constexpr std::uint64_t forever = INT64_MAX;  // as `endless` has it
    std::uint64_t left_;                                 // epochs, with the one at hand
    std::vector<T> record_;
    input& in_;
    output& out_;
};

struct cache_stage : stage_base {
    cache_stage(std::uint64_t n, cache_options o) : epochs(n) {
        options.name = std::move(o.name);
        options.capacity = o.capacity;
        if (epochs == 0) {
            throw std::invalid_argument(
                "weir: cache(0) would give nothing at all; give it the number of "
                "epochs, with the one that it records, or none for weir::endless");
        }
        refuse_negative(epochs,
                        "weir: the number of a cache's epochs was negative; give it 1 or more, or none for "
                        "weir::endless");
    }

    template <class C>
    using output = typename the_cache_of<carried_value_t<C>>::type;

    template <class Self, class Policy, class C>
    static channel<output<C>, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        run.check(self.options.concurrency == 1, self.options,
                  "caches: it gives one item after the other, its concurrency is 1");
        // What is repeated is nothing that a source could go on from.
        run.forget_progress();
        auto& out = run.template add_queue<output<C>>(self.options);
        run.add_stage(std::make_unique<running_cache<C, Policy>>(run, self.options, self.epochs, in, out),
                      {&in}, {&out});
        return out;
    }

    std::uint64_t epochs;
};

}  // namespace detail

/// Makes an epoch only once: records the first one (of a source without epochs, the whole stream) while it
/// passes, then ends the stages before it, and gives copies of the record for each epoch that is left.
///
///     weir::source(files) | weir::pipe(decode) | weir::cache(90) | weir::pipe(augment) | weir::sink()
///
/// \param epochs  how many in all, at least 1; for ever by default.
/// Order:  that of the first epoch, in each. Behind it the run has epochs, whatever the source.
/// Errors: `std::invalid_argument` for 0 epochs, or what was negative. A failure that stops a stage before it
///         ends the epoch, and nothing is repeated; one that was tolerated is not made up for: the record
///         lacks the item. An exception from a copy stops the run.
/// Ends:   after the last epoch, and after a first one in which nothing came.
/// Cost:   the memory of all items of an epoch; one copy an item and epoch, none in the last one.
/// A run with a cache has no checkpoint; a source that begins within an epoch is recorded from there.
[[nodiscard]] inline auto cache(std::uint64_t epochs = INT64_MAX, cache_options options = {}) {
    return detail::cache_stage(epochs, std::move(options));
}

}  // namespace weir

#endif
