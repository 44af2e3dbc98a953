// tasks: the pool whose clock measures runs, or an executor around it with another clock.
#ifndef BENCH_TASKS_CLOCKS_HPP
#define BENCH_TASKS_CLOCKS_HPP

#include "settings.hpp"

#include <weir/executor/thread_pool.hpp>

#include <coroutine>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

namespace tasks {

// An executor with another clock, as a user would write it.
class clocked_pool final : public weir::executor {
  public:
    using clock = std::int64_t (*)();

    clocked_pool(weir::thread_pool& pool, clock read) : executor(pool.traits()), pool_(pool), read_(read) {}
    ~clocked_pool() { users().abort_if_any(); }

    using executor::post;
    void post(std::coroutine_handle<> h) noexcept override { pool_.post(h); }
    void fork(std::coroutine_handle<> h) noexcept override { pool_.fork(h); }
    void add(weir::timer& t) noexcept override { pool_.add(t); }
    void cancel(weir::timer& t) noexcept override { pool_.cancel(t); }
    weir::time_point now() const noexcept override { return weir::time_point(weir::duration(read_())); }
    bool drive(flag& done, weir::time_point limit) override { return pool_.drive(done, limit); }

  private:
    weir::thread_pool& pool_;
    const clock read_;
};

// The levels of the factor for the clock.
inline std::int64_t read_ticks() { return weir::detail::standard_platform::now(); }
template <clockid_t Id>
std::int64_t read_system() {
    timespec t{};
    clock_gettime(Id, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

class chosen_clock {
  public:
    chosen_clock(const values& asked, weir::thread_pool& pool) : pool_(pool) {
        const std::string level = asked.text("cfg_clock");
        if (level == "ticks_around") around_ = std::make_unique<clocked_pool>(pool, read_ticks);
        if (level == "steady") around_ = std::make_unique<clocked_pool>(pool, read_system<CLOCK_MONOTONIC>);
        if (level == "coarse")
            around_ = std::make_unique<clocked_pool>(pool, read_system<CLOCK_MONOTONIC_COARSE>);
        if (around_ != nullptr) level_ = level;
    }

    weir::executor& executor() { return around_ != nullptr ? static_cast<weir::executor&>(*around_) : pool_; }
    const std::string& level() const { return level_; }

  private:
    weir::thread_pool& pool_;
    std::unique_ptr<clocked_pool> around_;
    std::string level_ = "ticks";
};

}  // namespace tasks

#endif
