// Counts the heap bytes of the program, which replaces operator new.
#ifndef BENCH_SCALE_HEAP_HPP
#define BENCH_SCALE_HEAP_HPP

#include <cstddef>

namespace heap {

// The requested bytes, without the overhead of the allocator.
std::size_t bytes_in_use() noexcept;

}  // namespace heap

#endif
