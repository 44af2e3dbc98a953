#include <weir/channel.hpp>

#include <utility>

bool through(weir::channel<int>& c) {
    int n = 1;
    return c.try_put(std::move(n)) == weir::channel_status::success && c.try_get().has_value();
}
