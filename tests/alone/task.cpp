#include <weir/task.hpp>

weir::task<int> one() { co_return 1; }

weir::task<int> two() { co_return co_await one() + 1; }
