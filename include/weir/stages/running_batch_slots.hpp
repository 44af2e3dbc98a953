// weir stages, internal: the stage of a run that writes items into the places of batches
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_RUNNING_BATCH_SLOTS_HPP
#define WEIR_STAGES_RUNNING_BATCH_SLOTS_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/measure/clock.hpp>
#include <weir/measure/slot_times.hpp>
#include <weir/measure/stats.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/run_context.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/batch_places.hpp>
#include <weir/stages/iteration.hpp>
#include <weir/stages/stage_kind.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <coroutine>  // for std::coroutine_handle
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::int64_t, std::uint64_t
#include <exception>  // for std::current_exception
#include <memory>     // for std::make_unique
#include <optional>   // for std::optional
#include <utility>    // for std::declval, std::exchange, std::forward, std::move

namespace weir::detail {

// The stage of a run for `batch_slots`. `Types`: `batch_slots_types`; `Given`: the function, or its factory.
template <class Types, class Pool, class Given, class C, class Policy>
class running_batch_slots : public function_stage<Given, typename Types::call, C, typename Types::D, Policy> {
    using base = function_stage<Given, typename Types::call, C, typename Types::D, Policy>;
    using D = typename Types::D;
    using batch = typename Types::batch;
    using T = typename Types::element;

  public:
    using typename base::output_queue;
    using typename base::slot;
    using resources = counted_slot<typename base::resources>;
    using iteration = typename base::template iteration_with<typename Types::state, resources>;
    static constexpr stage_traits traits{.makes_results_later = true,
                                         .works_without_item = true,
                                         .origin = result_origin::unknown};

    template <class G>
    running_batch_slots(run_context& run, const stage_options& options, Pool& pool, const batch_form& form,
                        G&& f, channel<C, Policy>& in, output_queue& out)
        : base(run, "batch_slots", options, std::forward<G>(f), in, out), pool_(pool), form_(form),
          in_order_(options.output_order == output_order::input ||
                    (run.is_profiled() && options.concurrency == 1)),  // a profile may add slots
          places_(place_rule(in_order_, run.first_epoch()), "for a place in a batch") {}

    bool acquire_resources(auto& context) noexcept {  // the worker calls these: see stages/stage_kind.hpp
        if (!std::exchange(context.resources.is_counted, true))
            places_.update([](place_rule& rule) { rule.begin_work(); });
        return base::acquire_resources(context);
    }
    void release_resources(auto& context) noexcept {
        base::release_resources(context);
        leave_work(context);
    }
    void on_item(iteration& it) noexcept {
        base::on_item(it);
        if (it.place.mark) it.asked.cause = place_request::event::mark;
        it.asked.number = this->number_of(it.place);
        it.asked.epoch = it.place.epoch;
    }
    // An item waits for its place. The end of an epoch, or of the input, waits for the items before it.
    bool is_ordered() const noexcept { return true; }
    auto wait_for_turn(iteration& it, slot& me) noexcept {
        if (it.item == nullptr) {
            it.asked.cause = place_request::event::at_end;
            leave_work(*it.context);
        }
        return place_wait(*this, it, me);
    }
    // Refuses items that have to leave behind this one. The slot (worker) continues to the end of the input,
    // unless it was the giver (put batches): the last slot at the end puts all batches that are left.
    void block_turns(iteration& it) noexcept {
        if (it.asked.cause == place_request::event::item && it.task >= task_end::last && !it.asked.gives) {
            this->in_->cancel();
            it.ends_stage = false;
        }
        change(it, [&](place_rule& rule) { return rule.block(it.asked); });
        places_.ask_all();  // `block` may refuse requests that stand in line behind one that has to wait
    }

    decltype(auto) work(iteration& it) {
        if constexpr (base::waits) {
            return this->call(it);
        } else if (it.has_work) {
            if constexpr (Types::call::is_void) {
                this->call(it);
            } else {
                it.is_kept = this->call(it);
            }
        }
    }
    void store_result(iteration& it, bool is_kept = true) noexcept { it.is_kept = is_kept; }

    void end_task(iteration& it) noexcept {
        if (it.error && it.asked.cause == place_request::event::item) leave_out(it);
    }
    // False: the stage fails, as the slot has no item, puts batches, or lacked memory for `find_place`.
    bool tolerates_failure(const iteration& it) const noexcept {
        return it.has_work && !it.asked.gives && !it.lacks_memory_to_wait;
    }

