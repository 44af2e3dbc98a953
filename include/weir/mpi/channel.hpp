// weir mpi: a channel between ranks: bounded by credit, many producers, many consumers
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_CHANNEL_HPP
#define WEIR_MPI_CHANNEL_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/channel_operations.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/executor/executor.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/stats.hpp>
#include <weir/mpi/communicator.hpp>
#include <weir/mpi/item_link.hpp>
#include <weir/mpi/link.hpp>
#include <weir/mpi/owned_comm.hpp>
#include <weir/mpi/wire.hpp>
#include <weir/stages/sink_to.hpp>
#include <weir/stages/source.hpp>
#include <weir/stages/source_items.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>

#include <array>       // for std::array
#include <cstddef>     // for std::size_t
#include <cstdint>     // for std::uint32_t, std::uint64_t
#include <functional>  // for std::reference_wrapper, std::ref
#include <optional>    // for std::optional
#include <span>        // for std::span
#include <string>      // for std::string
#include <utility>     // for std::forward, std::move

namespace weir::mpi {

/// The options of a channel between ranks.
struct channel_options {
    /// On a consumer: the largest number of items of each producer that are on their way to this rank, or
    /// wait here. On all ranks at least 1.
    std::size_t capacity = 16;
    bool puts = true;            ///< this rank is a producer
    bool gets = true;            ///< this rank is a consumer
    std::string name = "ranks";  ///< for statistics and deadlock reports
};

/// The statistics of one rank's part of a channel between ranks.
struct rank_channel_stats {
    channel_stats out;           ///< the queue of items that wait for credit: a consumer's permission to send
    channel_stats in;            ///< the queue of items that have arrived, and wait for a get
    duration credit_wait{};      ///< time in which an item waited here, and no consumer had given credit
    duration wire{};             ///< time from the beginning of each send to its end, summed over items
    std::uint64_t num_sent = 0;  ///< items whose send has begun
    std::uint64_t bytes_sent = 0;      ///< bytes of these items
    std::uint64_t num_received = 0;    ///< items received, also those of `num_returned`
    std::uint64_t bytes_received = 0;  ///< bytes of these items
    std::uint64_t num_returned = 0;    ///< items that arrived after `cancel`, and were destroyed
};

/// Where the items of all ranks are: `put` is `got + returned + remaining`.
struct channel_balance {
    std::uint64_t put = 0;        ///< items that were put
    std::uint64_t got = 0;        ///< items that were got
    std::uint64_t returned = 0;   ///< items that no consumer wanted any more, and that were destroyed
    std::uint64_t remaining = 0;  ///< items that wait, or are on their way
    [[nodiscard]] friend bool operator==(const channel_balance&, const channel_balance&) = default;
};

/// A bounded queue between ranks, for many producers and many consumers: each item that a rank puts is got by
/// one rank. For programs in which some ranks prepare batches, and others train.
///
///     weir::mpi::channel<batch> batches(all, pool, {.puts = all.rank() != 0, .gets = all.rank() == 0});
///     if (all.rank() != 0) sync_wait(pool, prepare(batches));  // co_await batches.put(std::move(b));
///     while (auto b = batches.blocking_get()) train(*b);       // other ranks get no item
///
/// Each consumer gives each producer credit for `capacity` items. A producer sends an item to the next
/// consumer, in turn, that has given credit. Without credit, two items wait at the producer; more puts wait.
///
/// Order:    items from one producer to one consumer arrive in the order of their puts.
/// Copies:   none: MPI reads and writes the memory of the items. See `wire` for what can be an item.
/// Suspends: `put` while two items wait here for credit, `get` while no item is here; each 128th call yields.
/// Resumes:  on the executor of the waiting coroutine, by a post. Of another library: see `weir::channel`.
/// Threads:  any number may call any members at the same time; the destructor runs alone.
/// Errors:   as `weir::channel`; `std::length_error` for an item of 2 GiB or more; `rank_failed` after the
///           failure of a rank. An error of MPI in a channel is a failure of the rank.
/// Lifetime: outlives its operations; the world outlives the channel. The destructor closes, cancels, and
///           blocks, as `sync_wait` does, until all producers have closed and all consumers have received all
///           sent items. If an exception destroys the channel earlier, this rank has failed: see `abandon`.
/// Cost:     two local channels, one message for each item, and one for the credit of `capacity / 2` items.
template <class T>
class channel final : detail::item_link<detail::sent_t<T>> {
    using S = detail::sent_t<T>;
    using base = detail::item_link<S>;
    using outbox = weir::channel<S>;
    using inbox = weir::channel<detail::arrival<S>>;
    static constexpr bool is_packed = detail::packed<T>;

