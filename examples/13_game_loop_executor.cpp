// Shows an executor for an existing event loop, here a game's: `post`, timers, the clock, and `drive`, which
// runs one turn of the loop for a thread that waits on it. The clock counts frames of 16 ms.
#include <weir/executor/executor.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <coroutine>
#include <deque>
#include <iostream>
#include <string>
#include <vector>

using namespace std::chrono_literals;

class game_loop final : public weir::executor {
    std::deque<std::coroutine_handle<>> ready_;
    weir::timer_queue timers_;
    int frame_ = 0;

  public:
    void post(std::coroutine_handle<> h) noexcept override { ready_.push_back(h); }
    void add(weir::timer& t) noexcept override {
        if (!timers_.add(t)) post(t.waiter());
    }
    void cancel(weir::timer& t) noexcept override {
        if (timers_.cancel(t, now())) post(t.waiter());
    }
    weir::time_point now() const noexcept override { return weir::time_point(frame_ * 16ms); }
    // Called while the loop's own thread waits, for example for the end of a run. If other threads may wait, too,
    // `drive` returns false to them, and `post` needs a lock.
    bool drive(flag&, weir::time_point limit) override {
        if (now() < limit) next_frame();
        return true;
    }
    void next_frame() {
        ++frame_;
        while (weir::timer* due = timers_.pop_due(now())) post(due->waiter());
        for (auto n = ready_.size(); n > 0 && !ready_.empty(); --n) {
            const auto h = ready_.front();
            ready_.pop_front();
            resume(h);
        }
    }
};

weir::task<std::string> load(std::string asset) {
    co_await weir::sleep_for(48ms);  // three frames
    co_return asset + " is loaded";
}

int main() {
    const std::vector<std::string> assets = {"terrain", "trees", "music", "sounds"};
    auto pipeline = weir::source(assets) | weir::pipe(load, {.concurrency = 2}) | weir::sink(2);

    game_loop loop;
    int loaded = 0;
    {
        auto run = pipeline.start(loop);
        for (int frame = 1; frame <= 5; ++frame) {
            loop.next_frame();
            while (const auto asset = run.get(0ms)) {  // does not wait: a game goes on while its assets load
                std::cout << "frame " << frame << ": " << *asset << '\n';
                ++loaded;
            }
        }
        std::cout << "the player leaves: the run ends after the frames that its loads still take\n";
    }

    auto again = pipeline.start(loop);
    for (const auto& asset : again) {  // waits, and runs frames meanwhile
        std::cout << asset << '\n';
        ++loaded;
    }
    return loaded == 6 ? 0 : 1;
}
