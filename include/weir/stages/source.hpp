// weir stages: `source`, the first stage of a pipeline
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_SOURCE_HPP
#define WEIR_STAGES_SOURCE_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/epoch_item.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/run/run_core.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/stages/source_items.hpp>
#include <weir/stages/stage.hpp>
#include <weir/stages/stage_worker.hpp>

#include <array>             // for std::to_array
#include <cstddef>           // for std::size_t
#include <cstdint>           // for std::uint64_t
#include <functional>        // for std::ref
#include <initializer_list>  // for std::initializer_list
#include <optional>          // for std::optional
#include <source_location>   // for std::source_location
#include <string>            // for std::string
#include <type_traits>       // for std::invoke_result_t, std::is_bounded_array_v
#include <utility>           // for std::forward, std::move
#include <vector>            // for std::vector

namespace weir {

/// The options of a source.
struct source_options {
    std::string name = "src";  ///< the name in reports, also of the queue behind the stage
    /// The executor of the stage; null: the run's executor. Outlives the run.
    weir::executor* executor = nullptr;
    /// The capacity of the queue behind the stage, in items; at least 1.
    std::size_t capacity = 2;
    /// The limit of that queue in bytes, in addition to `capacity`; 0: no limit. `item_size` gives the bytes
    /// that an item counts.
    std::size_t max_bytes = 0;
    /// The source location that reports show: of the braces of these options, or of the call without any.
    std::source_location where = detail::call_place::current();
};

namespace detail {

template <class T>
struct source_state {        // of one iteration
    std::optional<T> value;  // the item made last; none: the source has ended
};

// The stage of a run that `source` makes. `Items`: `items_of` or `any_items`, from which it takes its items.
template <class Items, class Policy>
class running_source : public stage_kind<nothing, typename Items::item, Policy> {
    using Out = typename Items::item;
    using base = stage_kind<nothing, Out, Policy>;

  public:
    using iteration = typename base::template iteration_with<source_state<Out>>;
    static constexpr stage_traits traits{.numbers_results = true};

    template <class From>
    running_source(run_context& run, const stage_options& options, From&& from, channel<Out, Policy>& out)
        : base(run, "source", options, nullptr, &out), items_(std::forward<From>(from)) {
        // A source of draws (samples that a sampler has chosen) sets the first epoch (pass) of the run. With
        // any other kind of source, the run has no checkpoint, from which a later run could go on.
        if constexpr (requires { items_.add_progress(run); }) {
            items_.add_progress(run);
        } else {
            if constexpr (is_epoch_item<Out>) run.set_first_epoch(0);
            run.why_no_checkpoint() = run_context::one_sampler;
        }
        epoch_ = run.first_epoch();
    }

    // The worker of the stage calls these functions for each item; stages/stage_kind.hpp says when.
    std::uint64_t byte_sources(const iteration&) const noexcept {
        return detail::base_of(*this->out_).sources();
    }
    void take(no_intake&, typename base::slot&, [[maybe_unused]] iteration& it) noexcept {
        if constexpr (is_epoch_item<Out>) it.place.epoch = epoch_;
    }
    auto work(iteration& it) {
        if constexpr (Items::waits) {
            return nothing();  // `make_awaitable` makes the awaitable
        } else {
            store_result(it, items_.next());
        }
    }
    decltype(auto) make_awaitable(nothing&, coroutine_env& env) { return items_.next(env); }
    void store_result(iteration& it, std::optional<Out>&& item) {
        detail::replace(it.value, std::move(item));
        if constexpr (is_epoch_item<Out>) {
            if (!it.value) return;
            it.place.mark = it.value->is_mark();
            epoch_ = it.value->epoch() + (it.place.mark ? 1 : 0);
        }
    }
    bool counts_as_task(const iteration& it) const noexcept { return it.value && !it.place.mark; }
    any_item result_for_hooks(iteration& it) const noexcept {
        using made = epoch_item_traits<Out>;
        return it.value && !made::is_mark(*it.value) ? any_item(made::value_of(*it.value)) : any_item();
    }
    Out* next_result(iteration& it) noexcept { return detail::pointer_to(it.value); }
    bool is_finished(const iteration& it) const noexcept { return !it.value; }
    void close_input(typename base::slot&) noexcept {
        if constexpr (requires { items_.end(); }) items_.end();
    }

  private:
    // For `stage_stats::awaits_others`: whether the source reads a channel, for whose items it waits. None: a
    // source that does not wait.
    std::optional<bool> awaits_others() const override {
        if constexpr (!Items::waits) return std::nullopt;
        return requires { Items::is_shared; };
    }

    Items items_;
    std::uint64_t epoch_;  // the epoch of the next item
};

template <class S>
struct source_stage : stage_base {
    static constexpr bool begins_pipelines = true;
    static constexpr const char* kind = "source";

    template <class U>
    source_stage(U&& from, const source_options& o)
        : stage_base{detail::stage_options_of(o, kind)}, items(std::forward<U>(from)) {}

    using output = typename items_of<S>::item;

    template <class Self, class Policy>
    static channel<output, Policy>& attach(Self&& self, run_core<Policy>& run) {
        run.refuse_unless(self.options.concurrency == 1, self.options,
                          "is a source: it gives one item after the other, its concurrency is 1");
        auto& out = run.template add_queue<output>(self.options);
        using running = stage_of<running_source<kept_items_t<S>, Policy>>;
        const stage_options& options = self.options;
        run.template add<running>({}, {&out}, options, S(std::forward<Self>(self).items), out);
        return out;
    }

