// weir task: says that somebody outside of the library will wake a coroutine
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TASK_EXTERNAL_WAIT_HPP
#define WEIR_TASK_EXTERNAL_WAIT_HPP

#include <weir/platform/platform.hpp>

#include <cstdint>  // for std::uint64_t

namespace weir {

/// As long as one exists, no `watchdog` takes it for a deadlock that everything waits: something is still to
/// come that the library doesn't know of, as a socket, a stream of a GPU, or a thread that has not used
/// its channel yet.
///
///     weir::external_wait promised;                  // before the driver is told
///     driver.on_completion([&] { ex.post(h); });    // destroyed after the post
///
/// For whoever writes an awaitable that is woken from outside. It need not be held while a coroutine
/// waits for a channel, for a timer, or for a function on a pool.
///
/// Threads: any. Cost: an atomic addition at either end.
class [[nodiscard("it says something only as long as it exists")]] external_wait {
    using counter = detail::standard_platform::atomic<std::uint64_t>;

  public:
    [[nodiscard("it says something only as long as it exists")]] external_wait() noexcept {
        begun_.fetch_add(1, std::memory_order_seq_cst);
    }
    external_wait(const external_wait&) = delete;
    external_wait& operator=(const external_wait&) = delete;
    ~external_wait() { ended_.fetch_add(1, std::memory_order_seq_cst); }

    /// \returns how many have been made, ever.
    [[nodiscard]] static std::uint64_t num_begun() noexcept { return begun_.load(std::memory_order_seq_cst); }
    /// \returns how many of those have gone. Ask for this one first: it can't be ahead then.
    [[nodiscard]] static std::uint64_t num_ended() noexcept { return ended_.load(std::memory_order_seq_cst); }

  private:
    inline static constinit counter begun_{0};
    inline static constinit counter ended_{0};
};

}  // namespace weir

#endif
