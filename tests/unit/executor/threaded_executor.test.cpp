#include <weir/executor/threaded_executor.hpp>

#include "support/catch.hpp"

#include <weir/executor/timer.hpp>
#include <weir/measure/clock.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/platform.hpp>
#include <weir/platform/process.hpp>

#include <coroutine>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

// Of the threads of such a one the last can't be started.
struct failing_platform : weir::detail::standard_platform {
    static inline int left = 0;
    struct thread {
        thread() = default;
        template <class Function>
        explicit thread(Function&& function) {
            if (left-- == 0) throw std::system_error(std::make_error_code(std::errc::invalid_argument));
            it = std::thread(function);
        }
        void join() { it.join(); }
        void detach() { it.detach(); }
        std::thread it;
    };
};

// Whose threads have nothing to do. Notes what it is asked.
template <class Platform = weir::detail::standard_platform>
class lazy final : public weir::detail::threaded_executor<Platform> {
    using base = weir::detail::threaded_executor<Platform>;

  public:
    explicit lazy(unsigned threads, int* expected = nullptr)
        : base(threads, "too few", false, "lazy", nullptr), expected_(expected) {
        this->start();
    }
    ~lazy() { this->end(false); }
    void post(std::coroutine_handle<> h) noexcept override { this->post_from_outside(h); }
    bool drive(weir::executor::flag&, weir::time_point) override { return false; }
    void* take() { return this->inbox_.pop(); }
    bool has_one() const { return this->has_timer(); }

    int taken = 0;
    std::vector<std::int64_t> deadlines;

  private:
    typename base::wake_up wake_up_for_post() noexcept override {
        ++taken;
        return {};
    }
    typename base::wake_up wake_up_for_timer(std::int64_t deadline) noexcept override {
        deadlines.push_back(deadline);
        return {};
    }
    void wake_all() noexcept override { over_.set(); }
    bool work(unsigned) noexcept override {
        while (!over_.wait()) {
        }
        return false;
    }
    std::uint64_t num_resumed() const noexcept override { return 0; }
    bool is_crowded() const noexcept override { return false; }
    void expect(int threads) noexcept override {
        if (expected_ != nullptr) *expected_ += threads;
    }

    int* const expected_;
    weir::detail::parker over_;
};

}  // namespace

TEST_CASE("a pool has as many threads as its traits say, and at least one") {
    lazy<> two(2);
    CHECK(two.traits().parallelism == 2);
    CHECK(two.traits().has_threads);
    CHECK_FALSE(two.orphaned());
    CHECK_THROWS_AS(lazy<>(0), std::invalid_argument);
    CHECK_THROWS_WITH(lazy<>(static_cast<unsigned>(-1)), "too few");
}

TEST_CASE("a post wakes a thread, and an added timer does so only if it is the earliest") {
    lazy<> one(1);
    const auto nobody = std::noop_coroutine();
    one.post(nobody);
    CHECK(one.taken == 1);
    CHECK(one.take() == nobody.address());

    const auto at = [](std::int64_t ns) { return weir::time_point(weir::duration(ns)); };
    weir::timer late(at(200), nobody), early(at(100), nobody), later(at(300), nobody), off(at(5), nobody);
    one.add(late);
    one.add(early);
    one.add(later);
    CHECK(one.deadlines == std::vector<std::int64_t>{200, 100});
    CHECK(one.has_one());
    one.cancel(off);  // before it is added, so it is posted when it is
    CHECK(one.taken == 1);
    one.add(off);
    CHECK(one.taken == 2);
    one.cancel(late);
    one.cancel(early);
    one.cancel(later);
    CHECK(one.taken == 5);
    CHECK_FALSE(one.has_one());
    while (one.take() != nullptr) continue;
}

TEST_CASE("if a thread can't be started, the pool learns how many are missing, and the others end") {
    failing_platform::left = 2;
    int expected = 0;
    CHECK_THROWS_AS(lazy<failing_platform>(3, &expected), std::system_error);
    CHECK(expected == 2);
}

namespace {

class plain final : public weir::executor {
  public:
    void post(std::coroutine_handle<>) noexcept override { std::abort(); }
    void add(weir::timer&) noexcept override { std::abort(); }
    void cancel(weir::timer&) noexcept override { std::abort(); }
    bool drive(flag&, weir::time_point) override { return true; }
    using executor::users;
};

}  // namespace

TEST_CASE("an executor that was left behind accepts every call and runs nothing") {
    alignas(plain) unsigned char place[sizeof(plain)];
    auto* const ex = std::construct_at(reinterpret_cast<plain*>(place));
    weir::executor* volatile seen = ex;
    ex->users().join(weir::detail::executor_user::run);
    ex->users().leave_behind(static_cast<weir::executor*>(ex), weir::detail::left_executor::functions());
    std::destroy_at(ex);

    weir::executor& left = *seen;
    left.post(std::noop_coroutine());
    weir::timer t(weir::time_point(), std::noop_coroutine());
    left.add(t);
    left.cancel(t);
    weir::detail::parker done;
    CHECK_FALSE(left.drive(done, weir::time_point::max()));
    CHECK(left.now() > weir::time_point());
}
