// weir graph: `tee`, which puts a copy of each item into a second part of the pipeline, the side
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_TEE_HPP
#define WEIR_GRAPH_TEE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/channel/wait_queue.hpp>
#include <weir/executor/executor.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/run/run_core.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_worker.hpp>

#include <cstddef>          // for std::size_t
#include <optional>         // for std::optional
#include <source_location>  // for std::source_location
#include <string>           // for std::string
#include <type_traits>      // for std::is_copy_constructible_v
#include <utility>          // for std::move

namespace weir {

/// The options of `tee`.
struct tee_options {
    std::string name = {};  ///< for statistics and reports; empty: `tee` and the place in the pipeline
    /// The executor of the stage; null: the run's executor. Outlives the run.
    weir::executor* executor = nullptr;
    /// The capacity of each of the two queues behind the stage, in items, at least 1.
    std::size_t capacity = 2;
    /// The source location of the braces, which reports show for the stage: see `stage_options::where`.
    std::source_location where = detail::call_place::current();
};

namespace detail {

// The rule of a wait queue: the worker (the coroutine) of a tee waits until the side has ended, and only then
// ends itself.
struct side_rule {
    using ticket = char;
    bool ended = false;
    admission ask(ticket) const noexcept { return ended ? admission::go : admission::wait; }
};
using end_of_side = wait_queue<side_rule>;

// The last stage of the side: drops all items. `Input`: the type of the queue before the tee.
template <class C, class Input, class Policy>
class running_drain : public stage_kind<C, C, Policy> {
    using base = stage_kind<C, C, Policy>;

  public:
    using iteration = typename base::template iteration_with<>;
    static constexpr stage_traits traits{.counts_tasks = false};  // no function whose time counts

    running_drain(run_context& run, const stage_options& options, channel<C, Policy>& in, Input& before_tee,
                  end_of_side& end)
        : base(run, "drain", options, &in, nullptr), before_tee_(before_tee), end_(end) {}

    C* next_result(iteration&) noexcept { return nullptr; }
    void close_output(typename base::slot& me) noexcept {  // the side has ended
        // If the run has failed, closes the queue before the tee, so that the tee does not wait for more
        // items. The tee still takes the items in this queue.
        if (this->run_.has_failed()) before_tee_.close();
        end_.update([](side_rule& rule) { rule.ended = true; });
        this->leave(me);
    }

  private:
    Input& before_tee_;  // the queue before the tee
    end_of_side& end_;   // where the tee waits
};

template <class C>
struct copied_item {              // the state of the work on one item
    std::optional<C> copy;        // for the side; none: the side is closed
    bool was_copy_put = false;    // next_result() has returned the copy
    bool result_is_item = false;  // the latest result is the item; false: the copy
    bool is_last = false;         // the stage ends after this item
};

// The stage of a run that copies each item. The worker of the stage (stages/stage_worker.hpp) calls the
// functions for each item.
template <class C, class Policy>
class running_tee : public stage_kind<C, C, Policy> {
    using base = stage_kind<C, C, Policy>;
    using queue = channel<C, Policy>;

  public:
    using iteration = typename base::template iteration_with<copied_item<C>>;
    // The stage calls no function whose time counts, and puts the items themselves.
    static constexpr stage_traits traits{.counts_tasks = false, .forwards_item = true};

    running_tee(run_context& run, const stage_options& options, queue& in, queue& out, queue& side)
        : base(run, "tee", options, &in, &out), side_(side) {}

    end_of_side& end() noexcept { return end_; }

    void work(iteration& it) {  // makes the copy
        if (!copies_) return;
        if constexpr (is_epoch_item<C>) {
            if (it.place.mark) {
                it.copy.emplace(C::end_of_epoch(it.place.epoch));
            } else {
                carried_value_t<C> value(std::as_const(*it.item).value());
                // The copy has the epoch, but not the draws (samples of the source) that the item was made
                // from: a checkpoint counts these with the item, and not again with its copy.
                it.copy.emplace(std::move(value), provenance(it.place.epoch));
            }
        } else {
            it.copy.emplace(std::as_const(*it.item));
        }
    }
    // Returns first the copy, if there is one, for the side; then the item, for the next queue.
    C* next_result(iteration& it) noexcept {
        it.result_is_item = !it.copy || std::exchange(it.was_copy_put, true);
        return it.result_is_item ? it.item : detail::pointer_to(it.copy);
    }
    bool is_last_result(const iteration& it) const noexcept { return it.result_is_item; }
    queue& output_for(const iteration& it) noexcept { return it.result_is_item ? *this->out_ : side_; }
    // Returns false if the next queue is closed. Returns true if the queue of the side is closed, by a `take`
    // or a failure: the tee then makes no more copies. After a failure, the tee ends after this item.
    bool continues_when_output_closed(iteration& it) noexcept {
        if (it.result_is_item) return false;
        copies_ = false;
        it.is_last = this->run_.has_failed();
        return true;
    }
    bool is_finished(const iteration& it) const noexcept { return it.is_last; }
    auto wait_before_end(typename base::slot& me) noexcept {  // the worker awaits the result
        side_.close();
        return end_.wait(char(), me, slot_state::wait_turn);
    }

