// weir insight, internal: which consumers `headspace` takes, and how it calls them again with kept items
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_INSIGHT_REPEATED_CONSUMER_HPP
#define WEIR_INSIGHT_REPEATED_CONSUMER_HPP

#include <weir/platform/config.hpp>

#include <optional>     // for std::optional
#include <type_traits>  // for std::conditional_t, std::invoke_result, std::is_copy_constructible_v
#include <utility>      // for std::as_const, std::move

namespace weir::detail {

// Whether items can be copied. `is_copy_constructible` alone is also true for a vector of objects that can
// only be moved.
template <class T>
constexpr bool is_copyable_item() {
    if constexpr (!std::is_copy_constructible_v<T>) {
        return false;
    } else if constexpr (requires { typename T::value_type; }) {
        if constexpr (std::is_same_v<typename T::value_type, T> || !std::is_object_v<typename T::value_type>)
            return true;
        else
            return is_copyable_item<typename T::value_type>();
    } else {
        return true;
    }
}

// How to call a consumer with an item of type T: by lvalue if the consumer takes lvalues, else by move. And
// whether the consumer is a function or a coroutine.
template <class Consumer, class T>
struct consumer_of {
    static constexpr bool takes_lvalue = std::is_invocable_v<Consumer&, T&>;
    static constexpr bool is_possible = takes_lvalue || std::is_invocable_v<Consumer&, T>;
    static constexpr bool can_repeat = takes_lvalue || is_copyable_item<T>();

    static decltype(auto) give(Consumer& consumer, T& item) {
        if constexpr (takes_lvalue) {
            return consumer(item);
        } else {
            return consumer(std::move(item));
        }
    }
    using result = typename std::conditional_t<
        takes_lvalue, std::invoke_result<Consumer&, T&>,
        std::conditional_t<is_possible, std::invoke_result<Consumer&, T>, std::type_identity<void>>>::type;
    static constexpr bool is_awaitable =
        requires(result r) { std::move(r).operator co_await(); } || requires(result r) { r.await_ready(); };
    // Whether the consumer returns a task without a result. `headspace` awaits the consumer in a coroutine of
    // the same return type.
    static constexpr bool is_task =
        is_awaitable && requires(typename std::remove_cvref_t<result>::promise_type p) { p.return_void(); };
};

// A kept item for one call of the consumer: a copy, as the consumer may change its argument; or a reference
// to the kept item, if items can't be copied.
template <class T>
class kept_item {
  public:
    explicit kept_item(T& original) : original_(&original) {
        if constexpr (is_copyable_item<T>()) copy_.emplace(std::as_const(original));
    }
    T& value() noexcept { return copy_ ? *copy_ : *original_; }
    void destroy() noexcept { copy_.reset(); }

  private:
    T* original_;
    std::optional<T> copy_;
};

template <class T, class Consumer>
constexpr bool is_usable_consumer() {
    using taker = consumer_of<Consumer, T>;
    static_assert(taker::is_possible,
                  "weir: headspace calls its consumer with each item of the pipeline, and this one does not "
                  "take them: [](item_type& item) { use(item); }");
    if constexpr (taker::is_possible) {
        static_assert(taker::can_repeat,
                      "weir: headspace gives the same items to the consumer again and again; this consumer "
                      "takes them by value, and they can't be copied: take them by reference, [](item_type& "
                      "item) { use(item); }, or hold them by std::shared_ptr");
        static_assert(taker::is_task || !taker::is_awaitable,
                      "weir: a consumer of headspace is a function, or a coroutine that returns "
                      "weir::task<>; this one returns something else that can be awaited");
        return taker::can_repeat && (taker::is_task || !taker::is_awaitable);
    } else {
        return false;
    }
}

}  // namespace weir::detail

#endif
