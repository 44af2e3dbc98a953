#include <weir/thread_pool.hpp>

weir::thread_pool pool(2);
weir::executor& home = pool;
