// expect-error: weir: to_device copies elements that lie in a row and are trivially copyable, as those of a std::vector<float>; name the part of the batch to copy if there is one: to_device(gpu, pool, {}, &batch::pixels)
// What has pointers in it is of no use on a device.
// SPDX-License-Identifier: BSL-1.0
#include <weir/cuda/to_device.hpp>

#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>

#include <string>
#include <vector>

void send(weir::cuda::context& gpu, weir::cuda::pinned_pool& pool, weir::executor& home) {
    const std::vector<std::vector<std::string>> batches;
    auto run = (weir::source(batches) | weir::cuda::to_device(gpu, pool) | weir::sink()).start(home);
}

int main() {}