    // Fills or frees the item's place. Then, if the slot is the giver (puts batches), makes the next result.
    void fetch_result(iteration& it) {
        it.result.reset();
        if (it.has_work && !it.asked.is_settled) it.is_kept ? fill(it) : leave_out(it);
        while (!it.result && (it.to_give || it.asked.gives)) {
            if (it.to_give) {
                const auto given = std::exchange(it.to_give, std::move(it.to_give->next));
                give(it, static_cast<batch&>(*given));
                continue;
            }
            place_rule::next_output next;
            places_.update([&](place_rule& rule) { next = rule.take(it.asked); }, it.context->slot);
            it.to_give = std::move(next.batches);
            const auto last = places_.read([](const place_rule& rule) { return rule.last_number(); });
            if (it.to_give) static_cast<batch&>(*it.to_give).close_gaps(last);
            if constexpr (is_epoch_item<D>) {
                if (next.ended_epoch) it.result.emplace(D::end_of_epoch(*next.ended_epoch));
            }
        }
    }
    D* next_result(iteration& it) noexcept { return detail::pointer_to(it.result); }
    bool is_last_result(const iteration&) const noexcept { return false; }
    bool is_finished(const iteration& it) const noexcept { return it.input_ended; }

  private:
    // Awaitable of bool: waits for the answer to `it.asked`. False: refused, or the run ends. True: admitted,
    // or an exception is in `it.error`. Resumes on the stage's executor.
    class place_wait {
        using waiting = decltype(detail::get_awaiter(std::declval<task<bool>>()));

      public:
        place_wait(running_batch_slots& stage, iteration& it, slot& me) noexcept
            : stage_(stage), it_(it), me_(me) {}
        bool await_ready() noexcept {
            auto ask = stage_.places_.wait(&it_.asked, me_, slot_state::wait_turn);
            it_.lacks_memory_to_wait = !ask.await_ready();
            try {
                if (it_.lacks_memory_to_wait || (it_.asked.fetches && !stage_.fetch_at_once(it_))) {
                    task_.emplace(stage_.find_place(it_, me_));
                    it_.lacks_memory_to_wait = false;
                    return false;
                }
                is_admitted_ = ask.await_resume();
            } catch (...) {
                it_.error = std::current_exception();
            }
            stage_.answer(it_);
            return true;
        }
        template <class Promise>  // Resumes on the stage's executor, as a task does.
        auto await_suspend(std::coroutine_handle<Promise> h) {
            awaiter_.emplace(detail::get_awaiter(std::move(*task_)));
            return awaiter_->await_suspend(h);
        }
        bool await_resume() noexcept {
            try {
                return awaiter_ ? awaiter_->await_resume() : is_admitted_;
            } catch (...) {
                it_.error = std::current_exception();
            }
            stage_.answer(it_);
            return true;
        }

      private:
        running_batch_slots& stage_;
        iteration& it_;
        slot& me_;
        bool is_admitted_ = true;
        std::optional<task<bool>> task_;
        std::optional<waiting> awaiter_;
    };

