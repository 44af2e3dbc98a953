#include <weir/priority_lanes.hpp>

#include <coroutine>

void share(weir::executor& pool, std::coroutine_handle<> decode, std::coroutine_handle<> train) {
    weir::priority_lanes lanes(pool);
    weir::executor& low = lanes.add();
    weir::executor& high = lanes.add();
    low.post(decode);
    high.post(train);
}
