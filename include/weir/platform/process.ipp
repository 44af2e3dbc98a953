// weir platform, internal: bodies of the functions of platform/process.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_PROCESS_IPP
#define WEIR_PLATFORM_PROCESS_IPP

#include <weir/platform/process.hpp>

#include <weir/platform/config.hpp>

#include <new>  // for placement new

namespace weir::detail {

WEIR_INLINE registry::~registry() {
    const std::lock_guard guard(lock_);
    take_new();
    while (first_ != nullptr) unlink(*first_);
}

WEIR_INLINE void registry::add(registered& one) noexcept {
    one.registry_ = this;
    one.era_ = era_;
    one.next_ = new_.load(std::memory_order_relaxed);
    // release; pairs with the acquire in take_new()
    while (
        !new_.compare_exchange_weak(one.next_, &one, std::memory_order_release, std::memory_order_relaxed)) {
    }
}

WEIR_INLINE void registry::remove(registered& one) noexcept {
    const std::lock_guard guard(lock_);
    take_new();
    unlink(one);
}

WEIR_INLINE void registry::forget_all() noexcept {
    new (&lock_) standard_platform::mutex;
    ++era_;
    new_.store(nullptr, std::memory_order_relaxed);
    first_ = last_ = nullptr;
}

WEIR_INLINE void registry::take_new() noexcept {
    // acquire; pairs with the release in add()
    registered* const last = new_.exchange(nullptr, std::memory_order_acquire);
    registered* later = nullptr;
    for (registered* r = last; r != nullptr;) {
        registered* const earlier = r->next_;
        r->next_ = later;
        r->previous_ = earlier != nullptr ? earlier : last_;
        if (earlier == nullptr) (last_ == nullptr ? first_ : last_->next_) = r;
        later = r;
        r = earlier;
    }
    if (last != nullptr) last_ = last;
}

WEIR_INLINE void registry::unlink(registered& one) noexcept {
    (one.previous_ == nullptr ? first_ : one.previous_->next_) = one.next_;
    (one.next_ == nullptr ? last_ : one.next_->previous_) = one.previous_;
    one.registry_ = nullptr;
    one.next_ = one.previous_ = nullptr;
}

WEIR_INLINE bool registered::is_registered() const noexcept {
    return registry_ != nullptr && era_ == registry_->era_;
}

WEIR_INLINE void registered::leave_registry() noexcept {
    if (is_registered()) registry_->remove(*this);
}

}  // namespace weir::detail

#endif
