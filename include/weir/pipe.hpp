// weir floor 10: the stage that applies a function
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PIPE_HPP
#define WEIR_PIPE_HPP

#include <weir/channel.hpp>
#include <weir/run_core.hpp>
#include <weir/running_stage.hpp>
#include <weir/stage.hpp>
#include <weir/stage_options.hpp>

#include <cstddef>      // for std::size_t
#include <cstdint>      // for std::int64_t
#include <exception>    // for std::exception_ptr
#include <functional>   // for std::invoke
#include <memory>       // for std::make_unique
#include <optional>     // for std::optional
#include <string>       // for std::string
#include <type_traits>  // for std::is_invocable_v
#include <utility>      // for std::move

namespace weir {

namespace detail {

// How a stage's function gives its results: `value` is the type of one item that leaves the stage.
template <class R>
struct stage_result {
    using value = R;
};
template <class U>
struct stage_result<std::optional<U>> {
    using value = U;
};
template <class U>
struct stage_result<generator<U>> {
    using value = std::remove_cvref_t<U>;
};
template <class U>
struct stage_result<async_generator<U>> {
    using value = U;
};

// Named so that the compiler's own message reads as a sentence: "in instantiation of
// the_function<F>::is_given<T>".
template <class F>
struct the_function {
    template <class Given>
    struct is_given {
        static_assert(std::is_invocable_v<F&, Given>,
                      "weir: this stage's function can't be called with what the stage before it "
                      "gives; the types are those of the_function<...>::is_given<...> in this message");
        using type = typename std::conditional_t<std::is_invocable_v<F&, Given>,
                                                 std::invoke_result<F&, Given>,
                                                 std::type_identity<int>>::type;
    };
};

template <class F, class In>
using stage_call_t = typename the_function<F>::template is_given<In>::type;

template <class F, class In>
struct pipe_types {
    using call = stage_call_t<F, In>;
    using result = awaited_t<call>;
    using value = typename stage_result<std::conditional_t<std::is_void_v<result>, int, result>>::value;
    static constexpr bool gives_many = is_generator<result> || is_async_generator<result>;
    static constexpr bool may_skip = is_optional<result>;
    // Last: clang knows nothing of what comes after an assertion that fails.
    static_assert(!std::is_void_v<result>,
                  "weir: a stage's function has to give an item to the next stage; this one gives "
                  "nothing. Return the item, or std::optional where some are dropped");
};

template <class F, class In, class Policy>
class running_pipe final : public running_stage<Policy> {
    using types = pipe_types<F, In>;
    using Out = typename types::value;
    using input = channel<In, Policy>;
    using output = channel<Out, Policy>;
    using typename running_stage<Policy>::slot;
    using typename running_stage<Policy>::worker;

  public:
    template <class G>
    running_pipe(run_context& run, const stage_options& options, G&& f, input& in, output& out)
        : running_stage<Policy>(run, "pipe", options), f_(std::forward<G>(f)), in_(in), out_(out) {}

  private:
    worker make_worker(slot& me) override {
        if constexpr (types::gives_many) {
            return give_many(me);
        } else {
            return give_one(me);
        }
    }

    worker give_one(slot& me) {
        [[maybe_unused]] coroutine_env& env = co_await my_env();
        this->arrive(me);
        while (true) {
            get_operation<input> get(in_, &me);
            std::optional<In> item = co_await get;
            if (!item) break;
            std::optional<Out> result;
            std::exception_ptr error;
            [[maybe_unused]] const std::int64_t began = me.mark;
            try {
                if constexpr (awaitable<typename types::call>) {
                    auto pending = std::invoke(f_, std::move(*item));
                    auto got = co_await await_measured(pending, env);
                    keep(result, std::move(got));
                } else {
                    keep(result, std::invoke(f_, std::move(*item)));
                }
            } catch (...) {
                error = std::current_exception();
            }
            item.reset();  // its destructor is part of the work
            [[maybe_unused]] std::int64_t spent = 0;
            if constexpr (awaitable<typename types::call>) {
                spent = this->work_done(me, began);
            } else if (error) {
                this->failed(me);
            }
            if (error) {
                if (this->tolerates(me, get.number(), std::move(error))) continue;
                in_.cancel();
                break;
            }
            if constexpr (awaitable<typename types::call>) {
                this->succeeded(me, spent);
            } else {
                this->succeeded(me);
            }
            if (!result) continue;
            put_operation<output> put(out_, *result, &me);
            const bool taken = co_await put;
            if (!taken) {
                in_.cancel();
                break;
            }
        }
        this->leave(me, out_);
    }