  private:
    queue& side_;
    bool copies_ = true;  // false: the queue of the side is closed
    end_of_side end_{side_rule{}, "for the side to end", wait_kind::others};
};

template <class Row>
struct tee_stage : stage_base {  // the description of a `tee`
    static constexpr const char* kind = "tee";

    tee_stage(pipeline<Row> p, const tee_options& o)
        : stage_base{detail::stage_options_of(o, kind)}, part(std::move(p)) {}

    template <class C>
    struct copied {
        static_assert(std::is_copy_constructible_v<carried_value_t<C>>,
                      "weir: tee copies each item, and these can't be copied; give std::shared_ptr of them");
        using type = C;
    };
    template <class C>
    using output = typename copied<C>::type;

    template <class Self, class Policy, class C>
    static channel<output<C>, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        run.refuse_unless(self.options.concurrency == 1, self.options,
                          "copies one item after the other, its concurrency is 1");
        const stage_options options = self.options;
        stage_options named = options;
        named.name += "_side";
        auto& side = run.template add_queue<C>(named);
        auto& out = run.template add_queue<C>(options);
        auto& tee =
            run.template add<stage_of<running_tee<C, Policy>>>({&in}, {&out, &side}, options, in, out, side);
        const std::string why_no_checkpoint = run.why_no_checkpoint();
        auto& end = pipeline<Row>::attach(std::forward<Self>(self).part, run, side);
        run.why_no_checkpoint() = why_no_checkpoint;  // a stage of the side does not prevent checkpoints
        named.name = options.name + "_end";
        using last = typename std::remove_reference_t<decltype(end)>::value_type;
        run.template add<stage_of<running_drain<last, channel<C, Policy>, Policy>>>({&end}, {}, named, end,
                                                                                    in, tee.end());
        return out;
    }

    template <class C, class To>
    typename To::ends describe(To& to, typename To::ends from) const {
        const auto begin = to.template stage<C, C>(kind, options, from);
        to.template branch<C>("side", part, begin);
        return begin;
    }

    template <class Self, class Function>
    static void each_options(Self& self, Function function) {
        function(self.options);
        pipeline<Row>::each_options(self.part, function);
    }

    pipeline<Row> part;
};

}  // namespace detail

/// Puts each item into the next queue, and a copy of it into a second part of the pipeline, the side (a log,
/// a preview). The results of the side are dropped.
///
///     weir::source(frames) | weir::tee(weir::pipe(preview)) | weir::pipe(encode) | weir::sink()
///
/// \param part  a stage, or several composed by `|`, without source and sink.
/// Order:    kept in both queues behind the stage. When the queues of a slow side are full, the tee waits,
///           and the next stages get no items meanwhile. The stream ends when the side has ended, too.
/// Errors:   a failure on the side, or an exception from a copy, stops the run. A side that ends early
///           (`take`) gets no more items.
template <class Part>
[[nodiscard]] auto tee(Part&& part, tee_options options = {}) {
    static_assert(detail::composable<Part>,
                  "weir: the side of a tee is made of a stage, or of several put together by |; put a "
                  "function into weir::pipe(...)");
    if constexpr (detail::composable<Part>) {
        using row = decltype(detail::stages_of(std::forward<Part>(part)));
        static_assert(
            !row::begins && !row::ends,
            "weir: the side of a tee has neither source nor sink, and no for_each: it stands beside "
            "a stage, and what it gives is dropped; weir::pipe(f) is for a function there, too");
        return detail::tee_stage<row>(pipeline<row>(detail::stages_of(std::forward<Part>(part))), options);
    } else {
        return pipeline<detail::no_stages>(detail::no_stages());  // so that no second error follows
    }
}

/// Rejects options of another type at compile time.
template <class Part, class Options, class = detail::refused_t<Part, Options, tee_options>>
void tee(Part&&, Options&&) noexcept;

}  // namespace weir

#endif
