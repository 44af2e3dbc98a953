// expect-error: weir: to_host copies a device_buffer; name the part of the item that is one, if there is: to_host(gpu, pool, {}, &device_batch<batch, float>::data)
// What is on the host needn't come back.
// SPDX-License-Identifier: BSL-1.0
#include <weir/cuda/to_host.hpp>

#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>

#include <vector>

void fetch(weir::cuda::context& gpu, weir::cuda::pinned_pool& pool, weir::executor& home) {
    const std::vector<std::vector<float>> batches;
    auto run = (weir::source(batches) | weir::cuda::to_host(gpu, pool) | weir::sink()).start(home);
}

int main() {}
