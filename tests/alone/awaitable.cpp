#include <weir/awaitable.hpp>

#include <coroutine>
#include <type_traits>

class done {
  public:
    bool await_ready() const { return true; }
    void await_suspend(std::coroutine_handle<>) const {}
    int await_resume() const { return 1; }
};

static_assert(weir::awaitable<done>);
static_assert(std::is_same_v<weir::await_result_t<done>, int>);
