#ifndef BENCH_SCALE_MEMORY_HPP
#define BENCH_SCALE_MEMORY_HPP

#include "common/harness.hpp"

// The heap bytes of one more channel, stage and slot.
void report_memory(bench::session& session);

#endif
