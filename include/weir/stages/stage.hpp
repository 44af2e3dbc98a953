// weir stages, internal: the base of stage descriptions, their options, and helpers for stages
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_STAGE_HPP
#define WEIR_STAGES_STAGE_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/task/awaitable.hpp>
#include <weir/task/generator.hpp>
#include <weir/task/task.hpp>

#include <concepts>         // for std::derived_from
#include <cstddef>          // for std::size_t
#include <iterator>         // for std::default_sentinel
#include <optional>         // for std::optional
#include <source_location>  // for std::source_location
#include <span>         // for std::ranges::input_range, which <span> needs, and <ranges> has with all views
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <type_traits>  // for std::is_class_v, std::is_nothrow_destructible_v, std::remove_cvref_t
#include <utility>      // for std::move

namespace weir {

namespace detail {

// The name of a class, without its namespace and template arguments. Empty for lambdas, for classes of std
// and weir, and for all types that are no classes. `text`: the whole name, as `type_text` gives it.
std::string_view name_of_class(std::string_view text, bool is_class) noexcept;

// Options with a default name. A stage without a name is named after the class of its function, or, without
// such a class, after its kind and its place: "pipe#3".
class kept_options : public stage_options {
  public:
    kept_options() = default;
    explicit(false) kept_options(stage_options given) : stage_options(std::move(given)) {}
    // The five members below are not defined in the class: each type of pipeline would then contain their
    // code for each of its stages.
    kept_options(const kept_options& other);
    kept_options(kept_options&& other) noexcept;
    kept_options& operator=(const kept_options& other);
    kept_options& operator=(kept_options&& other) noexcept;
    ~kept_options();

    // If `given.name` is empty, the name becomes `class_name`; or, if that is empty, too, `kind`, the kind of
    // the stage, with the stage's place: "pipe#3". Both texts live as long as the program.
    kept_options(stage_options&& given, std::string_view kind, std::string_view class_name = {});
    // For a stage that calls a function: a class `Function` with a name gives the default name.
    template <class Function>
    static kept_options of_function(stage_options&& given, std::string_view kind) {
        return {std::move(given), kind,
                detail::name_of_class(type_text<Function>(), std::is_class_v<Function>)};
    }

    // Sets the place of the stage in its pipeline, which is part of the default name. Does nothing if the
    // stage has another name: of the user or of a class.
    void set_place(std::size_t place);

  private:
    std::string default_name(std::size_t place) const;

    std::string_view kind_;  // empty: the user, or a class, has given the name
    std::size_t place_ = 1;  // the place in the pipeline (the source has 0); before `set_place`, 1
};

// The base of every stage description, such as the result of `pipe(f)`. A description has a static function
// `attach(self, run, in)`; for a source, `attach(self, run)`. This function adds the stage to a run behind
// the queue `in`, and returns the queue behind the stage. `attach` moves members of `self` if `self` is an
// rvalue.
struct stage_base {
    kept_options options;

