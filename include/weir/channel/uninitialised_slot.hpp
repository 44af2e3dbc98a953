// weir channel, internal: memory in which an item arrives
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_UNINITIALISED_SLOT_HPP
#define WEIR_CHANNEL_UNINITIALISED_SLOT_HPP

#include <weir/platform/config.hpp>

#include <memory>    // for std::addressof, std::destroy_at
#include <optional>  // for std::optional
#include <utility>   // for std::move

namespace weir::detail {

// Where an item arrives: whoever takes it out of the channel, or hands it over, constructs it here,
// and that is what `outcome::done` says. An optional would be written in two parts and read in one,
// which makes the processor wait until both are in the cache (5 ns).
template <class T>
class uninitialised_slot {
  public:
    uninitialised_slot() noexcept {}
    uninitialised_slot(const uninitialised_slot&) = delete;
    uninitialised_slot& operator=(const uninitialised_slot&) = delete;
    ~uninitialised_slot() {}

    T* address() noexcept { return std::addressof(item_); }
    WEIR_ALWAYS_INLINE std::optional<T> take() noexcept {
        std::optional<T> item(std::move(item_));
        std::destroy_at(std::addressof(item_));
        return item;
    }
    void destroy() noexcept { std::destroy_at(std::addressof(item_)); }

  private:
    union {
        T item_;  // NOLINT(readability-identifier-naming): private, as the union is
    };
};

}  // namespace weir::detail

#endif
