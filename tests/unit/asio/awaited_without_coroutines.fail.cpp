// expect-error: weir: weir::asio::awaited needs Asio's coroutines
// As with clang, which Asio 1.22 takes for a compiler without coroutines.
// SPDX-License-Identifier: BSL-1.0
#include <asio/detail/config.hpp>
#undef ASIO_HAS_CO_AWAIT
#include <weir/asio/awaited.hpp>
