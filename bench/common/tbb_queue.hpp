#ifndef BENCH_COMMON_TBB_QUEUE_HPP
#define BENCH_COMMON_TBB_QUEUE_HPP

#include <tbb/concurrent_queue.h>

#include <cstddef>

namespace bench {

template <class T>
struct tbb_queue : tbb::concurrent_bounded_queue<T> {
    explicit tbb_queue(std::size_t capacity) { this->set_capacity(static_cast<std::ptrdiff_t>(capacity)); }
};

}  // namespace bench

#endif
