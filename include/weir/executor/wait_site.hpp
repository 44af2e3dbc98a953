// weir executor, internal: what a coroutine can wait for, so that a deadlock report can name it
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_WAIT_SITE_HPP
#define WEIR_EXECUTOR_WAIT_SITE_HPP

#include <weir/measure/slot.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/registry.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::uint64_t
#include <string>   // for std::string
#include <vector>   // for std::vector

namespace weir::detail {

class wait_site;

// For what somebody waits, and so who could end the wait.
enum class wait_kind : std::uint8_t {
    get,      // for an item: those who put into the channel
    put,      // for room: those who get from it
    turn,     // for the other slots of its stage
    room,     // for any slot of its run, or its consumer
    outside,  // for a decision that comes from outside of the run
    bench,    // for none: it is out of service
    thread    // for what its thread is blocked on
};

// One who waits.
struct wait_seen {
    std::uint64_t number = 0;  // of all waits that have begun here
    wait_kind kind = wait_kind::get;
    const char* what = "";      // the end of the sentence "... waits"
    const slot* who = nullptr;  // the slot of a stage, if it is one
    bool in_function = false;   // not the stage itself waits, but its function
    bool is_thread = false;
    bool has_limit = false;  // it won't wait for ever
};

// A wait site with all who wait there, at one instant.
struct site_seen {
    const wait_site* site = nullptr;
    const std::string* channel = nullptr;  // its name; null: no channel
    std::size_t size = 0;
    std::size_t capacity = 0;
    bool closed = false;
    std::vector<wait_seen> waiting;
};

// Something with waiters (a channel). It is in a registry from the first wait on.
class wait_site : public registered {
  public:
    static constexpr registry_kind registered_as = registry_kind::site;

    wait_site() noexcept : registered(registry_kind::site) {}

    // Who waits here. Any thread may ask.
    virtual void inspect(site_seen& seen) const = 0;

    // How much has happened here: if that has changed since the last time, nobody is stuck here, and a
    // look would only disturb. Takes no lock.
    virtual std::uint64_t moved() const noexcept { return 0; }

    // No other site has it, nor will one that comes where this one was.
    std::uint64_t serial() const noexcept { return serial_; }

    // On the one thread that uses it, between two operations: a sentence that says what can't be, or
    // null if all is in order.
    virtual const char* contradiction() const noexcept = 0;

  protected:
    ~wait_site() = default;

  private:
    inline static constinit standard_platform::atomic<std::uint64_t> serials_{0};
    // relaxed: a number, no more
    const std::uint64_t serial_ = 1 + serials_.fetch_add(1, std::memory_order_relaxed);
};

}  // namespace weir::detail

#endif
