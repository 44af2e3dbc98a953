// weir mpi, internal: memory that MPI may still use after a failure has ended the operation
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_LASTING_HPP
#define WEIR_MPI_LASTING_HPP

#include <weir/mpi/awaited_call.hpp>

#include <memory>   // for std::make_unique, std::shared_ptr, std::unique_ptr
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir::mpi::detail {

// Keeps an object for the rest of the process. Called under the reactor's lock.
template <class T>
void keep_for_good(T what) {
    static auto* const kept = new std::vector<T>;
    kept->push_back(std::move(what));
}

// The memory of a collective operation, which MPI can't cancel. After the failure of a rank, this rank still
// calls MPI for its heartbeats, and such a call may write what another rank had sent before it heard of the
// failure. So the destructor then keeps the memory for the rest of the process.
template <class T>
class lasting {
  public:
    // `of`: a `communicator`, which isn't complete here.
    template <class Communicator>
    explicit lasting(const Communicator& of, T value = {})
        : its_(of.all().its), value_(std::make_unique<T>(std::move(value))) {}
    lasting(const lasting&) = delete;
    lasting& operator=(const lasting&) = delete;
    ~lasting() {
        if (its_->failure() == nullptr) return;
        its_->locked([this]() noexcept { keep_for_good(std::move(value_)); });
    }

    T& operator*() noexcept { return *value_; }
    T* operator->() noexcept { return value_.get(); }

  private:
    const std::shared_ptr<connection> its_;
    std::unique_ptr<T> value_;
};

}  // namespace weir::mpi::detail

#endif
