#include <weir/asio/awaited.hpp>

#include "support/catch.hpp"
#include "unit/asio/support.hpp"

#include <weir/asio/native_awaitable.hpp>
#include <weir/channel/channel.hpp>
#include <weir/executor/run_loop.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/task_group.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include WEIR_ASIO_FILE(any_io_executor.hpp)
#include WEIR_ASIO_FILE(bind_cancellation_slot.hpp)
#include WEIR_ASIO_FILE(cancellation_signal.hpp)
#include WEIR_ASIO_FILE(co_spawn.hpp)
#include WEIR_ASIO_FILE(detached.hpp)
#include WEIR_ASIO_FILE(execution_context.hpp)
#include WEIR_ASIO_FILE(io_context.hpp)
#include WEIR_ASIO_FILE(post.hpp)
#include WEIR_ASIO_FILE(steady_timer.hpp)
#include WEIR_ASIO_FILE(strand.hpp)
#include WEIR_ASIO_FILE(use_awaitable.hpp)

// clang-format off
#include WEIR_ASIO_FILE(experimental/awaitable_operators.hpp)
// clang-format on

namespace lib = weir::asio::lib;
using weir::task;
using weir::asio::awaited;
using namespace std::chrono_literals;
using ints = std::vector<int>;

namespace {

task<int> twice(int n) {
    co_await weir::yield();
    co_return 2 * n;
}

task<> fails() {
    co_await weir::yield();
    throw std::runtime_error("its own");
}

class no_default {
  public:
    explicit no_default(int n) : n_(std::make_unique<int>(n)) {}
    int number() const { return *n_; }

  private:
    std::unique_ptr<int> n_;
};

task<no_default> makes(int n) { co_return no_default(n); }

// Spawns a coroutine of Asio's, and notes how it ended.
class spawned {
  public:
    template <class T>
    spawned(lib::io_context& where, lib::awaitable<T> a) {
        lib::co_spawn(where, std::move(a),
                      lib::bind_cancellation_slot(signal.slot(), [this](std::exception_ptr e, auto&&...) {
                          ended = true;
                          error = std::move(e);
                      }));
    }
    void cancel() { signal.emit(lib::cancellation_type::terminal); }
    bool aborted() const {
        if (!error) return false;
        try {
            std::rethrow_exception(error);
        } catch (const lib::system_error& e) {
            return sockets::is_aborted(e.code());
        } catch (...) {
            return false;
        }
    }

    lib::cancellation_signal signal;
    bool ended = false;
    std::exception_ptr error;
};

}  // namespace

TEST_CASE("a coroutine of Asio's awaits tasks, channels, sleeps, joins and runs, on its own executor") {
    sockets::served net(2);
    const auto strand = lib::make_strand(net.io);
    weir::thread_pool pool(1);
    weir::channel<int> numbers(1);
    auto run = (weir::source(std::views::iota(7, 8)) | weir::pipe(twice) | weir::sink()).start(pool);
    int elsewhere = 0;
    const auto here = [&] { elsewhere += strand.running_in_this_thread() ? 0 : 1; };
    const auto on_strand = [&]() -> task<int> {
        here();
        co_await weir::sleep_for(1ns);
        here();
        co_return 3;
    };
    const auto all = [&]() -> lib::awaitable<ints> {
        ints seen;
        seen.push_back(co_await awaited(numbers.put(2)) ? 1 : 0);
        here();
        const std::optional<int> got = co_await awaited(numbers.get());
        seen.push_back(got.value());
        seen.push_back(co_await awaited(on_strand()));
        here();
        seen.push_back(co_await awaited(weir::sleep_for(1ns)) ? 4 : 0);
        const auto [two, three] = co_await awaited(weir::when_all(twice(1), on_strand()));
        seen.push_back(two + three);
        const no_default six = co_await awaited(makes(6));
        seen.push_back(six.number());
        const std::optional<int> item = co_await awaited(run.next());
        seen.push_back(item.value());
        const std::optional<int> end = co_await awaited(run.next());
        seen.push_back(end.value_or(8));
        co_await awaited(weir::yield());
        here();
        co_return seen;
    };
    const ints seen = weir::sync_wait(pool, weir::asio::on(strand, all()));
    CHECK(seen == ints{1, 2, 3, 4, 5, 6, 14, 8});
    CHECK(elsewhere == 0);
}