    // Calls `function` with the options of the stage. A description with stages inside hides this function by
    // one that calls `function` with the options of those stages, too.
    template <class Self, class Visitor>
    static void each_options(Self& self, Visitor function) {
        function(self.options);
    }
};

// The options of stages that have one slot and no other options.
struct queue_options {
    std::string name = {};     // the name in reports; empty: the kind and the place: "shuffle#2"
    std::size_t capacity = 2;  // the capacity of the queue behind the stage, in items; at least 1
    std::source_location where = detail::call_place::current();
};

// Returns `stage_options` with those of the options below that `from` has; all others have defaults.
template <class Options>
stage_options common_options_of(const Options& from) {
    stage_options all;
    all.name = from.name;
    all.where = from.where;
    if constexpr (requires { from.concurrency; }) all.concurrency = from.concurrency;
    if constexpr (requires { from.executor; }) all.executor = from.executor;
    if constexpr (requires { from.capacity; }) all.capacity = from.capacity;
    if constexpr (requires { from.max_bytes; }) all.max_bytes = from.max_bytes;
    if constexpr (requires { from.max_failures; }) all.max_failures = from.max_failures;
    if constexpr (requires { from.time_limit; }) all.time_limit = from.time_limit;
    if constexpr (requires { from.hooks; }) all.hooks = from.hooks;
    return all;
}
// As `common_options_of`, with a default name: see `kept_options`.
template <class Options>
kept_options stage_options_of(const Options& from, std::string_view kind) {
    return {detail::common_options_of(from), kind};
}

template <class S>
concept stage_description = std::derived_from<std::remove_cvref_t<S>, stage_base>;

// The base of an object of a type that a stage hides. One type of pointer owns all such objects: a type of
// std::unique_ptr costs a compiler 45 functions.
struct hidden_object {
    virtual ~hidden_object() = default;
};

// Stands for a stage that a static assertion has refused, so that the compiler gives no further errors.
struct no_stage {
    explicit no_stage(const auto&...) noexcept {}
};

// The description of the stage that an operand of `|` stands for. `merge(...)` and others with any number of
// arguments construct a class, whose base `described` is the description: only a deduction guide allows a
// default argument (the source location of the call) behind a parameter pack.
template <class S>
struct stage_kept {
    using type = S;
};
template <class S>
    requires requires { typename S::described; }
struct stage_kept<S> {
    using type = typename S::described;
};
template <class S>
using stage_kept_t = typename stage_kept<std::remove_cvref_t<S>>::type;

// Whether a stage takes no items: a source, or a stage that contains sources.
template <class S>
inline constexpr bool is_source = requires { requires S::begins_pipelines; };

// Whether a stage is the end of a pipeline: a sink, or a stage in its place.
template <class S>
inline constexpr bool is_end = requires { requires S::ends_pipelines; };

// Whether an object can be copied. Of a container, its elements are tested, too: a std::vector of elements
// that only move claims to be copyable, although the copy does not compile.
template <class T>
inline constexpr bool can_be_copied = std::is_copy_constructible_v<T>;
template <class T>
    requires(std::is_copy_constructible_v<T> && std::ranges::input_range<T&> && !std::ranges::view<T> &&
             !std::is_same_v<std::ranges::range_value_t<T&>, T>)
inline constexpr bool can_be_copied<T> = can_be_copied<std::ranges::range_value_t<T&>>;

// Whether a description can keep an object: copy an lvalue or a constant, move any other.
template <class Given>
inline constexpr bool can_be_kept =
    std::is_constructible_v<std::decay_t<Given>, Given> &&
    (std::is_same_v<Given&&, std::decay_t<Given>&&> || can_be_copied<std::decay_t<Given>>);

// The type of the copy of a function, or of a source's items, that a description keeps.
template <class Function>
struct kept {
    using type = std::decay_t<Function>;
    // What the copy is made from: what was given, but a refused lvalue is moved, so that no error follows.
    using given = std::conditional_t<can_be_kept<Function>, Function&&, std::remove_reference_t<Function>&&>;
    static_assert(can_be_kept<Function>,
                  "weir: a stage copies an lvalue, and this one can't be copied; move it: std::move(it)");
    static_assert(std::is_nothrow_destructible_v<std::decay_t<Function>>,
                  "weir: a stage's function has a destructor that may throw, and nothing can catch that; "
                  "declare the destructor without noexcept(false)");
};
template <class Function>
using kept_t = typename kept<Function>::type;

// For overloads that exist only to give an error message. Refuses a function whose type can't be deduced, and
// options of another type than `Wanted`. In all other cases the overload is not viable.
struct not_deduced {};
template <class Function, class Options, class Wanted>
struct refused {
    static_assert(!std::is_same_v<Function, not_deduced>,
                  "weir: which function is meant can't be told from its name, as it has overloads or is a "
                  "template; call it in a lambda: [](auto item) { return f(std::move(item)); }");
    static_assert(std::is_convertible_v<Options, Wanted>,
                  "weir: a stage's options are given by their names, and this is none: "
                  "{.name = \"decode\", .concurrency = 4}; a retry has {.attempts = 5, .delay = 100ms}");
};
template <class Function, class Options = stage_options, class Wanted = stage_options>
using refused_t = typename refused<Function, Options, Wanted>::type;

// Wraps an awaitable in a task, so that the awaiting coroutine resumes on its own executor. (A member of a
// class template, because g++ 12 warns of coroutines whose parameters have types of an anonymous namespace.)
template <class A>
struct in_a_task {
    static task<std::remove_cvref_t<await_result_t<A>>> of(A& a) {
        if constexpr (std::is_void_v<await_result_t<A>>) {
            co_await std::move(a);
        } else {
            co_return co_await std::move(a);
        }
    }
};

// Wraps the awaitable that the function of a stage has returned, so that the state of the slot (worker) is
// recorded during the wait. An awaitable that `updates_slot_itself`, such as a task, is not wrapped. An
// awaiter of weir has `ready_at()`, and resumes on the coroutine's executor: its awaitable, and also a sender
// with `as_awaitable`, is wrapped in `observed`, which records the wait. Any other awaitable may resume on
// any thread, and is wrapped in a task.
template <class A>
decltype(auto) await_measured(A& a, coroutine_env& env) {
    using awaiter = std::remove_reference_t<decltype(detail::get_awaiter(std::declval<A>()))>;
    if constexpr (updates_slot_itself<A>) {
        return static_cast<unobserved<A>>(a);
    } else if constexpr (has_as_awaitable<A> || requires(awaiter& it) { it.ready_at(); }) {
        return observed<A>(std::move(a), env);
    } else {
        return in_a_task<A>::of(a);
    }
}

// Returns the first value of a generator if `first` is true, else the value after the current one. Returns an
// empty optional at the end.
template <class Out, class T>
std::optional<Out> next_of(generator<T>& values, bool first) {
    auto at = values.begin();
    if (!first) ++at;
    if (at == std::default_sentinel) return std::nullopt;
    return std::optional<Out>(*at);
}

// Returns a pointer to the value of an optional; null if the optional is empty. Does not use `&*place`, as
// the item type may overload unary `&`.
template <class T>
T* pointer_to(std::optional<T>& place) noexcept {
    return place ? place.operator->() : nullptr;
}

// Has the effect of `place = std::move(other)`, also for types without assignment.
template <class T>
void replace(std::optional<T>& place, std::optional<T>&& other) {
    if (other) {
        place.emplace(*std::move(other));
    } else {
        place.reset();
    }
}

}  // namespace detail

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/stages/stage.ipp>
#endif

#endif
