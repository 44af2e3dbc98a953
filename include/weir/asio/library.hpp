// weir asio: which Asio it is: the one of its own, or Boost's
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_ASIO_LIBRARY_HPP
#define WEIR_ASIO_LIBRARY_HPP

#include <weir/platform/config.hpp>

#include WEIR_ASIO_FILE(error.hpp)

namespace weir::asio::inline WEIR_ASIO_KIND {

/// `::asio`, or `::boost::asio` where only that one is found or `WEIR_USE_BOOST_ASIO` is defined. Code
/// that names Asio by this compiles with either.
namespace lib = ::WEIR_ASIO_LIBRARY;

}  // namespace weir::asio::inline WEIR_ASIO_KIND

#endif
