// weir channel, internal: what an operation says that is used as if it had been awaited
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_NOT_AWAITED_HPP
#define WEIR_CHANNEL_NOT_AWAITED_HPP

#include <weir/platform/requirements.hpp>

#include <type_traits>  // for std::is_void_v

namespace weir::detail {

// Rejects the uses of what an await gives, a bool or an optional, without a co_await, at compile time.
class not_awaited {
  public:
    template <class Use = bool>
    // NOLINTNEXTLINE(google-explicit-constructor): bool in = c.put(1) is rejected, too
    operator bool() const noexcept {
        return refuse<Use>();
    }
    template <class Use = bool>
    bool operator*() const noexcept {
        return refuse<Use>();
    }
    template <class Use = bool>
    const bool* operator->() const noexcept {
        static_cast<void>(refuse<Use>());
        return nullptr;
    }

  private:
    template <class Use>
    static bool refuse() noexcept {
        static_assert(std::is_void_v<Use>,
                      "weir: this has not been awaited, so it is neither true nor false, nor an item: in a "
                      "coroutine while (auto x = co_await channel.get()), const bool taken = co_await "
                      "channel.put(x); in a plain function, which can't wait so, channel.blocking_get(), "
                      "blocking_put(x), or try_get() and try_put(x), which don't wait");
        return false;
    }
};

}  // namespace weir::detail

#endif
