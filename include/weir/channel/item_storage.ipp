// weir channel, internal: bodies of the functions of channel/item_storage.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_ITEM_STORAGE_IPP
#define WEIR_CHANNEL_ITEM_STORAGE_IPP

#include <weir/channel/item_storage.hpp>

#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>

#include <cstddef>  // for std::size_t
#include <cstdint>  // for PTRDIFF_MAX, std::uint64_t
#include <new>      // for std::nothrow
#include <string>   // for std::to_string

namespace weir::detail {

WEIR_INLINE ring::ring(const item_type& type, std::size_t capacity)
    : type_(&type), places_(places_for(capacity)) {
    if (places_ == 0) return;
    if (places_ <= memory_shortage::many_bytes / type.size) {
        const std::size_t bytes = places_ * type.size;
        block_ = has_default_alignment() ? ::operator new(bytes) : ::operator new(bytes, alignment());
        return;
    }
    block_ = allocate(places_);
    if (block_ == nullptr) throw_shortage();
}

WEIR_INLINE void* ring::allocate(std::size_t places) const noexcept {
    if (places > static_cast<std::size_t>(PTRDIFF_MAX) / type_->size) return nullptr;
    const std::size_t bytes = places * type_->size;
    return has_default_alignment() ? ::operator new(bytes, std::nothrow)
                                   : ::operator new(bytes, alignment(), std::nothrow);
}

WEIR_INLINE void ring::free(void* block) const noexcept {
    if (has_default_alignment()) {
        ::operator delete(block);
    } else {
        ::operator delete(block, alignment());
    }
}

WEIR_INLINE void ring::throw_shortage() const {
    std::size_t possible = places_ / 2;
    for (void* block = nullptr; possible != 0; possible /= 2) {
        block = allocate(possible);
        free(block);
        if (block != nullptr) break;
    }
    throw memory_shortage("", places_, "places of " + std::to_string(type_->size) + " bytes each in a queue",
                          possible);
}

WEIR_INLINE void destroy_items(ring& from, const item_type& type, std::uint64_t first,
                               std::uint64_t last) noexcept {
    class rest final : public nested_destruction::rest {
      public:
        rest(ring& items, const item_type& of, std::uint64_t begin, std::uint64_t end)
            : items_(of), begin_(begin), end_(end) {
            items_.swap(items);
        }
        ~rest() override {
            for (; begin_ != end_; ++begin_) items_.destroy(begin_);
        }

      private:
        ring items_;
        std::uint64_t begin_;
        const std::uint64_t end_;
    };
    if (first == last) return;
    nested_destruction here;
    if (here.is_deep()) {
        rest* const deferred = new (std::nothrow) rest(from, type, first, last);
        if (deferred != nullptr) return here.put_off(deferred);
    }
    for (; first != last; ++first) from.destroy(first);
}

}  // namespace weir::detail

#endif
