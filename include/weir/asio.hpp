// weir: operations of Asio in coroutines, an executor on its context, and its coroutines and ours in each other
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_HPP
#define WEIR_ASIO_HPP

#include <weir/asio/awaited.hpp>
#include <weir/asio/awaiting.hpp>
#include <weir/asio/awaiting_unless.hpp>
#include <weir/asio/io_executor.hpp>
#include <weir/asio/library.hpp>
#include <weir/asio/native_awaitable.hpp>

#endif