    // Stores the place that the request got, if any. With `in_order_`, the update also admits the next item.
    void answer(iteration& it) noexcept {
        if (in_order_ || it.error)
            places_.update([&](place_rule& rule) { rule.stop_fetching(it.asked); }, it.context->slot);
        if (it.asked.batch == nullptr) return;
        it.place_of_item = static_cast<batch*>(it.asked.batch)->place(it.asked.place);
        it.second_argument = &it.place_of_item;
    }
    bool fetch_at_once(iteration& it) {  // a block for a new batch; false: none is free
        auto block = pool_.template try_acquire<T>(form_.places * form_.elements);
        if (!block) return false;
        add(it, *std::move(block));
        return true;
    }
    void add(iteration& it, typename Types::block&& block) {  // begins a batch in the block
        auto made = std::make_unique<batch>(std::move(block), form_);
        places_.update([&](place_rule& rule) { rule.add(std::move(made), it.asked); }, it.context->slot);
    }
    // The part of `place_wait` that waits. False: refused, or the run ends. An exception is in `it.error`.
    task<bool> find_place(iteration& it, slot& me) {
        while (true) {
            if (it.asked.fetches) {
                co_await fetch(it);
                if (it.error || it.asked.batch != nullptr) break;
                if (this->run_.own_stop().stop_requested()) co_return false;
            }
            auto ask = places_.wait(&it.asked, me, slot_state::wait_turn);
            const bool is_admitted = co_await ask;
            if (!is_admitted) co_return false;
            if (!it.asked.fetches) break;
        }
        answer(it);
        co_return true;
    }
    // Unless a place is free, waits for memory for a new batch, for a free place, or for the run's end.
    task<void> fetch(iteration& it) {
        const stop_source stop;
        const stop_callback on_end(this->run_.own_stop(), [&stop] { stop.request_stop(); });
        bool has_to_wait = false;
        places_.update([&](place_rule& rule) { has_to_wait = rule.wait_for_memory(it.asked, stop); });
        if (!has_to_wait) co_return;
        const std::int64_t begin = this->now();
        try {
            auto block = co_await pool_.template acquire<T>(form_.places * form_.elements, stop.get_token());
            if (is_given(block, stop)) add(it, *std::move(block));
        } catch (...) {
            it.error = std::current_exception();
        }
        count_wait(this->now() - begin);
        places_.update([&](place_rule& rule) { rule.stop_fetching(it.asked); });
    }

    template <class Change>  // returns what ends the wait of a slot for memory, if a place is free for it
    void change(iteration& it, Change change_rule) noexcept {
        std::optional<stop_source> stop;
        places_.update([&](place_rule& rule) { stop = change_rule(rule); }, it.context->slot);
        if (stop) stop->request_stop();
    }
    void leave_work(auto& context) noexcept {  // the slot gets no more items
        if (std::exchange(context.resources.is_counted, false))
            places_.update([](place_rule& rule) { rule.end_work(); }, context.slot);
    }
    void fill(iteration& it) noexcept {  // the item has filled its place
        static_cast<batch*>(it.asked.batch)->provenance_of(it.asked.place) = std::move(it.item_provenance);
        places_.update([&](place_rule& rule) { rule.fill(it.asked); }, it.context->slot);
    }
    void leave_out(iteration& it) noexcept {  // the item failed, or was dropped: frees its place
        change(it, [&](place_rule& rule) { return rule.leave_out(it.asked); });
    }

    // Makes the result of a finished batch, unless the batch is empty, or is dropped.
    void give(iteration& it, batch& made) {
        typename epoch_item_traits<C>::provenance all;
        const std::size_t count = made.num_filled();
        const bool is_dropped = form_.drop_last && count != form_.places;
        for (std::size_t i = 0; i < count; ++i) {
            // A checkpoint (record of consumed items) counts an item of a dropped batch only if a mark has
            // ended the epoch, and the run goes on. Else a run from the checkpoint repeats the item.
            if (!is_dropped) {
                all.add(std::move(made.provenance_of(i)));
            } else if (!it.input_ended && !this->may_end_early()) {  // the batch leaves because of a mark
                made.provenance_of(i).acknowledge();
            }
        }
        if (is_dropped || count == 0) return;
        if (form_.drop_last) all.clear_elementwise();
        it.result.emplace(base::item_traits::carry(made.block(), std::move(all)));
    }

    void count_wait(std::int64_t ns) noexcept {  // for memory of the pool
        if constexpr (Policy::statistics) {
            // relaxed, both: counts, which order no other data
            num_waits_.fetch_add(1, std::memory_order_relaxed);
            waited_.fetch_add(ns, std::memory_order_relaxed);
        }
    }
    std::optional<transfer_stats> transfers() const override {
        transfer_stats all;
        // relaxed, both: counts; when the stage has ended they are complete
        all.num_block_waits = num_waits_.load(std::memory_order_relaxed);
        all.block_wait = duration(waited_.load(std::memory_order_relaxed));
        if (all.num_block_waits == 0) return std::nullopt;
        return all;
    }

    Pool& pool_;
    const batch_form form_;
    const bool in_order_;                                    // see `place_rule`
    place_queue places_;                                     // in which slots wait for places
    standard_platform::atomic<std::uint64_t> num_waits_{0};  // for memory of the pool
    standard_platform::atomic<std::int64_t> waited_{0};      // ns of these waits
};

}  // namespace weir::detail

#endif
