#include <weir/task_group.hpp>

weir::task<> work() { co_return; }

weir::task<> both(weir::executor& ex) {
    weir::task_group group(ex);
    group.spawn(work());
    co_await group.fork(work());
    co_await group.join();
}
