// tasks: tasks on the executor alone.
#include "runner.hpp"

#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tasks {
namespace {

class task_runner final : public runner {
  public:
    explicit task_runner(const context& c)
        : context_(c), wave_(static_cast<std::uint64_t>(c.asked.of("app_wave"))),
          size_(static_cast<std::size_t>(c.asked.of("app_size"))), fused_(c.asked.is("cfg_fuse", "on")) {}

    totals pass(std::uint64_t items) override {
        context_.work.begin_batch(context_.pool);
        return weir::sync_wait(context_.pool, all(items));
    }

    void tell(values& effective) const override {
        for (const std::string& none : factors_of_pipelines())
            effective.set(none, find_factor(none)->base_text());
        effective.set("app_shape", "executor");
        effective.set("app_stages", static_cast<integer>(context_.work.stages()));
        effective.set("cfg_fuse", fused_ ? "on" : "off");
        effective.set("app_wave", static_cast<integer>(wave_));
        effective.set("app_size", static_cast<integer>(size_));
    }

  private:
    weir::task<totals> all(std::uint64_t items) {
        totals seen;
        for (std::uint64_t next = 0; next < items;) {
            const std::uint64_t end = std::min(items, next + wave_);
            std::vector<weir::task<item>> wave;
            wave.reserve(end - next);
            for (; next < end; ++next) wave.push_back(one(next));
            const std::vector<item> done = co_await weir::when_all(std::move(wave));
            for (const item& x : done) seen.add(x);
        }
        co_return seen;
    }

    weir::task<item> one(std::uint64_t number) {
        item x(number, size_, context_.times.on());
        const std::uint64_t stages = context_.work.stages();
        for (std::uint64_t s = 0; s < stages; ++s) {
            if (context_.work.waits()) {
                item next = co_await context_.work.wait(std::move(x), s);
                x = std::move(next);
            } else if (fused_) {
                context_.work.work(x, s);
            } else {
                item next = co_await stage(std::move(x), s);
                x = std::move(next);
            }
        }
        context_.times.end_of(x);
        co_return x;
    }

    weir::task<item> stage(item x, std::uint64_t s) const {
        context_.work.work(x, s);
        co_return x;
    }

    const context context_;
    std::uint64_t wave_;
    std::size_t size_;
    bool fused_;
};

}  // namespace

std::unique_ptr<runner> make_tasks(const context& c) { return std::make_unique<task_runner>(c); }

}  // namespace tasks
