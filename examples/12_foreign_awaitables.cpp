// Shows a stage that awaits a sender of another library, by the sender's member `as_awaitable`.
// The other library calls back on its own thread; the stage then continues on the pool.
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/task.hpp>

#include <coroutine>
#include <functional>
#include <iostream>
#include <mutex>
#include <ranges>
#include <thread>
#include <utility>
#include <vector>

// Another library, which does not know weir: it computes on threads of its own, and calls back there.
class driver {
    std::mutex lock_;
    std::vector<std::thread> threads_;

  public:
    ~driver() {
        for (std::thread& t : threads_) t.join();
    }
    void square(int n, std::function<void(int)> then) {
        const std::lock_guard guard(lock_);
        threads_.emplace_back([n, then = std::move(then)] { then(n * n); });
    }
};

// Its sender, in the form of std::execution: awaitable in a coroutine with any promise.
class square_sender {
    driver* driver_;
    int n_;

    class awaiter {
        driver* driver_;
        int n_;

      public:
        awaiter(driver& d, int n) : driver_(&d), n_(n) {}
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> h) {
            driver_->square(n_, [this, h](int result) {
                n_ = result;
                h.resume();  // on the driver's thread
            });
        }
        int await_resume() const noexcept { return n_; }
    };

  public:
    square_sender(driver& d, int n) : driver_(&d), n_(n) {}
    template <class Promise>
    auto as_awaitable(Promise&) const {
        return awaiter(*driver_, n_);
    }
};

int main() {
    driver device;
    weir::thread_pool pool(2);
    const auto squared = [&device](int n) -> weir::task<int> {
        const int square = co_await square_sender(device, n);
        co_return square + 1;  // on the pool again
    };
    // clang-format off
    auto pipeline = weir::source(std::views::iota(0, 10))
                  | weir::pipe(squared, {.name = "squared", .concurrency = 4})
                  | weir::pipe([&device](int n) { return square_sender(device, n); }, {.name = "again"})
                  | weir::sink(2);
    // clang-format on
    long sum = 0;
    for (auto run = pipeline.start(pool); const int n : run) sum += n;
    std::cout << "the sum of (n^2 + 1)^2 for n from 0 to 9 is " << sum << '\n';
    return sum == 15'913 ? 0 : 1;
}
