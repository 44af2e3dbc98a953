// weir asio: a completion token that makes operations of Asio awaitable, and cancels them by a stop token
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_AWAITING_UNLESS_HPP
#define WEIR_ASIO_AWAITING_UNLESS_HPP

#include <weir/asio/awaiting.hpp>
#include <weir/asio/library.hpp>
#include <weir/asio/stoppable.hpp>
#include <weir/task/stop_token.hpp>

#include <tuple>        // for std::tuple
#include <type_traits>  // for std::decay_t
#include <utility>      // for std::forward, std::move

namespace weir::asio::inline WEIR_ASIO_KIND {

/// `awaiting` with a stop token: a stop cancels the operation.
template <bool AsTuple>
class basic_awaiting_unless {
  public:
    /// If a stop was requested before the operation begins, the operation is cancelled when it has begun.
    explicit basic_awaiting_unless(stop_token stop) noexcept : stop_(std::move(stop)) {}

    /// The same, with the error code as the first element of a tuple.
    [[nodiscard]] basic_awaiting_unless<true> as_tuple() const noexcept {
        return basic_awaiting_unless<true>(stop_);
    }

    /// The token that cancels the operation.
    [[nodiscard]] const stop_token& stop() const noexcept { return stop_; }

  private:
    stop_token stop_;
};

/// Makes an operation of Asio awaitable, as `awaiting` does, and cancels the operation when a stop is
/// requested. A cancelled operation ends as Asio specifies, usually with the error `operation_aborted`. An
/// operation that ends before the request reaches it returns its result.
///
///     co_await socket.async_connect(where, weir::asio::awaiting_unless(call.stop()));
///
/// Threads: any thread may request the stop. The operation's handlers run in a strand of their own, so
///          several threads may run the `io_context`.
/// Errors:  `std::terminate` if there is no memory to pass on the stop.
[[nodiscard]] inline basic_awaiting_unless<false> awaiting_unless(stop_token stop) noexcept {
    return basic_awaiting_unless<false>(std::move(stop));
}

}  // namespace weir::asio::inline WEIR_ASIO_KIND

template <bool AsTuple, class R, class... As>
class WEIR_ASIO_LIBRARY::async_result<weir::asio::basic_awaiting_unless<AsTuple>, R(As...)> {
  public:
    template <class Initiation, class... InitArgs>
    static auto initiate(Initiation&& initiation, weir::asio::basic_awaiting_unless<AsTuple> token,
                         InitArgs&&... args) {
        using namespace weir::asio::detail;
        return operation<true, std::tuple<std::decay_t<As>...>, AsTuple, std::decay_t<Initiation>,
                         std::decay_t<InitArgs>...>(token.stop(), std::forward<Initiation>(initiation),
                                                    std::forward<InitArgs>(args)...);
    }
};

#endif
