// expect-error: weir: when_all and when_any would give a reference that may be into an awaitable
// What when_all is given without a name is gone when its results are used.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <coroutine>

class shows_its_own {
  public:
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    int& await_resume() noexcept { return n_; }

  private:
    int n_ = 0;
};

weir::task<int> look() {
    const auto [n] = co_await weir::when_all(shows_its_own());
    co_return n + 0;
}

int main() {}
