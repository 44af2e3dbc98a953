// expect-error: weir: a pinned_buffer holds what a device can copy: elements that are trivially copyable
// What has pointers in it is of no use on a device.
// SPDX-License-Identifier: BSL-1.0
#include <weir/cuda/pinned_pool.hpp>

#include <string>
#include <utility>

auto keep(weir::cuda::lease block) { return weir::cuda::pinned_buffer<std::string>(std::move(block), 1); }

int main() {}
