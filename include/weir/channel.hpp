// weir: the bounded queue
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CHANNEL_HPP
#define WEIR_CHANNEL_HPP

#include <weir/channel/channel.hpp>
#include <weir/channel/get_result.hpp>
#include <weir/channel/item_size.hpp>
#include <weir/channel/select.hpp>
#include <weir/channel/select_case.hpp>
#include <weir/channel/timed_operations.hpp>

#endif