TEST_CASE("what is awaited throws into the coroutine, which may go on") {
    lib::io_context io;
    std::string what;
    const auto catches = [&]() -> lib::awaitable<void> {
        try {
            co_await awaited(fails());
        } catch (const std::runtime_error& e) {
            what = e.what();
        }
        what += std::to_string(co_await awaited(twice(2)));
    };
    spawned it(io, catches());
    io.run();
    CHECK(it.ended);
    CHECK(what == "its own4");
}

TEST_CASE("a task is spawned as a coroutine of Asio's, for any completion token; or is never begun") {
    lib::io_context io;
    int result = 0;
    bool begun = false;
    const auto begins = [&]() -> task<> {
        begun = true;
        co_return;
    };
    lib::co_spawn(io, awaited(twice(4)), [&](const std::exception_ptr&, int n) { result = n; });
    static_cast<void>(awaited(begins()));
    io.run();
    CHECK(result == 8);
    CHECK_FALSE(begun);
}

TEST_CASE("cancelling the coroutine ends its wait, and no item is lost") {
    lib::io_context io;
    weir::channel<int> numbers(1);
    const auto waits = [&]() -> lib::awaitable<void> { co_await awaited(numbers.get()); };
    const auto works = [&]() -> task<> {
        co_await weir::sleep_for(24h);
        static_cast<void>(co_await numbers.get());
    };
    const auto waits_for_a_task = [&]() -> lib::awaitable<void> { co_await awaited(works()); };
    spawned first(io, waits());
    spawned second(io, waits_for_a_task());
    io.poll();
    CHECK_FALSE(first.ended);
    first.cancel();
    second.cancel();
    io.run();
    CHECK(first.aborted());
    CHECK(second.aborted());
    CHECK(numbers.try_put(1) == weir::channel_status::success);
    CHECK(numbers.try_get().value() == 1);
}

TEST_CASE("an item that was handed over before the cancellation reaches the coroutine") {
    lib::io_context io;
    weir::channel<int> numbers(1);
    std::optional<int> got;
    const auto waits = [&]() -> lib::awaitable<void> { got = co_await awaited(numbers.get()); };
    spawned it(io, waits());
    io.poll();
    CHECK(numbers.try_put(5) == weir::channel_status::success);
    it.cancel();
    io.run();
    CHECK(it.ended);
    CHECK(got == 5);
}

TEST_CASE("the operators of Asio's coroutines cancel the one that is late") {
    using namespace lib::experimental::awaitable_operators;
    lib::io_context io;
    weir::channel<int> numbers(1);
    std::size_t which = 0;
    const auto races = [&]() -> lib::awaitable<void> {
        lib::steady_timer soon(io, 1ns);
        const auto first = co_await (awaited(weir::sleep_for(1h)) || soon.async_wait(lib::use_awaitable));
        which = first.index();
        const auto got = co_await awaited(numbers.get_for(1ns));
        which += got.status() == weir::channel_status::timed_out ? 10 : 0;
    };
    spawned it(io, races());
    io.run();
    CHECK(it.error == nullptr);
    CHECK(which == 11);
    CHECK(numbers.try_put(1) == weir::channel_status::success);
    CHECK(numbers.try_get().value() == 1);
}

TEST_CASE("in a task that is awaited so, coroutines of Asio's are awaited as they are") {
    lib::io_context io;
    const auto theirs = [&]() -> lib::awaitable<int> {
        co_await lib::post(io, lib::use_awaitable);
        co_return 20;
    };
    const auto ours = [&]() -> task<int> { co_return co_await theirs() + 1; };
    int result = 0;
    const auto both = [&]() -> lib::awaitable<void> { result = co_await awaited(ours()); };
    spawned it(io, both());
    io.run();
    CHECK(result == 21);
}

