// weir: operations of Asio in coroutines, and an executor on its context
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_HPP
#define WEIR_ASIO_HPP

#include <weir/asio/awaiting.hpp>
#include <weir/asio/io_executor.hpp>

#endif
