// weir execution: an executor of ours as a scheduler
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTION_SCHEDULER_HPP
#define WEIR_EXECUTION_SCHEDULER_HPP

#include <weir/execution/library.hpp>
#include <weir/execution/rooted_operation.hpp>
#include <weir/executor/executor.hpp>

#include <coroutine>    // for std::suspend_never
#include <type_traits>  // for std::is_convertible_v
#include <utility>      // for std::move

namespace weir::execution {

namespace detail {
class schedule_sender;
}

/// What is started on it completes on an executor: a pool, an event loop, virtual time.
///
/// Lifetime: the executor outlives what is started there.
class scheduler {
  public:
    using scheduler_concept = lib::scheduler_t;

    /// Of `on`.
    explicit scheduler(executor& on) noexcept : on_(&on) {}

    /// \returns a sender that completes there, without a value. It can't fail, and isn't stopped.
    /// Lifetime: as of this.
    /// Cost: one allocation, where it is connected; a post.
    [[nodiscard]] detail::schedule_sender schedule() const noexcept;

    /// Whether both are of the same executor.
    [[nodiscard]] friend bool operator==(const scheduler&, const scheduler&) noexcept = default;

  private:
    executor* on_;
};

namespace detail {

class [[nodiscard("connect and start this, or nothing of it runs")]] schedule_sender {
    // Says where it completes.
    class attributes {
      public:
        explicit attributes(executor& on) noexcept : on_(&on) {}
        template <class... Env>
        [[nodiscard]] scheduler query(lib::get_completion_scheduler_t<lib::set_value_t>,
                                      const Env&...) const noexcept {
            return scheduler(*on_);
        }

      private:
        executor* on_;
    };

  public:
    using sender_concept = lib::sender_t;
    using completion_signatures = typename signatures<std::suspend_never, void>::type;

    explicit schedule_sender(executor& on) noexcept : on_(&on) {}

    template <class Receiver>
    [[nodiscard]] auto connect(Receiver receiver) const {
        return rooted_operation<std::suspend_never, Receiver>(std::suspend_never(), on_, std::move(receiver));
    }
    [[nodiscard]] attributes get_env() const noexcept { return attributes(*on_); }

  private:
    executor* on_;
};

}  // namespace detail

inline detail::schedule_sender scheduler::schedule() const noexcept { return detail::schedule_sender(*on_); }

/// \returns the scheduler of an executor. Lifetime: that outlives what is started there.
[[nodiscard]] inline scheduler get_scheduler(executor& on) noexcept { return scheduler(on); }
/// Rejects what is no executor, or is one without a name, at compile time.
template <class Ex>
    requires(!std::is_convertible_v<Ex, executor&>)
auto get_scheduler(Ex&&) {
    static_assert(std::is_convertible_v<Ex, executor&>,
                  "weir: get_scheduler needs an executor that outlives what is started there: a thread_pool, "
                  "or what derives from weir::executor, with a name");
}

}  // namespace weir::execution

#endif
