// weir mpi, internal: an operation of MPI, and the list of begun operations, which one thread at a time tests
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_OPERATIONS_HPP
#define WEIR_MPI_OPERATIONS_HPP

#include <weir/mpi/error.hpp>
#include <weir/platform/platform.hpp>

#include <cstddef>  // for std::ptrdiff_t, std::size_t
#include <new>      // for std::bad_alloc
#include <utility>  // for std::exchange
#include <vector>   // for std::vector

namespace weir::mpi::detail {

using weir::detail::standard_platform;

// An operation of MPI. The caller that submits the operation keeps the object until `ended` is called.
class operation {
  public:
    operation(const char* call, int peer, bool may_cancel) noexcept
        : call_(call), peer_(peer), may_cancel_(may_cancel) {}
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;

    // Begins the operation; returns MPI's code. Sets `request` to the request of MPI whose end is the end of
    // the operation. If `request` is not set, but `again` is, the function is called again at each poll. If
    // neither is set, the operation is over.
    virtual int begin(MPI_Request& request, bool& again) noexcept = 0;
    // Called once, when the operation is over, under the lock of the `reactor`, which begins and polls
    // operations. The object may be gone when ended() returns.
    virtual void ended() noexcept = 0;

    const char* call() const noexcept { return call_; }
    int peer() const noexcept { return peer_; }                   // the other rank; `any_rank`: none
    int error_class() const noexcept { return error_class_; }     // MPI_SUCCESS: no error
    bool is_cancelled() const noexcept { return is_cancelled_; }  // also: ended by give_up()
    const MPI_Status& status() const noexcept { return status_; }

  protected:
    virtual ~operation() = default;
    // Called before an operation that has ended is submitted again: forgets how it has ended.
    void begin_anew() noexcept {
        is_cancelled_ = cancel_was_called_ = false;
        must_cancel_.store(false, std::memory_order_relaxed);  // relaxed: nobody else knows the operation now
        error_class_ = MPI_SUCCESS;
    }
    MPI_Status status_{};

  private:
    friend class operations;
    friend class reactor;
    const char* const call_;
    const int peer_;
    const bool may_cancel_;
    bool is_cancelled_ = false;
    bool cancel_was_called_ = false;                      // MPI_Cancel has succeeded
    standard_platform::atomic<bool> must_cancel_{false};  // set by reactor::cancel()
    int error_class_ = MPI_SUCCESS;
    operation* next_ = nullptr;  // in the reactor's list of operations that have not begun
};

// The operations that have begun. Used only by the thread that holds the reactor's lock. `begin` and `ended`
// of an operation may call begin() of this object for another operation, but only for one that sets a
// request: `repeated_`, the list of those without a request, may be in use meanwhile.
class operations {
  public:
    std::size_t size() const noexcept { return requests_.size() + repeated_.size(); }

    // Returns whether the operation is over.
    bool begin(operation& o) noexcept {
        // relaxed, here and in cancel_marked(): reactor::cancel() sets `must_cancel_` before `cancels_`; the
        // thread that finds `cancels_` set then calls cancel_marked()
        if (o.must_cancel_.load(std::memory_order_relaxed)) return give_up(o);
        try {
            const std::size_t enough = requests_.size() + 1;
            make_room(requests_);
            make_room(owners_);
            places_.resize(enough);
            statuses_.resize(enough);
            make_room(repeated_);
        } catch (const std::bad_alloc&) {
            return end(o, MPI_ERR_NO_MEM);
        }
        MPI_Request request = MPI_REQUEST_NULL;
        bool again = false;
        int code = o.begin(request, again);
        const bool has_request = code == MPI_SUCCESS && request != MPI_REQUEST_NULL;
        int is_complete = has_request || again ? 0 : 1;
        // If MPI_Test fails, the operation is still pending, and MPI uses its memory: test() tests again.
        if (has_request) code = MPI_Test(&request, &is_complete, &o.status_);
        if (is_complete != 0 || (code != MPI_SUCCESS && !has_request)) return end(o, code);
        if (!has_request) {
            repeated_.push_back(&o);
        } else {
            requests_.push_back(request);
            owners_.push_back(&o);
        }
        return false;
    }

    // Ends the operations that are complete. Returns whether any has ended.
    bool test() noexcept {
        bool ended = has_failed_to_cancel_ && cancel_marked();
        ended = repeat() || ended;
        return test_requests() || ended;
    }

    // Cancels the operations that are marked by `must_cancel_`. Returns whether any has ended. relaxed: the
    // reactor has seen `cancels_`, which is set after the marks
    bool cancel_marked() noexcept {
        has_failed_to_cancel_ = false;
        for (std::size_t i = 0; i < owners_.size(); ++i) {
            operation& o = *owners_[i];
            if (o.cancel_was_called_ || !o.must_cancel_.load(std::memory_order_relaxed)) continue;
            o.cancel_was_called_ = MPI_Cancel(&requests_[i]) == MPI_SUCCESS;
            has_failed_to_cancel_ = has_failed_to_cancel_ || !o.cancel_was_called_;
        }
        return end_repeated([](operation& o) noexcept {
            // relaxed: see begin()
            return o.must_cancel_.load(std::memory_order_relaxed) && give_up(o);
        });
    }

