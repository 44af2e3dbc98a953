#ifndef BENCH_SCALE_MEMORY_HPP
#define BENCH_SCALE_MEMORY_HPP

#include "common/harness.hpp"

// What one more channel, stage and slot take from the heap.
void report_memory(bench::session& session);

#endif
