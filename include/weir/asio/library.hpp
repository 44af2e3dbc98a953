// weir asio: includes Asio, either the standalone library or Boost.Asio, and gives it the name `lib`
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_LIBRARY_HPP
#define WEIR_ASIO_LIBRARY_HPP

#include <weir/platform/config.hpp>

// Asio has members of the name `emit`, which is a macro of Qt. MSVC, g++ and clang know these pragmas.
#pragma push_macro("emit")
#undef emit
#include WEIR_ASIO_FILE(any_io_executor.hpp)
#include WEIR_ASIO_FILE(associated_cancellation_slot.hpp)
#include WEIR_ASIO_FILE(async_result.hpp)
#include WEIR_ASIO_FILE(awaitable.hpp)
#include WEIR_ASIO_FILE(cancellation_signal.hpp)
#include WEIR_ASIO_FILE(cancellation_type.hpp)
#include WEIR_ASIO_FILE(co_spawn.hpp)
#include WEIR_ASIO_FILE(error.hpp)
#include WEIR_ASIO_FILE(execution.hpp)
#include WEIR_ASIO_FILE(execution_context.hpp)
#include WEIR_ASIO_FILE(executor_work_guard.hpp)
#include WEIR_ASIO_FILE(io_context.hpp)
#include WEIR_ASIO_FILE(post.hpp)
#include WEIR_ASIO_FILE(query.hpp)
#include WEIR_ASIO_FILE(steady_timer.hpp)
#include WEIR_ASIO_FILE(strand.hpp)
#include WEIR_ASIO_FILE(system_error.hpp)
#include WEIR_ASIO_FILE(this_coro.hpp)
#include WEIR_ASIO_FILE(use_awaitable.hpp)
#pragma pop_macro("emit")

namespace weir::asio::inline WEIR_ASIO_KIND {

/// `::asio`, or `::boost::asio` if `WEIR_USE_BOOST_ASIO` is defined or standalone Asio is not found. Code
/// that uses this name for Asio compiles with either library.
namespace lib = ::WEIR_ASIO_LIBRARY;

}  // namespace weir::asio::inline WEIR_ASIO_KIND

#endif