    template <class Base>
    class putting : public Base {  // puts into `out`, and then makes the link send
      public:
        template <class... As>
        explicit putting(channel& to, As&&... as) : Base(to.out, std::forward<As>(as)...), to_(&to) {}
        bool await_resume() { return to_->after_put(Base::await_resume()); }

      private:
        channel* to_;
    };
    template <class Base>
    class getting : public Base {  // gets from `in`, and then counts the item, for credit
      public:
        template <class... As>
        explicit getting(channel& from, As&&... as) : Base(from.in, std::forward<As>(as)...), from_(&from) {}
        std::optional<T> await_resume() { return from_->after_get(Base::await_resume()); }

      private:
        channel* from_;
    };

  public:
    using value_type = T;

    /// Collective: all ranks make their channels in the same order. Blocks until all have made this channel.
    /// \param clock  the executor whose clock the statistics use; outlives the channel.
    /// Errors: `std::invalid_argument` on all ranks: none puts, none gets, or a capacity is 0 or over 2^32-1.
    channel(const communicator& of, executor& clock, const channel_options& options = {})
        : channel(weir::sync_wait(plan(of, options)), clock, options) {}
    /// Makes the channel by the result of `co_await plan(of, options)`, with the same options. Doesn't block.
    channel(detail::channel_plan plan, executor& clock, const channel_options& options)
        : base(std::move(plan), clock, options.name) {
        if (!options.puts) this->out.close();
        if (!options.gets) this->in.close();
        this->open();
    }
    /// Collective: exchanges the options of all ranks. \returns a task of the plan for the constructor.
    [[nodiscard]] static auto plan(communicator of, const channel_options& options) {
        return detail::plan_channel(std::move(of), options.puts, options.gets, options.capacity);
    }
    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;
    ~channel() override {
        if (this->is_unwinding()) this->give_up_rank();
        close();
        cancel();
        this->wait_for_all();
    }

    /// As `weir::channel::put`. \returns awaitable of `bool`: false if this rank has closed, no consumer is
    /// left, or the wait was stopped; then the caller keeps the item. Resumes: see the class.
    [[nodiscard("co_await this, or nothing is put")]] auto put(T&& item) {
        return begin_put(item, weir::detail::no_stop());
    }
    /// The same as `put` above, but a stop request for `stop` ends the wait. Resumes: see the class.
    [[nodiscard("co_await this, or nothing is put")]] auto put(T&& item, stop_token stop) {
        return begin_put(item, std::move(stop));
    }
    /// As `weir::channel::get`. \returns awaitable of `std::optional<T>`: empty when all producers have
    /// closed and this rank has got all items; or if this rank has cancelled, or the wait was stopped.
    /// Resumes: see the class.
    [[nodiscard("co_await this, or nothing is got")]] auto get() {
        return getting<weir::detail::get_operation<inbox>>(*this);
    }
    /// The same as `get` above, but a stop request for `stop` ends the wait. Resumes: see the class.
    [[nodiscard("co_await this, or nothing is got")]] auto get(stop_token stop) {
        return getting<weir::detail::get_operation<inbox, stop_token>>(*this, nullptr, std::move(stop));
    }

    /// As `put`, but blocks the calling thread. \returns false in the same cases as `put`.
    bool blocking_put(T&& item) {
        if constexpr (is_packed) {
            S sent = wire<T>::pack(item);
            return this->put_now(sent);
        } else {
            return this->put_now(item);
        }
    }
    /// As `get`, but blocks the calling thread. \returns no item in the same cases as `get`.
    [[nodiscard]] std::optional<T> blocking_get() {
        std::optional<detail::arrival<S>> arrived;
        if (auto got = this->in.blocking_get()) arrived.emplace(std::move(*got));
        return after_get(std::move(arrived));
    }

    /// Ends this rank's puts. Items that were put before still arrive. Consumers find the end when all
    /// producers have closed. Threads: any.
    void close() noexcept {
        this->out.close();
        this->kick();  // so that this rank sends the end
    }
    /// Ends this rank's puts because of an exception. That is a failure of this rank: see `world`. Then gets
    /// of consumers throw `rank_failed`, and don't report the end of the channel. Called by `sink_to` if its
    /// run fails, and if an exception destroys this run, or the channel. Threads: any.
    using base::abandon;
    /// Ends this rank's gets: items here and on their way to this rank are destroyed, and counted in
    /// `channel_balance::returned`. When all consumers have cancelled, puts return false. Threads: any.
    void cancel() noexcept {
        this->in.cancel();
        this->leave();
    }

