#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <latch>
#include <memory>
#include <optional>
#include <utility>

#include "scenario.hpp"

namespace spawn {
namespace {

// Named by its type: the default one is type-erased, and slower.
using executor = asio::thread_pool::executor_type;
template <class T>
using awaitable = asio::awaitable<T, executor>;
constexpr asio::use_awaitable_t<executor> use_awaitable{};

struct place {
    explicit place(unsigned workers) : pool(workers) {}
    ~place() { pool.join(); }
    asio::thread_pool pool;
    bench::tally tally;
};

// Posted functions; the last one to end runs the continuation.

void post_all(place& here, std::latch& left, std::uint64_t tasks) {
    for (std::uint64_t i = 0; i < tasks; ++i) {
        asio::post(here.pool, [&here, &left] {
            here.tally.count();
            left.count_down();
        });
    }
}

struct node {
    node* parent;
    std::atomic<unsigned> left;
    std::atomic<std::uint64_t> sum{0};
};

void end(node* parent, std::uint64_t value) {
    while (true) {
        parent->sum.fetch_add(value, std::memory_order_relaxed);
        if (parent->left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        const std::unique_ptr<node> ended(parent->parent == nullptr ? nullptr : parent);
        if (!ended) return parent->left.notify_one();
        value = ended->sum.load(std::memory_order_relaxed);
        parent = ended->parent;
    }
}

void post_fib(place& here, node* parent, std::uint64_t n) {
    if (n < 2) return end(parent, n);
    node* const both = new node{parent, 2};
    asio::post(here.pool, [&here, both, n] { post_fib(here, both, n - 1); });
    asio::post(here.pool, [&here, both, n] { post_fib(here, both, n - 2); });
}

void post_leaves(place& here, node* parent, std::uint64_t first, std::uint64_t leaves) {
    if (leaves == 1) return end(parent, first);
    node* const all = new node{parent, fan_out};
    const std::uint64_t each = leaves / fan_out;
    for (unsigned i = 0; i < fan_out; ++i) {
        const std::uint64_t from = first + i * each;
        asio::post(here.pool, [&here, all, from, each] { post_leaves(here, all, from, each); });
    }
}

struct waves {
    place& here;
    const std::uint64_t tasks;
    std::uint64_t times;
    std::latch over{1};
    std::atomic<std::uint64_t> left{0};

    void post() {
        left.store(tasks, std::memory_order_relaxed);
        // All may have ended as soon as the last is posted.
        for (std::uint64_t i = 0, n = tasks; i < n; ++i) {
            asio::post(here.pool, [this] {
                here.tally.count();
                if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
                if (--times == 0) return over.count_down();
                post();
            });
        }
    }
};

std::uint64_t post_tree(place& here, const scenario& s) {
    node root{nullptr, 1};
    asio::post(here.pool, [&here, &root, s] {
        if (s.what == shape::skynet) {
            post_leaves(here, &root, 0, s.size);
        } else {
            post_fib(here, &root, s.size);
        }
    });
    root.left.wait(1);
    return root.sum.load();
}

// Coroutines.

awaitable<std::uint64_t> count(place& here) {
    here.tally.count();
    co_return 0;
}

void spawn_all(place& here, std::latch& left, std::uint64_t tasks) {
    for (std::uint64_t i = 0; i < tasks; ++i) {
        asio::co_spawn(here.pool.get_executor(), count(here),
                       [&left](std::exception_ptr, std::uint64_t) { left.count_down(); });
    }
}

// Awaits any number of coroutines; the operator && of Asio is for two.
template <class Handler>
struct children {
    Handler parent;
    std::atomic<std::uint64_t> left;
    std::atomic<std::uint64_t> sum{0};

    void ended(std::uint64_t value) {
        sum.fetch_add(value, std::memory_order_relaxed);
        if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        const std::unique_ptr<children> last(this);
        Handler go_on = std::move(parent);
        go_on(sum.load(std::memory_order_relaxed));
    }
};

// `start(i)` gives the i-th coroutine; the result is the sum of their results.
template <class Start>
awaitable<std::uint64_t> join(place& here, std::uint64_t number, Start start) {
    const auto initiate = [](auto handler, place* at, std::uint64_t n, Start* make) {
        using all = children<decltype(handler)>;
        all* const joined = new all{std::move(handler), n};
        for (std::uint64_t i = 0; i < n; ++i) {
            asio::co_spawn(at->pool.get_executor(), (*make)(i),
                           [joined](std::exception_ptr, std::uint64_t v) { joined->ended(v); });
        }
    };
    const std::uint64_t sum =
        co_await asio::async_initiate<const asio::use_awaitable_t<executor>, void(std::uint64_t)>(
            initiate, use_awaitable, &here, number, &start);
    co_return sum;
}

awaitable<std::uint64_t> sum_leaves(place& here, std::uint64_t first, std::uint64_t leaves) {
    if (leaves == 1) co_return first;
    const std::uint64_t each = leaves / fan_out;
    const auto start = [&here, first, each](std::uint64_t i) {
        return sum_leaves(here, first + i * each, each);
    };
    const std::uint64_t sum = co_await join(here, fan_out, start);
    co_return sum;
}

awaitable<std::uint64_t> join_again(place& here, std::uint64_t tasks, std::uint64_t times) {
    const auto start = [&here](std::uint64_t) { return count(here); };
    for (std::uint64_t i = 0; i < times; ++i) co_await join(here, tasks, start);
    co_return 0;
}

std::uint64_t wait_for(place& here, awaitable<std::uint64_t> root) {
    std::latch over(1);
    std::uint64_t result = 0;
    asio::co_spawn(here.pool.get_executor(), std::move(root), [&](std::exception_ptr, std::uint64_t value) {
        result = value;
        over.count_down();
    });
    over.wait();
    return result;
}

// The contestants.

using spawner = void (*)(place&, std::latch&, std::uint64_t);

bench::group::body independent(const scenario& s, std::shared_ptr<place> here, spawner spawn) {
    return repeat(s, [s, here, spawn] {
        std::latch left(static_cast<std::ptrdiff_t>(s.size));
        if (s.what == shape::outside) {
            spawn(*here, left, s.size);
        } else {
            asio::post(here->pool, [&] { spawn(*here, left, s.size); });
        }
        left.wait();
        return here->tally.take();
    });
}

bench::group::body posts(const scenario& s) {
    const auto here = std::make_shared<place>(s.workers);
    if (s.what == shape::fork_join || s.what == shape::skynet) {
        return repeat(s, [here, s] { return post_tree(*here, s); });
    }
    if (s.what != shape::wide_join) return independent(s, here, post_all);
    return [here, s](std::uint64_t n) {
        waves all{*here, s.size, n / s.size};
        all.post();
        all.over.wait();
        bench::check(here->tally.take() == n, "spawn");
    };
}

bench::group::body coroutines(const scenario& s) {
    const auto here = std::make_shared<place>(s.workers);
    switch (s.what) {
        case shape::outside:
        case shape::inside:
            return independent(s, here, spawn_all);
        case shape::fork_join:
            return {};
        case shape::skynet:
            return repeat(s, [here, s] { return wait_for(*here, sum_leaves(*here, 0, s.size)); });
        case shape::wide_join:
            return [here, s](std::uint64_t n) {
                wait_for(*here, join_again(*here, s.size, n / s.size));
                bench::check(here->tally.take() == n, "spawn");
            };
    }
    return {};
}

const bench::contestants<scenario> asio_tasks([](bench::group& group, const scenario& s) {
    group.peer("asio, post of functions", posts(s));
    // Tasks run in the order of posting, so a tree is walked breadth first: fib(30) would take 2 GB and 3 s.
    if (s.what != shape::fork_join) group.peer("asio, co_spawn", coroutines(s));
});

}  // namespace
}  // namespace spawn
