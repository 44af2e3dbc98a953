// weir run: a started pipeline without a consumer: it ends with for_each
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_VOID_RUN_HPP
#define WEIR_RUN_VOID_RUN_HPP

#include <weir/channel/channel.hpp>
#include <weir/run/run.hpp>
#include <weir/run/run_control.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/run_graph.hpp>

#include <memory>       // for std::unique_ptr
#include <optional>     // for std::optional
#include <type_traits>  // for std::is_void_v
#include <utility>      // for std::move

namespace weir {

/// The run of a pipeline that ends with `for_each`. Such a run needs no consumer; its end can be awaited:
///
///     auto all = run.wait();      // a thread
///
///     auto all = co_await run;    // a coroutine
///
/// Both return when the last stage has ended, after the last item, a stop, or a failure; also if called
/// again. `run_result::items` counts the successful calls of the `for_each`'s function. After a failure or a
/// `take`, earlier stages may still process an item; `stop()` waits for them.
///
/// Ends:     as any run. When all stages have ended, `ended()` is true, `outcome()` is final, and the
///           statistics no longer change, also if no thread waits.
/// Errors:   a failure that stopped the run is thrown as `pipeline_failure`, once, by a wait, or is reported
///           to the `failure_sink`; else as of any run. `std::logic_error` from a wait in a stage of the run.
/// Threads:  any number may wait, threads and coroutines.
/// Lifetime: that of any run. No thread or coroutine may wait when the run is moved or destroyed.
/// Cost:     nothing per item; a wait, that of `channel::get`.
template <class Policy>
class [[nodiscard("destroying the run stops it: keep it, and wait() for its end")]] run<void, Policy>
    : public run_control<Policy> {
    using base = run_control<Policy>;
    using base::core;
    using base::end_stream;
    using queue = channel<detail::no_item, Policy>;

  public:
    ~run() { this->destroy_core(); }
    run(run&&) noexcept = default;
    run& operator=(run&&) noexcept = default;

    /// Blocks the calling thread until the run has ended. If the run's executor has no threads of its own
    /// (virtual time), the calling thread runs the coroutines meanwhile.
    run_result wait() {
        core().refuse_within_run();
        static_cast<void>(end_->blocking_get());
        return result();
    }

    /// `co_await run`: the same for a coroutine. Suspends: until the end. Resumes: on its executor.
    friend auto operator co_await(run& all) {
        all.core().refuse_within_run();
        return end_operation(all);
    }

    /// Do not compile: there are no items to take.
    template <class Run = run>
    auto get() {
        return refuse<Run, std::optional<int>>();
    }
    template <class Run = run>
    auto next() {
        return refuse<Run, std::optional<int>>();
    }
    template <class Run = run>
    auto drain() {
        return refuse<Run, run_result>();
    }
    template <class Run = run>
    detail::not_an_iterator<int> begin() {
        return refuse<Run, detail::not_an_iterator<int>>();
    }
    detail::not_an_iterator<int> end() const { return {}; }

  private:
    template <class>
    friend class pipeline;

    run(std::unique_ptr<detail::run_core<Policy>> owned, queue& end) : base(std::move(owned)), end_(&end) {}

    template <class Run, class Result>
    static Result refuse() {
        static_assert(
            std::is_void_v<Run>,
            "weir: this run ends with a for_each, to which all items go: there is none to be taken; "
            "wait() or co_await run for its end, or put weir::sink() in the place of the for_each");
        return {};
    }

    run_result result() {
        end_stream();
        return run_result{core().num_done(), this->stats()};
    }

    class end_operation : public detail::get_operation<queue> {
      public:
        explicit end_operation(run& r) noexcept : detail::get_operation<queue>(*r.end_), run_(&r) {}
        run_result await_resume() {
            static_cast<void>(detail::get_operation<queue>::await_resume());
            return run_->result();
        }

      private:
        run* run_;
    };

    queue* end_;
};

}  // namespace weir

#endif
