// weir run, internal: bodies of the functions of run/run_graph.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_GRAPH_IPP
#define WEIR_RUN_RUN_GRAPH_IPP

#include <weir/run/run_graph.hpp>

#include <weir/platform/config.hpp>

namespace weir::detail {

template <class Policy>
WEIR_INLINE run_graph<Policy>::~run_graph() = default;

template <class Policy>
WEIR_INLINE void run_graph<Policy>::merge_sink(const stage_options& options, queue_id last,
                                               std::size_t capacity_of_last) {
    check_capacity(options);
    check_time_limit(options);
    last_ = indexes_of({last}).front();
    sink_.emplace(options, capacity_of_last);
    memory_shortage::with_prefix(text_before_shortage(options), [&] {
        queues_[last_]->merge_sink(options.name, sink_->total_capacity(), options.capacity,
                                   options.max_bytes);
    });
}

template <class Policy>
WEIR_INLINE void run_graph<Policy>::add_between(owned<running_stage<Policy>> stage, queue_id in,
                                                queue_id out) {
    add_stage(std::move(stage), {in}, {out});
}

template <class Policy>
WEIR_INLINE void run_graph<Policy>::add_stage(owned<running_stage<Policy>> stage,
                                              std::vector<queue_id> inputs, std::vector<queue_id> outputs) {
    std::vector<std::size_t> from = indexes_of(inputs);
    std::vector<std::size_t> to = indexes_of(outputs);
    if (budget() != nullptr) {
        // The sources whose items come through this stage, as bits.
        std::uint64_t sources = from.empty() ? budget()->add_source() : 0;
        for (const std::size_t each : from) sources |= queues_[each]->sources();
        for (const std::size_t each : to) queues_[each]->set_budget(budget(), sources);
    }
    stage->connect(std::move(from), std::move(to));
    stages_.push_back(std::move(stage));
}

template <class Policy>
WEIR_INLINE void run_graph<Policy>::set_concurrency(std::string_view name, std::size_t concurrency) {
    if (sink_ && name == sink_->options().name) {
        refuse_unless(concurrency == 1, sink_->options(),
                      "works on one item after the other; its concurrency is 1");
        return;
    }
    stage_named(name).set_concurrency(concurrency);
}

template <class Policy>
WEIR_INLINE void run_graph<Policy>::set_capacity(std::string_view name, std::size_t capacity) {
    stage_options named;
    named.name = name;
    named.capacity = capacity;
    refuse_unless(capacity >= 1, named,
                  "would have a queue of capacity 0, which never takes an item; give it 1 or more");
    refuse_unless(!was_negative(capacity), named,
                  "can't have a queue of a negative capacity; give it 1 or more");
    const std::lock_guard guard(capacities_);
    if (sink_ && name == sink_->options().name) {
        memory_shortage::with_prefix(text_before_shortage(named), [&] {
            sink_->set_capacity_behind(capacity, [&](std::size_t total) {
                queues_[last_]->set_capacity(total, capacity);
            });
        });
        return;
    }
    refuse_unless(!end_ || name != stages_[stages_.size() - 1]->name(), named,
                  "is the last one, and has no queue behind it");
    any_channel<Policy>& queue = *queues_[index_named(
        name, queues_, "queue",
        "a queue has the name of the stage before it, or of the branch that begins with it")];
    const bool is_merged = sink_ && &queue == queues_[last_].get();
    memory_shortage::with_prefix(text_before_shortage(named), [&] {
        const auto set = [&queue](std::size_t total) { queue.set_capacity(total); };
        is_merged ? sink_->set_capacity_before(capacity, set) : set(capacity);
    });
}

template <class Policy>
WEIR_INLINE auto run_graph<Policy>::stage_names() const -> std::vector<std::string> {
    std::vector<std::string> names;
    names.reserve(stages_.size() + 1);
    for (const auto& stage : stages_) names.push_back(stage->name());
    if (sink_) names.push_back(sink_->options().name);
    return names;
}

template <class Policy>
WEIR_INLINE void run_graph<Policy>::inspect(run_seen& seen, bool states) const {
    seen.last = end_ ? end_.get() : queues_[last_].get();
    seen.has_failed = has_failed();
    seen.has_ended = have_all_left() && outcome() != run_outcome::running;
    seen.is_measured = Policy::statistics;
    for (const auto& stage : stages_) {
        stage_seen& s = seen.stages.emplace_back();
        for (const std::size_t i : stage->inputs()) s.from.push_back(queues_[i].get());
        for (const std::size_t i : stage->outputs()) s.to.push_back(queues_[i].get());
        stage->inspect(s, states);
    }
    if (end_) seen.stages.back().to.push_back(end_.get());
}

template <class Policy>
WEIR_INLINE auto run_graph<Policy>::description() const -> std::string {
    std::string all;
    for (const std::string& each : stage_names()) all += (all.empty() ? "" : " | ") + each;
    return all;
}

template <class Policy>
WEIR_INLINE void run_graph<Policy>::mark_queues(run_trail& trail) {
    for (std::size_t i = 0; i < queues_.size(); ++i) {
        const bool feeds_stage = i != last_ || end_ != nullptr;
        queues_[i]->add_to_trail(trail, feeds_stage);
    }
}

template <class Policy>
WEIR_INLINE void run_graph<Policy>::complete_setups(pipeline_stats& s) const {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        std::size_t first = 0;
        while (&stages_[first]->own_executor() != &stages_[i]->own_executor()) ++first;
        s.stages[i].setup->executor = first;
        const std::vector<std::size_t>& outputs = stages_[i]->outputs();
        if (!outputs.empty()) s.stages[i].setup->item_bytes = queues_[outputs.front()]->item_bytes();
    }
}

template <class Policy>
WEIR_INLINE void run_graph<Policy>::add_first_item(pipeline_stats& s) const {
    const std::optional<std::int64_t> first = queues_[last_]->first_got();
    if (!first) return;
    const duration after(time_between(begin_.time_since_epoch().count(), *first));
    s.first_item = first_item_stats{after, detail::since(after, s.elapsed), s.num_items - 1};
}

template <class Policy>
WEIR_INLINE auto run_graph<Policy>::text_before_shortage(const stage_options& options) -> std::string {
    return "stage '" + options.name + "' of capacity " + std::to_string(options.capacity) + ": ";
}

template <class Policy>
WEIR_INLINE void run_graph<Policy>::adopt(any_channel<Policy>& queue, const stage_options& options) {
    queues_.push_back(owned<any_channel<Policy>>(&queue));
    if (options.max_bytes != 0) queue.set_max_bytes(options.max_bytes);
}

template <class Policy>
WEIR_INLINE auto run_graph<Policy>::indexes_of(const std::vector<queue_id>& channels) const
    -> std::vector<std::size_t> {
    std::vector<std::size_t> numbers;
    for (const queue_id channel : channels) {
        for (std::size_t i = 0; i < queues_.size(); ++i) {
            if (queues_[i].get() == channel.site) numbers.push_back(i);
        }
    }
    return numbers;
}

template <class Policy>
WEIR_INLINE void run_graph<Policy>::check_capacity(const stage_options& options) {
    refuse_unless(options.capacity >= 1, options,
                  "has a queue of capacity 0, which never takes an item; give it .capacity = 1 or more");
    refuse_unless(!was_negative(options.capacity), options,
                  "has a queue of a negative capacity; give it .capacity = 1 or more");
    refuse_unless(!was_negative(options.max_bytes), options,
                  "has a queue of a negative .max_bytes; 0 means no limit");
}

}  // namespace weir::detail

#endif
