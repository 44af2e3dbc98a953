// weir stages: the end of a pipeline that puts each item into a channel
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SINK_TO_HPP
#define WEIR_STAGES_SINK_TO_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/run_control.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/run_graph.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_kind.hpp>
#include <weir/stages/stage_worker.hpp>

#include <cstdint>          // for std::uint64_t
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <type_traits>      // for std::is_convertible_v, std::is_same_v, std::is_void_v
#include <utility>          // for std::move

namespace weir {

/// The options of `sink_to`.
struct sink_to_options {
    std::string name = "sink_to";  ///< the name in statistics and reports
    /// The executor of the stage; null: the run's executor. Outlives the run.
    weir::executor* executor = nullptr;
    /// Whether the stage closes the channel at the stage's end, so that consumers of the channel see the end.
    /// Set this to false if other producers put into the channel, too.
    bool closes = true;
    /// The source location that reports show: of the braces of these options, or of the call without any.
    std::source_location where = detail::call_place::current();
};

namespace detail {

// The state of one put. `item_provenance`: the item's epoch and origin, for checkpoints (records of consumed
// items).
template <class C>
struct sink_to_state {
    [[no_unique_address]] typename epoch_item_traits<C>::provenance item_provenance;
    bool was_put = true;  // false: the channel is closed
};

// The stage of a run that `sink_to` makes. `To`: the channel.
template <class To, class C, class Policy>
class running_sink_to : public stage_kind<C, no_item, Policy> {
    using base = stage_kind<C, no_item, Policy>;
    using typename base::slot;

  public:
    using iteration = typename base::template iteration_with<sink_to_state<C>>;

    running_sink_to(run_context& run, const stage_options& options, To& to, bool closes,
                    channel<C, Policy>& in, typename base::output_queue& end)
        : base(run, "sink_to", options, &in, &end), to_(to), closes_(closes) {}

    // The worker of the stage calls these functions for each item; stages/stage_kind.hpp says when.
    void on_item(iteration& it) noexcept { it.item_provenance = base::item_traits::provenance_of(*it.item); }
    C* work(iteration& it) const noexcept { return it.item; }
    auto make_awaitable(C* item, coroutine_env&) {
        auto& value = base::item_traits::value_of(*item);
        if constexpr (std::is_same_v<carried_value_t<C>, typename To::value_type>) {
            return to_.put(std::move(value));
        } else {
            return to_.emplace(std::move(value));
        }
    }
    void store_result(iteration& it, bool was_put) noexcept { it.was_put = was_put; }
    no_item* next_result(iteration& it) noexcept {
        if (it.place.mark || !it.was_put) return nullptr;
        ++num_put_;
        it.item_provenance.acknowledge(true);  // for checkpoints, the item is consumed
        return nullptr;
    }
    // The stage ends when a put has failed: the channel was closed, for example by its consumer.
    bool is_finished(const iteration& it) const noexcept { return !it.was_put; }
    void close_output(slot& me) noexcept {
        this->run_.count_done(num_put_);
        if (closes_) end_puts(this->run_.has_failed() || this->run_.is_unwinding());
        base::close_output(me);
    }

  private:
    // If the run has failed, or an exception destroys it, abandons a channel between processes, so that its
    // consumers fail, too: they can't ask this run for the failure.
    void end_puts([[maybe_unused]] bool has_failed) noexcept {
        if constexpr (requires(To& to) { to.abandon(); }) {
            if (has_failed) return to_.abandon();
        }
        to_.close();
    }

    To& to_;
    const bool closes_;
    std::uint64_t num_put_ = 0;  // items, for `run_result::items`
};

template <class To>
struct sink_to_stage : stage_base {
    static constexpr const char* kind = "sink_to";
    static constexpr bool ends_pipelines = true;

    sink_to_stage(To& channel, const sink_to_options& o)
        : stage_base{detail::stage_options_of(o, kind)}, to(&channel), closes(o.closes) {}

    // Asserts that the items before the stage convert to those of the channel.
    template <class C>
    struct given {
        using type = void;
        static_assert(std::is_convertible_v<carried_value_t<C>, typename To::value_type>,
                      "weir: what the stage before a sink_to gives has to be an item of its channel, or to "
                      "become one by itself; the types are those of sink_to_stage<channel>::given<...> in "
                      "this message");
    };
    template <class C>
    using output = typename given<C>::type;

    template <class Self, class Policy, class C>
    static channel<no_item, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        return run.template append_last<stage_of<running_sink_to<To, C, Policy>>>(self.options, in, *self.to,
                                                                                  self.closes);
    }

    To* to;
    bool closes;
};

}  // namespace detail

/// Puts each item into a channel, at the end of a pipeline, in place of a sink: for threads, or coroutines,
/// that take from a channel.
///
///     weir::channel<picture> pictures(8);
///     auto run = (weir::source(files) | weir::pipe(decode) | weir::sink_to(pictures)).start(pool);
///     while (auto p = pictures.blocking_get()) show(*std::move(p));
///
/// Such a run needs no consumer, and ends by itself: see `run<void>`. Its `run_result::items` counts the
/// items that were put. `run.wait()` reports a failure of the run; the channel only ends.
///
/// \param to       the channel; outlives the run. Items are converted to the item type of the channel. If
///                 anybody closes the channel, the run ends without a failure.
/// \param options  see `sink_to_options`.
/// Order:    kept; the channel does not show where an epoch (pass over the data) ends.
/// Suspends: while the channel is full; the state of the slot (worker) is then `slot_times::await`.
/// Resumes:  on the stage's executor.
/// Errors:   an exception from the conversion of an item stops the run. If the run is stopped while the stage
///           waits for room, the item is destroyed. For a checkpoint an item counts as consumed when it is in
///           the channel.
template <class T, class Policy>
[[nodiscard]] auto sink_to(channel<T, Policy>& to, const sink_to_options& options = {}) {
    return detail::sink_to_stage<channel<T, Policy>>(to, options);
}

/// Rejects arguments other than a channel with a name, at compile time.
template <class To>
auto sink_to(To&& to, const sink_to_options& = {}) noexcept {
    static_assert(std::is_void_v<To>,
                  "weir: sink_to puts into a channel that outlives the run: give it a weir::channel that has "
                  "a name and is no constant; a sink, whose items a consumer takes, is weir::sink(capacity)");
    return detail::no_stage(to);
}

}  // namespace weir

#endif
