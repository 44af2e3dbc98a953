// weir mpi: a group of ranks: awaitable messages and collective operations
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_COMMUNICATOR_HPP
#define WEIR_MPI_COMMUNICATOR_HPP

#include <weir/mpi/awaited_call.hpp>
#include <weir/mpi/error.hpp>
#include <weir/mpi/operations.hpp>
#include <weir/mpi/owned_comm.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <mpi.h>

#include <cstddef>      // for std::byte, std::size_t
#include <cstdint>      // for std::int32_t, ...
#include <memory>       // for std::shared_ptr
#include <optional>     // for std::nullopt, std::optional
#include <span>         // for std::span
#include <stdexcept>    // for std::invalid_argument, std::logic_error
#include <string>       // for std::string, std::to_string
#include <type_traits>  // for std::is_same_v
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir::mpi {

/// How a reduction combines elements of all ranks: integers of at most 64 bits, float, double, long double.
enum class reduction : std::uint8_t {
    sum,       ///< the sum
    smallest,  ///< the minimum
    largest    ///< the maximum
};

namespace detail {
class link;
template <class>
class leaked_on_failure;

inline MPI_Op op_of(reduction how) noexcept {
    return how == reduction::sum ? MPI_SUM : how == reduction::smallest ? MPI_MIN : MPI_MAX;
}
}  // namespace detail

/// What a receive or a probe found.
struct received {
    int from = any_rank;    ///< the rank of the sender
    int tag = any_tag;      ///< of the message: the number that its sender chose
    std::size_t count = 0;  ///< elements; of a probe: bytes
};

/// A group of ranks (processes), numbered from 0. All operations are awaitable, and begin when they are
/// awaited: `co_await w.barrier()`, or `weir::sync_wait(w.barrier())` on a thread that doesn't call `poll`.
///
/// Memory:   the caller's: nothing is copied. The caller keeps it, untouched, until the await ends. MPI may
///           use it even after an await that the failure of a rank has ended: then the caller keeps it until
///           the job ends; also the memory of a receive whose message had begun to arrive.
/// Order:    between two ranks, messages with one tag arrive in the order in which they were sent. Collective
///           operations (`barrier` and all declared below it) begin on all ranks of the group in one order:
///           await one after the other. Independent coroutines need a communicator each: see `duplicate`.
/// Suspends: unless the operation is complete at once. Resumes: on the coroutine's executor, by a post.
/// Errors:   `error` if MPI reports one; `rank_failed` after the failure of a rank; `std::logic_error` after
///           the end of the `world`, or without ranks. A receive or a probe throws `stopped` when a stop, a
///           time limit or `when_any` ends the wait; no other operation can be ended early. The destruction
///           of a coroutine that waits blocks until MPI has finished with the memory.
/// Threads:  any, at all levels of MPI from MPI_THREAD_FUNNELED on: see `world`.
/// Lifetime: a value; copies share a communicator of MPI. The world outlives the operations.
/// Cost:     no allocation, but by the operations that return a `task`.
class communicator {
    friend class detail::link;
    friend class rank_report;
    template <class>
    friend class detail::leaked_on_failure;
    using bytes = std::vector<std::byte>;

    const detail::owned_comm& owned() const {  // throws if there are no ranks
        if (comm_ == nullptr) {
            throw std::logic_error(
                "weir: this communicator has no ranks: it was default-constructed, or is "
                "of a split in which this rank gave no colour");
        }
        return *comm_;
    }

    template <class Begin, class Result>
    auto call(const char* name, int peer, Begin begin, Result result, bool may_cancel = false,
              stop_token stop = {}) const {
        return detail::awaited_call<Begin, Result>(owned().loop, name, peer, std::move(begin),
                                                   std::move(result), may_cancel, std::move(stop));
    }

    template <class T>
    static received received_by(const detail::operation& o) {  // what a receive found
        return {o.status().MPI_SOURCE, o.status().MPI_TAG, detail::elements<T>::count_in(o.status())};
    }
    template <class T>
    static std::optional<received> received_unless_cancelled(const detail::operation& o) {
        if (o.is_cancelled()) return std::nullopt;
        return received_by<T>(o);
    }
    template <class T, class Result>
    auto receive(std::span<T> into, int from, int tag, stop_token stop, Result result) const {
        owned().check_source(from, tag);
        return call(
            "MPI_Irecv", from,
            [comm = handle(), into, n = detail::elements<T>(into.size()), from = source_of(from),
             tag = tag_of(tag)](MPI_Request& request, bool&, MPI_Status&) noexcept {
                return MPI_Irecv(into.data(), n.count, n.type(), from, tag, comm, &request);
            },
            result, true, std::move(stop));
    }
    template <class Result>
    auto probe_for(int from, int tag, stop_token stop, Result result) const {
        owned().check_source(from, tag);
        return call(
            "MPI_Iprobe", from,
            [comm = handle(), from = source_of(from), tag = tag_of(tag)](MPI_Request&, bool& again,
                                                                         MPI_Status& status) noexcept {
                int is_there = 0;
                const int code = MPI_Iprobe(from, tag, comm, &is_there, &status);
                again = is_there == 0;
                return code;
            },
            result, true, std::move(stop));
    }
    static int source_of(int from) noexcept { return from == any_rank ? MPI_ANY_SOURCE : from; }
    static int tag_of(int tag) noexcept { return tag == any_tag ? MPI_ANY_TAG : tag; }

  public:
    /// Makes a communicator of no ranks, to which another can be assigned.
    communicator() noexcept = default;
    explicit communicator(std::shared_ptr<const detail::owned_comm> of) noexcept : comm_(std::move(of)) {}

    [[nodiscard]] int rank() const { return owned().rank; }  ///< of this process, from 0
    [[nodiscard]] int size() const { return owned().size; }  ///< the number of ranks
    /// MPI's handle. Lifetime: that of this object and its copies.
    [[nodiscard]] MPI_Comm handle() const { return owned().comm; }
    [[nodiscard]] explicit operator bool() const noexcept { return comm_ != nullptr; }  ///< has ranks

    /// Any operation that MPI begins with a request, such as `MPI_Ialltoall`.
    /// \param name   the name of the MPI function, for errors; a literal.
    /// \param start  `int(MPI_Comm, MPI_Request*)`: begins the operation, and returns MPI's code. Called at
    ///               most once, on a thread that may call MPI. Must not throw, block, or use weir::mpi.
    /// \returns awaitable of void.
    template <class Start>
    [[nodiscard("co_await this, or nothing is done")]] auto request(const char* name, Start start) const {
        return call(
            name, any_rank,
            [comm = handle(), start = std::move(start)](MPI_Request& request, bool&, MPI_Status&) mutable {
                return start(comm, &request);
            },
            detail::no_result{});
    }

    /// Waits for a request already begun and not persistent, as `MPI_Wait`. Not with MPI_THREAD_FUNNELED, as
    /// then only one thread may begin requests. \returns awaitable of void.
    [[nodiscard("co_await this, or nothing is done")]] auto wait(MPI_Request pending) const {
        return request("MPI_Test", [pending](MPI_Comm, MPI_Request* r) noexcept {
            *r = pending;
            return MPI_SUCCESS;
        });
    }

    /// Sends elements to a rank. \returns awaitable of void: the memory may be used again.
    /// Errors: `std::invalid_argument` without such a rank, or for a negative tag; `std::length_error` for
    ///         2^31 numbers or more, or 2^31 bytes or more of other elements.
    template <class T, std::size_t N>
    [[nodiscard("co_await this, or nothing is done")]] auto send(std::span<T, N> what, int to,
                                                                 int tag = 0) const {
        owned().check_peer(to);
        detail::owned_comm::check_tag(tag);
        return call(
            "MPI_Isend", to,
            [comm = handle(), what, n = detail::elements<T>(what.size()), to,
             tag](MPI_Request& request, bool&, MPI_Status&) noexcept {
                return MPI_Isend(what.data(), n.count, n.type(), to, tag, comm, &request);
            },
            detail::no_result{});
    }

    /// Receives a message of at most `into.size()` elements.
    /// \returns awaitable of `received`. Errors: those of `send`; `error` of the class MPI_ERR_TRUNCATE if
    ///          the message is longer; of MPI_ERR_TYPE if its bytes are no whole number of elements.
    ///          Open MPI writes behind `into` if such a message is large: `probe` tells the size first.
    template <class T, std::size_t N>
    [[nodiscard("co_await this, or nothing is done")]] auto recv(std::span<T, N> into, int from = any_rank,
                                                                 int tag = any_tag) const {
        return receive(std::span<T>(into), from, tag, {}, received_by<T>);
    }
    /// The same as `recv` above, but a stop request for `stop` ends the wait.
    /// \returns awaitable of `std::optional<received>`: empty if the wait was stopped; no message is lost.
    template <class T, std::size_t N>
    [[nodiscard("co_await this, or nothing is done")]] auto recv(std::span<T, N> into, int from, int tag,
                                                                 stop_token stop) const {
        return receive(std::span<T>(into), from, tag, std::move(stop), received_unless_cancelled<T>);
    }

    /// Waits for a message, and does not receive it.
    /// \returns awaitable of `received`. Another receive may take the message first.
    [[nodiscard("co_await this, or nothing is done")]] auto probe(int from = any_rank,
                                                                  int tag = any_tag) const {
        return probe_for(from, tag, {}, received_by<std::byte>);
    }
    /// The same as `probe` above, but a stop request for `stop` ends the wait.
    /// \returns awaitable of an optional: empty if the wait was stopped.
    [[nodiscard("co_await this, or nothing is done")]] auto probe(int from, int tag, stop_token stop) const {
        return probe_for(from, tag, std::move(stop), received_unless_cancelled<std::byte>);
    }

    /// Collective. \returns awaitable of void: all ranks have begun their barrier.
    [[nodiscard("co_await this, or nothing is done")]] auto barrier() const {
        return request("MPI_Ibarrier",
                       [](MPI_Comm comm, MPI_Request* r) noexcept { return MPI_Ibarrier(comm, r); });
    }

    /// Collective: combines the elements of all ranks, index by index; on each rank the result replaces
    /// `in_out`. \returns awaitable of void. Errors: `std::length_error` for 2^31 numbers or more.
    template <class T, std::size_t N>
    [[nodiscard("co_await this, or nothing is done")]] auto all_reduce(std::span<T, N> in_out,
                                                                       reduction how) const {
        return request("MPI_Iallreduce", [in_out, n = detail::summands<T>(in_out.size()),
                                          how](MPI_Comm comm, MPI_Request* r) noexcept {
            return MPI_Iallreduce(MPI_IN_PLACE, in_out.data(), n.count, n.type(), detail::op_of(how), comm,
                                  r);
        });
    }
    /// The same as `all_reduce`, but only the rank `root` has the result; other ranks keep their elements.
    template <class T, std::size_t N>
    [[nodiscard("co_await this, or nothing is done")]] auto reduce(std::span<T, N> in_out, reduction how,
                                                                   int root) const {
        owned().check_peer(root);
        return request("MPI_Ireduce", [in_out, n = detail::summands<T>(in_out.size()), how, root,
                                       is_root = rank() == root](MPI_Comm comm, MPI_Request* r) noexcept {
            return MPI_Ireduce(is_root ? MPI_IN_PLACE : in_out.data(), is_root ? in_out.data() : nullptr,
                               n.count, n.type(), detail::op_of(how), root, comm, r);
        });
    }

    /// Collective: gives all ranks `root`'s elements. \returns awaitable of void. Errors: those of `send`.
    template <class T, std::size_t N>
    [[nodiscard("co_await this, or nothing is done")]] auto broadcast(std::span<T, N> what, int root) const {
        owned().check_peer(root);
        return request("MPI_Ibcast", [what, n = detail::elements<T>(what.size()),
                                      root](MPI_Comm comm, MPI_Request* r) noexcept {
            return MPI_Ibcast(what.data(), n.count, n.type(), root, comm, r);
        });
    }

    /// Collective: gives all ranks the elements of all, in the order of ranks; `mine` has the same size on
    /// all. \returns awaitable of void. Errors: `std::invalid_argument` for a wrong size of `all_elements`.
    template <class From, std::size_t N, class T, std::size_t M>
        requires std::is_same_v<const From, const T>
    [[nodiscard("co_await this, or nothing is done")]] auto all_gather(std::span<From, N> mine,
                                                                       std::span<T, M> all_elements) const {
        owned().check_gather(all_elements.size(), mine.size());
        return request("MPI_Iallgather",
                       [mine, all_elements, n = detail::elements<T>(mine.size())](MPI_Comm comm,
                                                                                  MPI_Request* r) noexcept {
                           return MPI_Iallgather(mine.data(), n.count, n.type(), all_elements.data(), n.count,
                                                 n.type(), comm, r);
                       });
    }
    /// The same as `all_gather`, but only `root` has the result; on other ranks `all_elements` is not used.
    template <class From, std::size_t N, class T, std::size_t M>
        requires std::is_same_v<const From, const T>
    [[nodiscard("co_await this, or nothing is done")]] auto gather(std::span<From, N> mine,
                                                                   std::span<T, M> all_elements,
                                                                   int root) const {
        owned().check_peer(root);
        if (rank() == root) owned().check_gather(all_elements.size(), mine.size());
        return request("MPI_Igather", [mine, all_elements, n = detail::elements<T>(mine.size()),
                                       root](MPI_Comm comm, MPI_Request* r) noexcept {
            return MPI_Igather(mine.data(), n.count, n.type(), all_elements.data(), n.count, n.type(), root,
                               comm, r);
        });
    }

    /// Collective: gives `root` the bytes of all ranks, whose sizes may differ.
    /// \returns on `root` the bytes of each rank, by rank; on other ranks an empty vector.
    /// Errors: `std::length_error`, on all ranks, if the sum of the sizes is 2 GiB or more.
    [[nodiscard]] task<std::vector<bytes>> gather_bytes(std::span<const std::byte> mine, int root) const;

    /// Collective: gives all ranks the bytes of `root`; `mine` of other ranks is ignored. Any size.
    [[nodiscard]] task<bytes> broadcast_bytes(bytes mine, int root) const;

    /// Collective: makes a group of the ranks that give the same colour, ordered by `key`, then by rank.
    /// \param colour  0 or more; `any_rank`: this rank gets a communicator of no ranks.
    [[nodiscard]] task<communicator> split(int colour, int key = 0) const;
    /// Collective: makes another communicator of the same ranks, which receives only its own messages.
    [[nodiscard]] task<communicator> duplicate() const { return split(0); }

  private:
    std::shared_ptr<const detail::owned_comm> comm_;
};

}  // namespace weir::mpi

#include <weir/mpi/communicator.ipp>

#endif
