// weir mpi, internal: the owner of an MPI_Comm; MPI's types of elements; when ranks create communicators
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_OWNED_COMM_HPP
#define WEIR_MPI_OWNED_COMM_HPP

#include <weir/mpi/error.hpp>
#include <weir/mpi/operations.hpp>
#include <weir/mpi/reactor.hpp>
#include <weir/platform/config.hpp>

#include <mpi.h>

#include <algorithm>    // for std::find, std::min_element
#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t, std::uint64_t
#include <limits>       // for std::numeric_limits
#include <memory>       // for std::make_shared, std::make_unique, std::shared_ptr, std::unique_ptr
#include <mutex>        // for std::lock_guard, std::mutex
#include <stdexcept>    // for std::invalid_argument, std::length_error
#include <string>       // for std::string, std::to_string
#include <type_traits>  // for std::is_integral_v, std::is_same_v, std::is_trivially_copyable_v
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir::mpi::detail {

// Decides which communicator this rank creates next. MPI_Comm_create_group blocks a thread until all members
// have called the function. Two ranks that call this function for two communicators with the same members, in
// different orders, would deadlock. So each rank approves one creation at a time, and calls the function only
// after all ranks of the creation have approved it.
//
// The ranks of a creation first agree on a number: the greatest of the numbers that the ranks propose. A rank
// approves a creation under two conditions: the rank approves no other creation, and none of the rank's
// creations has a lower number. If a rank refuses, all ranks of the creation withdraw their approvals and ask
// again. In the end all ranks approve the creation with the lowest number. A creation delays other creations
// only on ranks that have agreed on its number.
//
// Threads: any.
class creation_turns {
  public:
    explicit creation_turns(int rank_in_world) noexcept : rank_(static_cast<unsigned>(rank_in_world)) {}

    // Returns a number that no rank of the job proposes again.
    std::uint64_t propose() {
        const std::lock_guard guard(lock_);
        return ++proposed_ << 32U | rank_;
    }

    // One creation on this rank. Exists from the agreement on the number until the communicator exists, or
    // its creation has failed.
    class turn {
      public:
        turn(creation_turns& all, std::uint64_t number) : all_(all), number_(number) {
            const std::lock_guard guard(all_.lock_);
            all_.agreed_.push_back(number_);
        }
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;
        ~turn() {
            withdraw();
            const std::lock_guard guard(all_.lock_);
            all_.agreed_.erase(std::find(all_.agreed_.begin(), all_.agreed_.end(), number_));
        }

        // Approves the creation if the conditions above are met; returns whether it is approved. This rank
        // then approves no other creation until `withdraw`.
        bool approve() {
            const std::lock_guard guard(all_.lock_);
            if (all_.approved_ == 0 && number_ == *std::min_element(all_.agreed_.begin(), all_.agreed_.end()))
                all_.approved_ = number_;
            return all_.approved_ == number_;
        }
        // Withdraws the approval, if this rank has approved the creation.
        void withdraw() {
            const std::lock_guard guard(all_.lock_);
            if (all_.approved_ == number_) all_.approved_ = 0;
        }

      private:
        creation_turns& all_;
        const std::uint64_t number_;
    };

  private:
    const std::uint64_t rank_;
    std::mutex lock_;
    std::uint64_t proposed_ = 0;         // how often propose() was called
    std::uint64_t approved_ = 0;         // the number of the approved creation; 0: none
    std::vector<std::uint64_t> agreed_;  // the numbers of all turns
};

}  // namespace weir::mpi::detail

namespace weir::mpi::detail {

// The types for which type_of() has an MPI datatype. Not std::is_arithmetic, which with GNU extensions
// includes __int128 and __float128.
template <class T>
concept number = std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, long double> ||
                 (std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= sizeof(std::int64_t));

// MPI's type of a number.
template <number T>
MPI_Datatype type_of() noexcept {
    if constexpr (std::is_same_v<T, float>) {
        return MPI_FLOAT;
    } else if constexpr (std::is_same_v<T, double>) {
        return MPI_DOUBLE;
    } else if constexpr (std::is_same_v<T, long double>) {
        return MPI_LONG_DOUBLE;
    } else if constexpr (std::is_signed_v<T>) {
        return sizeof(T) == 1   ? MPI_INT8_T
               : sizeof(T) == 2 ? MPI_INT16_T
               : sizeof(T) == 4 ? MPI_INT32_T
                                : MPI_INT64_T;
    } else {
        return sizeof(T) == 1   ? MPI_UINT8_T
               : sizeof(T) == 2 ? MPI_UINT16_T
               : sizeof(T) == 4 ? MPI_UINT32_T
                                : MPI_UINT64_T;
    }
}

// The count and the MPI datatype of `n` elements of type T: each `number` has its type, others are bytes.
template <class T>
struct elements {
    static_assert(std::is_trivially_copyable_v<T>,
                  "weir: MPI sends elements byte by byte, so they must be trivially copyable; send what they "
                  "are made from");

    // Errors: `std::length_error` if MPI, whose counts are of type `int`, can't be given the count.
    explicit elements(std::size_t n) : count(static_cast<int>(n * scale)) {
        if (n > static_cast<std::size_t>((std::numeric_limits<int>::max)()) / scale) {
            throw std::length_error("weir: MPI counts by int, and " + std::to_string(n) + " elements of " +
                                    std::to_string(sizeof(T)) +
                                    " bytes are too many for one message; send them in parts");
        }
    }
    static MPI_Datatype type() noexcept {
        if constexpr (number<T>) {
            return type_of<T>();
        } else {
            return MPI_BYTE;
        }
    }
    // The number of elements in the message of a status. Errors: `error`; its class is MPI_ERR_TYPE if the
    // message does not consist of whole elements.
    static std::size_t count_in(const MPI_Status& status) {
        int n = 0;
        check_call(MPI_Get_count(&status, type(), &n), "MPI_Get_count");
        if (n < 0 || static_cast<std::size_t>(n) % scale != 0) throw error(MPI_ERR_TYPE, "MPI_Get_count");
        return static_cast<std::size_t>(n) / scale;
    }