    // Each value is put as soon as it is there. The time of the invocation is that of the function,
    // without its waits for room.
    worker give_many(slot& me) {
        [[maybe_unused]] coroutine_env& env = co_await my_env();
        this->arrive(me);
        bool going = true;
        while (going) {
            get_operation<input> get(in_, &me);
            std::optional<In> item = co_await get;
            if (!item) break;
            std::optional<typename types::result> values;
            std::exception_ptr error;
            std::int64_t spent = 0;
            std::int64_t began = me.mark;
            bool taken = true;
            try {
                if constexpr (awaitable<typename types::call>) {
                    auto pending = std::invoke(f_, std::move(*item));
                    auto got = co_await await_measured(pending, env);
                    values.emplace(std::move(got));
                } else {
                    values.emplace(std::invoke(f_, std::move(*item)));
                }
            } catch (...) {
                error = std::current_exception();
                this->tick(me);
            }
            [[maybe_unused]] bool first = true;
            while (!error && taken) {
                std::optional<Out> result;
                try {
                    if constexpr (is_async_generator<typename types::result>) {
                        auto got = co_await values->next();
                        replace(result, std::move(got));
                    } else {
                        replace(result, next_of<Out>(*values, first));
                        first = false;
                    }
                } catch (...) {
                    error = std::current_exception();
                }
                if (!result) break;
                spent += this->work_done(me, began);
                put_operation<output> put(out_, *result, &me);
                taken = co_await put;
                began = me.mark;
            }
            values.reset();
            item.reset();
            spent += this->work_done(me, began);
            if (error) {
                if (this->tolerates(me, get.number(), std::move(error))) continue;
                going = false;
            } else if (taken) {
                this->succeeded(me, spent);
            } else {
                going = false;
            }
            if (!going) in_.cancel();
        }
        this->leave(me, out_);
    }

    // What the function returned: a value, or a reference to what is somebody else's.
    template <class R>
    static void keep(std::optional<Out>& result, R&& r) {
        if constexpr (types::may_skip) {
            if (r) result.emplace(*std::forward<R>(r));
        } else {
            result.emplace(std::forward<R>(r));
        }
    }

    F f_;
    input& in_;
    output& out_;
};

template <class F>
struct pipe_stage : stage_base {
    template <class G>
    pipe_stage(G&& f, stage_options o) : stage_base{std::move(o)}, function(std::forward<G>(f)) {}

    template <class In>
    using output = typename pipe_types<F, In>::value;

    template <class Self, class Policy, class In>
    static channel<output<In>, Policy>& attach(Self&& self, run_core<Policy>& run,
                                               channel<In, Policy>& in) {
        auto& out = run.template add_queue<output<In>>(self.options);
        run.add_stage(std::make_unique<running_pipe<F, In, Policy>>(
            run, self.options, std::forward<Self>(self).function, in, out));
        return out;
    }

    F function;
};

}  // namespace detail

/// Applies a function to each item.
///
/// \param function  called with an item (moved in). What it returns decides what the stage does:
///                  - a value: that is the item for the next stage;
///                  - `std::optional`: an empty one drops the item;
///                  - `task<U>`, or any awaitable: it is awaited, and its result taken as above;
///                  - `generator<U>`, `async_generator<U>`: each value is an item, put as it comes.
///                  Each run gets a copy of the function (start a pipeline as an rvalue to move it),
///                  which its slots share: with a concurrency over 1 several threads call it at once.
/// \param options   see `stage_options`.
/// Order:    with one slot, items leave in the order in which they came; with more, as they are done.
/// Errors:   an exception from the function fails the item: see `stage_options::max_failures`.
template <class F>
[[nodiscard]] auto pipe(F&& function, stage_options options = {}) {
    if (options.name.empty()) options.name = "pipe";
    return detail::pipe_stage<std::decay_t<F>>(std::forward<F>(function), std::move(options));
}

}  // namespace weir

#endif
