// weir asio, internal: the waits of Asio's coroutines for us, which a context ends when it is destroyed
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_VISITS_HPP
#define WEIR_ASIO_VISITS_HPP

#include <weir/asio/guest_executor.hpp>
#include <weir/asio/library.hpp>

#include <memory>   // for std::unique_ptr
#include <mutex>    // for std::mutex
#include <utility>  // for std::exchange, std::move
#include <vector>   // for std::vector

namespace weir::asio::inline WEIR_ASIO_KIND::detail {

// One of them. It holds what is resumed at its end, which owns it.
class visit_base {
  public:
    visit_base(const visit_base&) = delete;
    visit_base& operator=(const visit_base&) = delete;

    // Destroys the handler that would resume the waiting coroutine; sooner or later this destroys the visit.
    virtual void abandon() noexcept = 0;

    // Links of the list in `visits`.
    visit_base* next = nullptr;
    visit_base** link = nullptr;

  protected:
    visit_base() = default;
    ~visit_base() = default;
};

// All visits of one context. The context's destructor ends them, as it does the operations of Asio.
class visits final : public lib::execution_context::service {
  public:
    static inline lib::execution_context::id id;

    explicit visits(lib::execution_context& of) : service(of) {}

    void begin(visit_base& it) noexcept {
        const std::lock_guard guard(lock_);
        it.next = first_;
        it.link = &first_;
        if (first_ != nullptr) first_->link = &it.next;
        first_ = &it;
    }
    void end(visit_base& it) noexcept {
        const std::lock_guard guard(lock_);
        *it.link = it.next;
        if (it.next != nullptr) it.next->link = it.link;
    }

    // Keeps the executor of an abandoned visit, as coroutines that still refer to it are destroyed after the
    // visit. Called within the context's destructor.
    void keep(std::unique_ptr<guest_executor> guest) {
        guest->retire();
        retired_.push_back(std::move(guest));
    }

  private:
    // Called when no thread runs the context any more.
    void shutdown() override {
        for (visit_base* it = std::exchange(first_, nullptr); it != nullptr;) {
            visit_base& each = *std::exchange(it, it->next);
            each.abandon();
        }
    }

    std::mutex lock_;
    visit_base* first_ = nullptr;
    std::vector<std::unique_ptr<guest_executor>> retired_;
};

}  // namespace weir::asio::inline WEIR_ASIO_KIND::detail

#endif