    S items;
};

// Declared only: the result of a refused call of `source`, so that no second error follows.
template <class S>
source_stage<S> refused_source();

template <class S>
inline constexpr bool is_channel = false;
template <class T, class Policy>
inline constexpr bool is_channel<channel<T, Policy>> = true;

template <class S>
concept is_array_of_items =
    std::is_bounded_array_v<std::remove_reference_t<S>> &&
    !std::is_same_v<std::remove_cv_t<std::remove_extent_t<std::remove_reference_t<S>>>, char>;

// Converts to an argument of any type: for `takes_an_argument`, which chooses the message for a function that
// is no source.
struct any_argument {
    template <class T>
    operator T() const;  // NOLINT(google-explicit-constructor): an argument of any type
};
template <class Function>
inline constexpr bool is_function_of_one_argument = false;
template <class R, class A>
inline constexpr bool is_function_of_one_argument<R (*)(A)> = true;
template <class R, class A>
inline constexpr bool is_function_of_one_argument<R (*)(A) noexcept> = true;
// Whether a function, or an object with one call operator, can be called with one argument. False for an
// object whose call operator is overloaded or a template. A function, not a variable with constrained
// specialisations, because nvcc 13 refuses such specialisations.
template <class Function>
constexpr bool takes_an_argument() noexcept {
    if constexpr (requires { &Function::operator(); }) {
        return std::is_invocable_v<Function&, any_argument>;
    } else {
        return std::is_member_pointer_v<Function> ||  // the argument is the object
               is_function_of_one_argument<Function>;
    }
}

}  // namespace detail

/// The first stage of a pipeline: gives the items.
///
/// \param items    one of
///                 - a range: a container or an array, by value (a run moves the elements out of its own
///                   copy); a view, or `std::ref(container)`, which outlives the run; a `generator`;
///                 - an `async_generator`;
///                 - a function that gives `std::optional<T>`, or an awaitable of it: called until the
///                   optional is empty;
///                 - a function that gives a range, a `generator` or an `async_generator`: called once in
///                   each run, before the first item;
///                 - a channel: see below;
///                 - a `run`: its items, so that one pipeline is inside of another.
///                 A generator of any kind, and a `run`, are good for one run: start the pipeline as an
///                 rvalue.
/// \param options  see `source_options`.
/// Order:    one item after the other. While the queue is full, the source holds one further item.
/// Resumes:  the stage, on its own executor.
/// Errors:   an exception ends the stream and fails the run, whatever `max_failures` says: there is no next
///           item to go on with. Items that were given before the exception are delivered.
template <class S>
    requires(!detail::is_array_of_items<S>)
[[nodiscard]] auto source(S&& items, source_options options = {}) {
    constexpr bool is_channel = detail::is_channel<std::decay_t<S>>;
    static_assert(!is_channel,
                  "weir: a source takes from a channel that outlives the run and that it can "
                  "change: give it one that has a name and is no constant");
    static_assert(is_channel || detail::source_like<std::decay_t<S>> ||
                      !detail::takes_an_argument<std::decay_t<S>>(),
                  "weir: a source's function takes no argument, as nothing comes before it, and this one "
                  "takes one: let it capture what it needs, [files] { ... }");
    static_assert(is_channel || detail::source_like<std::decay_t<S>> ||
                      detail::takes_an_argument<std::decay_t<S>>(),
                  "weir: a source needs a range, a generator, an async_generator, or a function that "
                  "gives std::optional items, a range or a generator, or a channel; this is none of them");
    if constexpr (detail::source_like<std::decay_t<S>>) {
        using kept = detail::kept_t<S>;
        if constexpr (detail::can_be_kept<S>)
            return detail::source_stage<kept>(std::forward<S>(items), std::move(options));
    } else if constexpr (is_channel) {
        return detail::refused_source<std::reference_wrapper<std::decay_t<S>>>();
    }
}

/// The same as `source` of a container, for a copy of a C array. An array of `char`, which may be a string
/// literal, is not allowed.
template <class S>
    requires detail::is_array_of_items<S>
[[nodiscard]] auto source(S&& items, source_options options = {}) {
    using element = decltype(std::forward<S>(items)[0]);
    [[maybe_unused]] constexpr detail::kept<element> refuses{};
    if constexpr (detail::can_be_kept<element>)
        return weir::source(std::to_array(std::forward<S>(items)), std::move(options));
}

/// Gives the items that threads or coroutines put into a channel, until the channel is closed and empty.
///
///     weir::channel<request> requests(100);
///     auto run = (weir::source(requests) | weir::pipe(answer) | weir::sink()).start(pool);
///     requests.blocking_put(request(1));   // in any thread; returns `closed` after the end of the run
///
/// \param from  the channel; outlives the run. The source closes the channel when the source ends, for
///              whatever reason, so that no producer waits for ever. Items in the channel stay there, for the
///              next run or `try_get`.
/// Order:  that of the channel. Several runs may take from one channel: each item goes to one of them.
/// Resumes: the stage, on its own executor. While it waits, its slot (worker) is in `slot_times::await`.
/// Errors: a stop of the run destroys an item that the source has taken, as it does all items of the run.
template <class T, class Policy>
[[nodiscard]] auto source(channel<T, Policy>& from, source_options options = {}) {
    return weir::source(std::ref(from), std::move(options));
}

/// The same as `source` of a container, for a list of items: `source({"a", "b"})`.
template <class T>
[[nodiscard]] auto source(std::initializer_list<T> items, source_options options = {}) {
    return weir::source(std::vector<T>(items), std::move(options));
}

/// Rejects options of another type at compile time.
template <class S, class Options, class = detail::refused_t<S, Options, source_options>>
void source(S&&, Options&&) noexcept;

}  // namespace weir

#endif
