// libcoro's pool, and its rings, whose capacities are template arguments.
#ifndef BENCH_COMMON_LIBCORO_HPP
#define BENCH_COMMON_LIBCORO_HPP

#include "common/check.hpp"

#include <coro/ring_buffer.hpp>
#include <coro/thread_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace bench {

inline std::shared_ptr<coro::thread_pool> libcoro_pool(unsigned workers) {
    return coro::thread_pool::make_unique({.thread_count = static_cast<std::uint32_t>(workers),
                                           .on_thread_start_functor = nullptr,
                                           .on_thread_stop_functor = nullptr});
}

// Calls `body` with the requested one of `Capacities`, as a type.
template <std::size_t... Capacities, class Body>
void with_capacity(std::size_t capacity, Body body) {
    const bool found =
        ((capacity == Capacities && (body(std::integral_constant<std::size_t, Capacities>()), true)) || ...);
    check(found, "a ring of that capacity was compiled");
}

}  // namespace bench

#endif
