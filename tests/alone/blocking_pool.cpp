#include <weir/blocking_pool.hpp>

weir::blocking_pool pool(2);
weir::executor& home = pool;
