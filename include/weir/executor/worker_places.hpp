// weir executor, internal: the workers of a pool, of which more are made while others look
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_WORKER_PLACES_HPP
#define WEIR_EXECUTOR_WORKER_PLACES_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/platform.hpp>

#include <memory>     // for std::unique_ptr
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::to_string
#include <utility>    // for std::move

namespace weir::detail {

// As many as a pool can ever have that begins with `workers`, and was told `asked`; 0: nothing.
inline unsigned most_workers(unsigned workers, unsigned asked, unsigned cores) {
    if (asked == 0 || was_negative(workers)) return larger(workers, cores);
    if (!was_negative(asked) && asked >= workers) return asked;
    throw std::invalid_argument(
        "weir::thread_pool: a pool that begins with " + std::to_string(workers) +
        " workers was given a .most_workers that is less, or negative; give it as many "
        "or more, or nothing");
}
inline void check_workers(unsigned workers, unsigned most) {
    refuse_if(workers == 0 || was_negative(workers),
              "weir::thread_pool: set_workers() was given 0, or a negative number; ask for at least 1, as "
              "somebody has to run what is posted");
    if (workers <= most) return;
    throw std::invalid_argument("weir::thread_pool: set_workers(" + std::to_string(workers) +
                                ") of a pool that was made for " + std::to_string(most) +
                                " at most; make it with {.most_workers = " + std::to_string(workers) + "}");
}

// One thread at a time adds, any may look. A worker stays where it is, also when its thread has gone: another
// thread takes its place later.
template <class Worker, class Platform = standard_platform>
class basic_worker_places {
  public:
    explicit basic_worker_places(unsigned most) : most_(most), workers_(new std::unique_ptr<Worker>[most]) {}

    // As many as there can be, and as there are.
    unsigned most() const noexcept { return most_; }
    unsigned size() const noexcept { return size_.load(std::memory_order_acquire); }  // pairs with add()
    Worker& operator[](unsigned i) const noexcept { return *workers_[i]; }

    void add(std::unique_ptr<Worker> one) noexcept {
        const unsigned n = size_.load(std::memory_order_relaxed);  // only this thread changes it
        workers_[n] = std::move(one);
        size_.store(n + 1, std::memory_order_release);  // pairs with size()
    }

  private:
    const unsigned most_;
    const std::unique_ptr<std::unique_ptr<Worker>[]> workers_;
    typename Platform::template atomic<unsigned> size_{0};
};

}  // namespace weir::detail

#endif