    static constexpr std::size_t scale = number<T> ? 1 : sizeof(T);  // values of type() in one element
    int count;
};

template <class T>
struct elements<const T> : elements<T> {
    using elements<T>::elements;
};

// The same as `elements`, for the elements of a reduction.
template <class T>
struct summands : elements<T> {
    static_assert(
        number<T>,
        "weir: MPI reduces integers of at most 64 bits, float, double and long double; gather other "
        "elements, and join them yourself");
    using elements<T>::elements;
};

// Owns a communicator of MPI, and frees the communicator on a thread that may call MPI.
class owned_comm {
    // Frees the communicator, and then destroys itself. Made in advance: the destructor allocates nothing.
    class freeing final : public operation {
      public:
        explicit freeing(MPI_Comm comm) noexcept : operation("MPI_Comm_free", any_rank, false), comm_(comm) {}

      private:
        int begin(MPI_Request&, bool&) noexcept override { return MPI_Comm_free(&comm_); }
        void ended() noexcept override { delete this; }
        MPI_Comm comm_;
    };

  public:
    // Makes the owner of `handle`. Called on a thread that may call MPI. `shares`: the `turns` of the
    // communicator from which this one is made; null for that of the world. Errors: `error`, std::bad_alloc;
    // then the communicator is freed.
    static std::shared_ptr<const owned_comm> make(std::shared_ptr<reactor> of, MPI_Comm handle,
                                                  std::shared_ptr<creation_turns> shares = nullptr) {
        try {
            return std::make_shared<const owned_comm>(std::move(of), handle, std::move(shares));
        } catch (...) {
            MPI_Comm_free(&handle);
            throw;
        }
    }
    // Called by make(), which frees the communicator if the constructor throws.
    owned_comm(std::shared_ptr<reactor> of, MPI_Comm handle, std::shared_ptr<creation_turns> shares)
        : loop(std::move(of)), comm(handle), turns(std::move(shares)),
          freeing_(std::make_unique<freeing>(handle)) {
        check_call(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        check_call(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
        check_call(MPI_Comm_size(comm, &size), "MPI_Comm_size");
        if (turns == nullptr) turns = std::make_shared<creation_turns>(rank);
    }
    owned_comm(const owned_comm&) = delete;
    owned_comm& operator=(const owned_comm&) = delete;
    ~owned_comm() {
        if (!loop->is_closed())
            loop->submit(*freeing_.release());  // else MPI_Finalize frees the communicator
    }

    // Errors: `std::invalid_argument` if there is no such rank.
    void check_peer(int peer) const {
        if (peer >= 0 && peer < size) return;
        throw std::invalid_argument("weir: there is no rank " + std::to_string(peer) +
                                    " here; ranks are 0 to " + std::to_string(size - 1));
    }
    // Errors: `std::invalid_argument` for a negative tag; and, below, for a wrong rank, or number of
    // elements.
    static void check_tag(int tag) {
        if (tag >= 0) return;
        throw std::invalid_argument("weir: tags of messages are 0 or more, and this is " +
                                    std::to_string(tag));
    }
    void check_source(int from, int tag) const {
        if (from != any_rank) check_peer(from);
        if (tag != any_tag) check_tag(tag);
    }
    void check_gather(std::size_t given, std::size_t mine) const {
        if (given == mine * static_cast<std::size_t>(size)) return;
        throw std::invalid_argument("weir: a gather of " + std::to_string(mine) + " elements from each of " +
                                    std::to_string(size) + " ranks has no room in " + std::to_string(given) +
                                    " elements");
    }

    const std::shared_ptr<reactor> loop;
    const MPI_Comm comm;
    int rank = 0;
    int size = 1;
    std::shared_ptr<creation_turns> turns;  // one object for all communicators of this rank

  private:
    std::unique_ptr<freeing> freeing_;
};

// Keeps an object for the rest of the process. Called under the lock of the reactor, which polls MPI.
template <class T>
void leak(T what) {
    static auto* const kept = new std::vector<T>;
    kept->push_back(std::move(what));
}

// The memory of a collective operation, which MPI can't cancel. After the failure of a rank, this rank still
// calls MPI, to end together with the others. Such a call may write to the memory what another rank had sent
// before. So after a failure the destructor leaks the memory.
template <class T>
class leaked_on_failure {
  public:
    // `of`: a `communicator`. A template, because the header of that class includes this one.
    template <class Communicator>
    explicit leaked_on_failure(const Communicator& of, T value = {})
        : loop_(of.owned().loop), value_(std::make_unique<T>(std::move(value))) {}
    leaked_on_failure(const leaked_on_failure&) = delete;
    leaked_on_failure& operator=(const leaked_on_failure&) = delete;
    ~leaked_on_failure() {
        if (loop_->failure() == nullptr) return;
        loop_->locked([this]() noexcept { leak(std::move(value_)); });
    }

    T& operator*() noexcept { return *value_; }
    T* operator->() noexcept { return value_.get(); }

  private:
    const std::shared_ptr<reactor> loop_;
    std::unique_ptr<T> value_;
};

}  // namespace weir::mpi::detail

#endif