    /// \returns the statistics of this rank until now. Threads: any. Errors: `std::bad_alloc`.
    [[nodiscard]] rank_channel_stats stats() {
        rank_channel_stats s{.out = this->out.stats(), .in = this->in.stats()};
        this->loop().locked([&]() noexcept {
            const auto& c = this->figures();
            s.credit_wait = duration(this->credit_wait());
            s.wire = duration(c.wire);
            s.num_sent = c.sent;
            s.bytes_sent = c.bytes_sent;
            s.num_received = c.received;
            s.bytes_received = c.bytes_received;
            s.num_returned = c.returned;
        });
        return s;
    }

    /// Collective: waits for all ranks, then counts their items. Exact if no rank puts, gets or cancels
    /// meanwhile. Resumes: on the awaiting coroutine's executor.
    [[nodiscard]] task<channel_balance> balance() {
        const communicator of = this->comm();
        co_await of.barrier();
        const rank_channel_stats mine = stats();
        detail::leaked_on_failure<std::array<std::uint64_t, 4>> all(of);  // MPI may use it after a failure
        *all = {mine.out.num_put, mine.in.num_get,
                mine.out.num_discarded + mine.in.num_discarded + mine.num_returned,
                mine.out.size + mine.in.size + mine.num_sent - mine.num_received};  // may wrap, the sum not
        co_await of.all_reduce(std::span<std::uint64_t>(*all), reduction::sum);
        co_return channel_balance{(*all)[0], (*all)[1], (*all)[2], (*all)[3]};
    }

  private:
    template <class Stop>
    auto begin_put(T& item, Stop stop) {  // packs the item if there is a `wire` for it
        if constexpr (is_packed) {
            S sent = wire<T>::pack(item);
            return putting<weir::detail::put_made_operation<outbox, Stop>>(*this, std::move(stop),
                                                                           std::move(base::checked(sent)));
        } else {
            return putting<weir::detail::put_operation<outbox, Stop>>(*this, base::checked(item), nullptr,
                                                                      std::move(stop));
        }
    }
    std::optional<T> after_get(std::optional<detail::arrival<S>>&& arrived) {  // counts and unpacks
        if (!arrived) {
            this->check_failure();
            return std::nullopt;
        }
        this->got(arrived->from);
        if constexpr (is_packed) {
            return std::optional<T>(wire<T>::unpack(std::move(arrived->item)));
        } else {
            return std::optional<T>(std::move(arrived->item));
        }
    }
};

}  // namespace weir::mpi

namespace weir {
namespace detail {

// The channel as a source. The stage awaits `next` for each item, and calls `end` when the source ends.
template <class T>
class items_of<std::reference_wrapper<mpi::channel<T>>> {
  public:
    using item = T;
    static constexpr bool waits = true;
    static constexpr bool is_shared = true;  // code outside of the run puts the items

    explicit items_of(std::reference_wrapper<mpi::channel<T>> from) noexcept : from_(from) {}
    auto next(coroutine_env&) { return from_.get().get(); }
    void end() noexcept { from_.get().cancel(); }

  private:
    std::reference_wrapper<mpi::channel<T>> from_;
};

}  // namespace detail

/// Gives the items that this rank gets, until all producers have closed: as from a `channel` of one process.
/// When the source ends for another reason, this rank gets no more: see `mpi::channel::cancel`.
///
/// \param from  outlives the run.
/// Order:   that of `mpi::channel`. Resumes: on the stage's executor.
/// Errors:  `rank_failed` fails the run.
template <class T>
[[nodiscard]] auto source(mpi::channel<T>& from, source_options options = {}) {
    return weir::source(std::ref(from), std::move(options));
}

/// Puts each item into a channel between ranks: as into a `channel` of one process.
///
/// \param to  outlives the run. Its item type is the result type of the stage before: nothing is converted.
/// Order:   kept. Resumes: on the stage's executor.
/// Errors:  `rank_failed` fails the run. A run that fails, or that an exception destroys, calls `abandon`.
template <class T>
[[nodiscard]] auto sink_to(mpi::channel<T>& to, const sink_to_options& options = {}) {
    return detail::sink_to_stage<mpi::channel<T>>(to, options);
}

}  // namespace weir

#endif
