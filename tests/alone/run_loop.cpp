#include <weir/run_loop.hpp>

#include <coroutine>

void serve(std::coroutine_handle<> h) {
    weir::run_loop loop;
    loop.post(h);
}
