#include <weir/run/failure_sink.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/run/invocation.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/task.hpp>

#include <chrono>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using weir::failure;
using weir::virtual_time;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> heard;

// Hears what nobody asks for, for as long as it lives.
class listener {
  public:
    listener() { heard.clear(); }
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    ~listener() { weir::set_failure_sink(before_); }

  private:
    static void hear(std::string_view run, const weir::pipeline_failure& what) noexcept {
        heard.push_back(std::string(run) + ": " + what.stage() + ": " + what.failures().front().message());
    }
    const weir::failure_sink before_ = weir::set_failure_sink(&hear);
};

auto fails() {
    return weir::source(std::views::iota(0, 100)) |
           weir::pipe(
               [](int n) {
                   if (n == 5) throw std::runtime_error("five");
                   return n;
               },
               {.name = "decode"}) |
           weir::sink(100);
}

const std::vector<std::string> once = {"src | decode | sink: decode: five"};

}  // namespace

TEST_CASE(
    "the failure of a run that is destroyed before anybody asked is told, once, and with the run's name") {
    const listener here;
    virtual_time time;
    {
        auto run = fails().start(time);
        time.run();
        CHECK(heard.empty());
        run.stop();
        auto moved = std::move(run);
        CHECK(heard.empty());
    }
    CHECK(heard == once);
    {
        weir::thread_pool pool(2);
        auto run = fails().start(pool);
        while (run.outcome() == weir::run_outcome::running) {
        }
    }
    CHECK(heard.size() == 2);
}

TEST_CASE("a consumer that leaves before the failure doesn't hide it") {
    const listener here;
    virtual_time time;
    {
        auto run = fails().start(time);
        CHECK(run.get() == 0);
        time.run();
        CHECK(run.get() == 1);
    }
    CHECK(heard == once);
}

TEST_CASE("a failure that somebody was thrown, or on_failure was told of, is not told again") {
    const listener here;
    virtual_time time;
    {
        auto run = fails().start(time);
        CHECK(items::take_until_failure(run).failed);
    }
    {
        const auto run = fails().start(time, {.on_failure = [](const failure&) {}});
        time.run();
    }
    {
        const auto run = fails().start(time, {.max_failures = 1});
        time.run();
    }
    CHECK(heard.empty());
}

TEST_CASE("what fails in on_failure itself, in a hook or in on_lap is told, whoever else listens") {
    const listener here;
    virtual_time time;
    struct bad_end final : weir::hook {
        void stage_ends(const std::string&) override { throw std::runtime_error("hook"); }
    };
    {
        const auto run =
            fails().start(time, {.on_failure = [](const failure&) { throw std::logic_error("told"); }});
        time.run();
    }
    CHECK(heard == once);
    {
        const auto run = fails().start(time, {.max_failures = 1,
                                              .on_failure = [](const failure&) {},
                                              .hooks = {std::make_shared<bad_end>()}});
        time.run();
    }
    CHECK(heard.size() == 2);
}

TEST_CASE("what fails because the run is stopped is not told") {
    const listener here;
    virtual_time time;
    const auto gives_up = [](int n, const weir::invocation& call) -> weir::task<int> {
        co_await weir::sleep_for(1ms);
        if (call.stop().stop_requested()) throw std::runtime_error("cancelled");
        co_return n;
    };
    {
        auto run = (weir::source(std::views::iota(0)) | weir::pipe(gives_up) | weir::sink()).start(time);
        CHECK(run.get() == 0);
        run.request_stop();
    }
    CHECK(heard.empty());
}

TEST_CASE("a sink that is null hears nothing, and each that is set gives back the one before") {
    const listener here;
    const weir::failure_sink mine = weir::set_failure_sink(nullptr);
    virtual_time time;
    {
        const auto run = fails().start(time);
        time.run();
    }
    CHECK(heard.empty());
    CHECK(weir::set_failure_sink(mine) == nullptr);
}