TEST_CASE("items go between a pool and coroutines of Asio's on several threads") {
    sockets::served net(2);
    weir::thread_pool pool(2);
    weir::channel<int> there(2), back(3);
    const auto echoes = [&]() -> lib::awaitable<void> {
        while (true) {
            const std::optional<int> n = co_await awaited(there.get());
            if (!n) break;
            co_await awaited(back.put(*n));
        }
    };
    const auto puts = [&]() -> task<> {
        for (int i = 0; i < 500; ++i) co_await there.put(i);
        there.close();
    };
    const auto gets = [&]() -> task<int> {
        int sum = 0;
        while (const auto n = co_await back.get()) sum += *n;
        co_return sum;
    };
    const auto echoes_all = [&]() -> task<> {
        co_await weir::when_all(weir::asio::on(net.io, echoes()), weir::asio::on(net.io, echoes()));
        back.close();
    };
    auto [nothing, none, sum] = weir::sync_wait(pool, weir::when_all(puts(), echoes_all(), gets()));
    static_cast<void>(nothing);
    static_cast<void>(none);
    CHECK(sum == 499 * 250);
}

TEST_CASE("a context that is destroyed first takes its coroutines and their waits along") {
    weir::channel<int> numbers(1);
    const auto held = std::make_shared<int>(0);
    {
        lib::io_context io;
        const auto waits = [&numbers](std::shared_ptr<int>) -> lib::awaitable<void> {
            co_await awaited(numbers.get());
        };
        const auto sleeps = [](std::shared_ptr<int>) -> task<> { co_await weir::sleep_for(24h); };
        const auto waits_for_a_task = [&sleeps](std::shared_ptr<int> mine) -> lib::awaitable<void> {
            co_await awaited(sleeps(std::move(mine)));
        };
        const auto sleeps_itself = [](std::shared_ptr<int>) -> lib::awaitable<void> {
            co_await awaited(weir::sleep_for(24h));
        };
        lib::co_spawn(io, waits(held), lib::detached);
        lib::co_spawn(lib::make_strand(io), sleeps_itself(held), lib::detached);
        lib::co_spawn(io, waits_for_a_task(held), lib::detached);
        io.poll();
        CHECK(held.use_count() == 4);
    }
    CHECK(held.use_count() == 1);
    CHECK(numbers.try_put(1) == weir::channel_status::success);
    CHECK(numbers.try_get().value() == 1);
}

using weir::asio::detail::guest_executor;
namespace lib = weir::asio::lib;

TEST_CASE("coroutines run and sleep on a guest executor where Asio's executor has it") {
    sockets::served net(2);
    const auto strand = lib::make_strand(net.io);
    guest_executor guest(strand);
    const auto sleeps = [&]() -> weir::task<int> {
        int there = strand.running_in_this_thread() ? 1 : 0;
        co_await weir::sleep_for(std::chrono::nanoseconds(1));
        there += strand.running_in_this_thread() ? 2 : 0;
        co_return sockets::runs_on(guest) ? there : 0;
    };
    CHECK(weir::sync_wait(guest, sleeps()) == 3);
}

TEST_CASE("it says on which executor of Asio's it runs, to who asks by that library") {
    lib::io_context io;
    const guest_executor guest(io.get_executor());
    const void* const native = guest.runs_on(&weir::asio::detail::this_library);
    REQUIRE(native != nullptr);
    CHECK(*static_cast<const lib::any_io_executor*>(native) == io.get_executor());
    const int another = 0;
    CHECK(guest.runs_on(&another) == nullptr);
    CHECK(weir::run_loop().runs_on(&weir::asio::detail::this_library) == nullptr);
}

namespace lib = weir::asio::lib;
using weir::asio::detail::guest_wait_base;
using weir::asio::detail::guest_waits;

namespace {

class noted final : public guest_wait_base {
  public:
    int dropped = 0;

  private:
    void abandon() noexcept override { ++dropped; }
};

}  // namespace

TEST_CASE("a context that is destroyed drops the waits that have not ended, once each") {
    noted first, second, third, fourth;
    auto io = std::make_unique<lib::io_context>();
    guest_waits& all = lib::use_service<guest_waits>(*io);
    all.begin(first);
    all.begin(second);
    all.begin(third);
    all.end(second);
    all.begin(fourth);
    all.end(fourth);
    CHECK(first.dropped + second.dropped + third.dropped + fourth.dropped == 0);
    io.reset();
    CHECK(first.dropped == 1);
    CHECK(second.dropped == 0);
    CHECK(third.dropped == 1);
    CHECK(fourth.dropped == 0);
}