    // Ends all operations without a result. Cancels receives that have found no message, as their callers
    // free the memory. Later calls of MPI may still use the memory of the other operations.
    void give_up_all() noexcept {
        const std::vector<operation*> requested = std::exchange(owners_, {});
        for (std::size_t i = 0; i < requested.size(); ++i) {
            if (!requested[i]->may_cancel_ || MPI_Cancel(&requests_[i]) != MPI_SUCCESS) continue;
            MPI_Request_free(&requests_[i]);
        }
        requests_.clear();
        for (operation* const o : requested) give_up(*o);
        end_repeated([](operation& o) noexcept { return give_up(o); });
    }

    // Ends an operation without a result. Returns true, as `end`.
    static bool give_up(operation& o) noexcept {
        o.is_cancelled_ = true;
        o.ended();
        return true;
    }

  private:
    // Makes room for one more. Not by reserve(size + 1), which would copy the list each time.
    template <class List>
    static void make_room(List& list) {
        if (list.size() == list.capacity()) list.reserve(2 * list.size() + 1);
    }

    // Ends an operation with the code of MPI. Returns true: an operation has ended.
    static bool end(operation& o, int code) noexcept {
        int cancelled = 0;
        if (code == MPI_SUCCESS && o.cancel_was_called_) code = MPI_Test_cancelled(&o.status_, &cancelled);
        o.is_cancelled_ = cancelled != 0;
        if (code != MPI_SUCCESS) o.error_class_ = class_of(code);
        o.ended();
        return true;
    }

    // Removes the operations without a request for which `ends` returns true; `ends` calls their `ended`.
    template <class Ends>
    bool end_repeated(Ends ends) noexcept {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < repeated_.size(); ++i) {
            operation* const o = repeated_[i];
            if (!ends(*o)) repeated_[kept++] = o;
        }
        const bool ended = kept != repeated_.size();
        repeated_.resize(kept);
        return ended;
    }
    // Calls `begin` again for each operation without a request. Returns whether any has ended.
    bool repeat() noexcept {
        return end_repeated([](operation& o) noexcept {
            MPI_Request none = MPI_REQUEST_NULL;
            bool again = false;
            const int code = o.begin(none, again);
            return (code != MPI_SUCCESS || !again) && end(o, code);
        });
    }

    // Tests all requests by one call of MPI. Returns whether an operation has ended.
    bool test_requests() noexcept {
        if (requests_.empty()) return false;
        int num_done = 0;
        const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &num_done,
                                      places_.data(), statuses_.data());
        if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) return test_one_by_one();
        for (int i = 0; i < num_done; ++i) {
            const auto n = static_cast<std::size_t>(i);
            const int its_code = code == MPI_SUCCESS ? MPI_SUCCESS : statuses_[n].MPI_ERROR;
            end_request(static_cast<std::size_t>(places_[n]), statuses_[n], its_code);
        }
        return num_done > 0 && remove_ended();  // MPI_UNDEFINED is negative
    }
    // Tests the requests one by one. Called after an error of MPI_Testsome that does not tell which request
    // has failed. Returns whether an operation has ended.
    bool test_one_by_one() noexcept {
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            int is_complete = 0;
            MPI_Status status{};
            const int code = MPI_Test(&requests_[i], &is_complete, &status);
            if (code != MPI_SUCCESS || is_complete != 0) end_request(i, status, code);
        }
        return remove_ended();
    }
    // Ends the operation of a request; remove_ended() then removes both from the lists.
    void end_request(std::size_t at, const MPI_Status& status, int code) noexcept {
        operation& o = *std::exchange(owners_[at], nullptr);
        o.status_ = status;
        end(o, code);
    }
    // Removes the requests of operations that have ended. Returns whether there were any.
    bool remove_ended() noexcept {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < owners_.size(); ++i) {
            if (owners_[i] == nullptr) continue;
            owners_[kept] = owners_[i];
            requests_[kept++] = requests_[i];
        }
        const bool ended = kept != owners_.size();
        owners_.resize(kept);
        requests_.resize(kept, MPI_REQUEST_NULL);
        return ended;
    }

    std::vector<MPI_Request> requests_;
    std::vector<operation*> owners_;    // of the requests
    std::vector<operation*> repeated_;  // without a request
    std::vector<int> places_;           // of complete requests, and their statuses: for MPI_Testsome
    std::vector<MPI_Status> statuses_;
    bool has_failed_to_cancel_ = false;  // an MPI_Cancel has failed: test() tries again
};

}  // namespace weir::mpi::detail

#endif
