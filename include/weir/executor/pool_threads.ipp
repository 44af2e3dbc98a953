// weir executor, internal: bodies of the functions of executor/pool_threads.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_POOL_THREADS_IPP
#define WEIR_EXECUTOR_POOL_THREADS_IPP

#include <weir/executor/pool_threads.hpp>

#include <weir/platform/config.hpp>

#include <memory>  // for std::construct_at

namespace weir::detail {

template <class Platform>
WEIR_INLINE void basic_pool_threads<Platform>::close() noexcept {
    const std::lock_guard guard(lock_);
    closed_ = true;
    while (spares_ != nullptr) call(*std::exchange(spares_, spares_->next), false);
}

template <class Platform>
WEIR_INLINE void basic_pool_threads<Platform>::dismiss() noexcept {
    close();
    wanted_.store(0, std::memory_order_seq_cst);  // pairs with wants()
}

template <class Platform>
WEIR_INLINE void basic_pool_threads<Platform>::join() noexcept {
    if (are_elsewhere()) return forget();
    while (const std::unique_ptr<member> one = take_last()) one->handle.join();
}

template <class Platform>
WEIR_INLINE void basic_pool_threads<Platform>::leave(std::size_t others, std::int64_t limit) noexcept {
    const std::int64_t end = Platform::now() + limit;
    basic_parker<Platform> nobody;
    while (num_left() > others && Platform::now() < end) nobody.wait(100'000);
    while (std::unique_ptr<member> one = take_last()) {
        if (one->is_over()) {
            one->handle.join();
        } else {
            one->handle.detach();
            static_cast<void>(one.release());  // the thread may still write to it
        }
    }
    const std::lock_guard guard(lock_);
    has_thread_.clear();  // a detached thread that comes back finds no place to write to
}

template <class Platform>
WEIR_INLINE void basic_pool_threads<Platform>::call(spare& s, bool is_to_work) noexcept {
    s.is_to_work = is_to_work;
    s.called.set();  // its frame may be gone after this
}

template <class Platform>
WEIR_INLINE bool basic_pool_threads<Platform>::is_begun(beginning& result, unsigned i) noexcept {
    try {
        on_start_(i);
    } catch (...) {
        result.failure = std::current_exception();
    }
    const bool begun = !result.failure;
    result.over.set();  // `result` may be destroyed from now on
    return begun;
}

template <class Platform>
WEIR_INLINE bool basic_pool_threads<Platform>::stand_by(unsigned i) noexcept {
    spare me(i, nullptr);
    {
        const std::lock_guard guard(lock_);
        if (closed_) return false;
        me.next = std::exchange(spares_, &me);
    }
    while (!me.called.wait()) continue;
    return me.is_to_work;
}

template <class Platform>
WEIR_INLINE void basic_pool_threads<Platform>::forget() noexcept {
    for (const auto& m : members_) std::construct_at(&m->handle);
}

template <class Platform>
WEIR_INLINE void basic_pool_threads<Platform>::join_ended() noexcept {  // under the lock
    for (std::size_t i = members_.size(); i-- > 0;) {
        if (!members_[i]->is_over()) continue;
        members_[i]->handle.join();
        members_[i] = std::move(members_.back());
        members_.pop_back();
    }
}

template <class Platform>
WEIR_INLINE auto basic_pool_threads<Platform>::take_last() noexcept -> std::unique_ptr<member> {
    const std::lock_guard guard(lock_);
    if (members_.empty()) return nullptr;
    std::unique_ptr<member> last = std::move(members_.back());
    members_.pop_back();
    return last;
}

template <class Platform>
WEIR_INLINE auto basic_pool_threads<Platform>::num_left() noexcept -> std::size_t {
    const std::lock_guard guard(lock_);
    std::size_t n = 0;
    for (const auto& m : members_) n += m->is_over() ? 0U : 1U;
    return n;
}

}  // namespace weir::detail

#endif
