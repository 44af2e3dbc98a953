// weir stages, internal: the waits of a slot's worker: for an item, the function, room, or its turn
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_WORKER_WAITS_HPP
#define WEIR_STAGES_WORKER_WAITS_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/slot_loop.hpp>
#include <weir/stages/stage_kind.hpp>

#include <coroutine>    // for std::coroutine_handle
#include <type_traits>  // for std::decay_t, std::is_same_v
#include <utility>      // for std::declval, std::forward, std::move

namespace weir::detail {

// The awaiter of a take or put operation. The worker reuses it for each item.
template <class Operation>
class erased_operation final : public any_awaiter {
  public:
    template <class Slot>
    explicit erased_operation(Slot& me) noexcept
        : any_awaiter(has_symmetric_transfer<Operation>), operation(me) {}

    std::coroutine_handle<> suspend(worker_handle worker) override {
        return detail::suspend_in(operation, worker);
    }

    Operation operation;
};

// `awaited_work`: the awaiter for the awaitable that `Kind::work` returns; `nothing` if `work` returns void.
// `awaited_fetch`: the same for `Kind::fetch_result`.
template <class Kind,
          class Returned = decltype(std::declval<Kind&>().work(std::declval<typename Kind::iteration&>()))>
struct awaited_work {
    using kept = std::decay_t<Returned>;
    using type = erased_call<kept, decltype(std::declval<Kind&>().observe(std::declval<kept&>(),
                                                                          std::declval<coroutine_env&>()))>;
};
template <class Kind>
struct awaited_work<Kind, void> {
    using type = nothing;
};
template <class Kind, class Returned = decltype(std::declval<Kind&>().fetch_result(
                          std::declval<typename Kind::iteration&>()))>
struct awaited_fetch {
    using type = erased_call<Returned, Returned&&>;
};
template <class Kind>
struct awaited_fetch<Kind, void> {
    using type = nothing;
};
template <class Kind>
inline constexpr bool awaits_work = !std::is_same_v<typename awaited_work<Kind>::type, nothing>;
template <class Kind>
inline constexpr bool awaits_fetch = !std::is_same_v<typename awaited_fetch<Kind>::type, nothing>;

// The waits of one worker, one at a time.
template <class Kind>
class worker_waits {
    using slot = slot_of<typename Kind::policy_type>;
    using iteration = typename Kind::iteration;
    using context = typename iteration::context_type;

  public:
    worker_waits(Kind& stage, slot& me) noexcept : stage_(stage), me_(me) {}

    // Begins the wait for the step `next` of the iteration. Returns null if the worker need not wait. The
    // worker then calls `end`; at once after null, otherwise when the worker is resumed.
    WEIR_NOINLINE any_awaiter* begin(iteration& it, context& all) noexcept {
        switch (it.next) {
            case worker_step::admission:
                return rare_wait_.begin([this] { return stage_.wait_for_admission(me_); });
            case worker_step::byte_budget:
                return rare_wait_.begin(
                    [&] { return stage_.run().budget()->wait(stage_.byte_sources(it), me_); });
            case worker_step::turn:
                return rare_wait_.begin([&] { return stage_.wait_for_turn(it, me_); });
            case worker_step::work:
                if constexpr (awaits_work<Kind>) {
                    return work_wait_.begin([&] { return stage_.work(it); },
                                            [&](auto& awaitable) -> decltype(auto) {
                                                return stage_.observe(awaitable, all.env);
                                            },
                                            it.error);
                }
                break;
            case worker_step::time_limit:
                return rare_wait_.begin([&all] { return all.guard->timer()->off(); });
            case worker_step::fetch_result:
                if constexpr (awaits_fetch<Kind>) {
                    return fetch_wait_.begin([&] { return stage_.fetch_result(it); },
                                             [](auto& awaitable) -> auto&& { return std::move(awaitable); },
                                             it.error);
                }
                break;
            case worker_step::service:
                stage_.release_resources(all);
                return rare_wait_.begin([this] { return stage_.wait_for_service(me_); });
            case worker_step::hold_timer:
                return rare_wait_.begin([&] { return stage_.cancel_timer(it); });
            case worker_step::take:
            case worker_step::end:
            case worker_step::skip:
                break;
        }
        return nullptr;
    }
    // Returns false if a turn or an admission was refused, or if the slot does not return into service.
    WEIR_NOINLINE bool end(iteration& it, context& all) noexcept {
        switch (it.next) {
            case worker_step::admission:
            case worker_step::byte_budget:
            case worker_step::turn:
                return rare_wait_.resume();
            case worker_step::work:
                if constexpr (awaits_work<Kind>) {
                    const auto store = [&](auto&&... result) {
                        stage_.store_result(it, std::forward<decltype(result)>(result)...);
                    };
                    work_wait_.end(store, it.error);
                }
                break;
            case worker_step::time_limit:
                rare_wait_.resume();
                if (all.guard->timer()->fail_if_late(it.error)) stage_.discard_result(it);
                break;
            case worker_step::fetch_result:
                if constexpr (awaits_fetch<Kind>) {
                    fetch_wait_.end(
                        [&](auto&& next) { stage_.store_fetched(it, std::forward<decltype(next)>(next)); },
                        it.error);
                }
                break;
            case worker_step::service:
                return rare_wait_.resume() && stage_.acquire_resources(all);
            case worker_step::hold_timer:
                rare_wait_.resume();
                stage_.timer_cancelled(it);
                break;
            case worker_step::take:
            case worker_step::end:
            case worker_step::skip:
                break;
        }
        return true;
    }

    // Begin and end the wait for `wait_before_end` of the stage.
    any_awaiter* begin_last_wait() noexcept {
        return rare_wait_.begin([this] { return stage_.wait_before_end(me_); });
    }
    void end_last_wait() noexcept { rare_wait_.resume(); }

  private:
    Kind& stage_;
    slot& me_;
    seldom_awaiter rare_wait_;
    typename awaited_work<Kind>::type work_wait_;
    typename awaited_fetch<Kind>::type fetch_wait_;
};

}  // namespace weir::detail

#endif
