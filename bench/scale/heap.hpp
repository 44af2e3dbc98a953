// Counts the heap bytes of the program, which replaces operator new.
#ifndef BENCH_SCALE_HEAP_HPP
#define BENCH_SCALE_HEAP_HPP

#include <cstddef>

namespace heap {

// As asked for, without what the allocator adds.
std::size_t bytes_in_use() noexcept;

}  // namespace heap

#endif
