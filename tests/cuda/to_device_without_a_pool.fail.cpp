// expect-error: weir: to_device without a pool copies what lies in page-locked memory already: a lease, or a pinned_buffer from pool.acquire<float>(n); all else is packed into blocks of a pool: to_device(gpu, pool)
// There is nothing to pack the batches into.
// SPDX-License-Identifier: BSL-1.0
#include <weir/cuda/to_device.hpp>

#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>

#include <vector>

void send(weir::cuda::context& gpu, weir::executor& home) {
    const std::vector<std::vector<float>> batches;
    auto run = (weir::source(batches) | weir::cuda::to_device(gpu) | weir::sink()).start(home);
}

int main() {}
