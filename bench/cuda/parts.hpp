// The parts of this benchmark, in the order in which they run.
#ifndef BENCH_CUDA_PARTS_HPP
#define BENCH_CUDA_PARTS_HPP

#include "common/harness.hpp"

namespace bench_cuda {

void calls(bench::session& session);
void copies(bench::session& session);
void pieces(bench::session& session);
void latency(bench::session& session);
void overlap(bench::session& session);
// The last part: afterwards the device does not work.
void broken_device(bench::session& session);

}  // namespace bench_cuda

#endif
