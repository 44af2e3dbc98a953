// Under mpirun, with any number of ranks: items through each shape of a channel, counted and checked on all ranks, a
// pipeline on both sides, and communicators that are made at once. Then, with an argument, one rank throws, stops or dies.
//
//     mpirun -n 4 weir_mpi_ranks ITEMS [throw|hang|die]
// SPDX-License-Identifier: BSL-1.0
#include <weir/mpi.hpp>
#include <weir/weir.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using batch = std::vector<std::uint32_t>;
using counts = std::vector<std::uint64_t>;

void check(bool is_right, const char* what) {
    if (!is_right) throw std::runtime_error(what);
}

// Item `n` of a rank; its size depends on it, so that messages of all kinds are among them.
batch make_item(int rank, std::uint64_t n) {
    batch b(n % 1000 == 999 ? 20'000 : 1 + n % 5, static_cast<std::uint32_t>(n));
    b[0] = static_cast<std::uint32_t>(rank);
    return b;
}

weir::task<> put_all(weir::mpi::channel<batch>& to, int rank, std::uint64_t count) {
    for (std::uint64_t n = 0; n < count; ++n) {
        batch b = make_item(rank, n);
        const bool was_put = co_await to.put(std::move(b));
        check(was_put, "a put failed");
    }
    to.close();
}

// Adds up the items of each rank: each is got once if number and sum are right on all ranks together.
weir::task<> get_all(weir::mpi::channel<batch>& from, counts& number, counts& sum) {
    counts next(number.size());
    while (true) {
        auto b = co_await from.get();
        if (!b) break;
        const std::size_t rank = b->at(0);
        if (b->size() > 1) {
            const std::uint64_t n = b->back();
            check(*b == make_item(static_cast<int>(rank), n), "an item has changed on its way");
            check(n >= next.at(rank), "items of a rank have overtaken each other");
            next[rank] = n + 1;
            sum[rank] += n;
        }
        ++number.at(rank);
    }
}

void exchange(weir::mpi::world& all, weir::executor& pool, int producers, int consumers,
              std::uint64_t items) {
    const bool puts = all.rank() < producers;
    const bool gets = all.rank() >= all.size() - consumers;
    const std::uint64_t each = items / static_cast<std::uint64_t>(producers);
    weir::mpi::channel<batch> c(all, pool, {.capacity = 16, .puts = puts, .gets = gets});
    const auto size = static_cast<std::size_t>(all.size());
    counts number(size);
    counts sum(size);
    std::vector<weir::task<>> both;
    if (puts) both.push_back(put_all(c, all.rank(), each));
    if (gets) both.push_back(get_all(c, number, sum));
    weir::sync_wait(pool, weir::when_all(std::move(both)));
    weir::sync_wait(pool, all.all_reduce(std::span(number), weir::mpi::reduction::sum));
    weir::sync_wait(pool, all.all_reduce(std::span(sum), weir::mpi::reduction::sum));
    std::uint64_t expected = 0;
    for (std::uint64_t n = 0; n < each; ++n) expected += n % 5 != 0 || n % 1000 == 999 ? n : 0;
    for (int r = 0; r < producers; ++r) {
        check(number[static_cast<std::size_t>(r)] == each, "items are lost");
        check(sum[static_cast<std::size_t>(r)] == expected, "items were got twice");
    }
    const weir::mpi::channel_balance b = weir::sync_wait(pool, c.balance());
    check(b.put == b.got + b.returned + b.remaining && b.remaining == 0, "the balance is uneven");
}

void through_pipelines(weir::mpi::world& all, weir::thread_pool& pool) {
    if (all.size() == 1) return;
    const bool prepares = all.rank() != 0;
    std::vector<int> numbers(200);
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto make_batch = [](int n) { return batch(static_cast<std::size_t>(n + 1), 7); };
    std::uint64_t seen = 0;
    weir::mpi::channel<batch> batches(all, pool, {.capacity = 4, .puts = prepares, .gets = !prepares});
    if (prepares) {
        auto run = (weir::source(numbers) | weir::pipe(make_batch) | weir::sink_to(batches)).start(pool);
        run.wait();
    } else {
        while (auto b = batches.blocking_get()) seen += b->size();
    }
    check(prepares || seen == 20'100U * static_cast<unsigned>(all.size() - 1), "batches are lost");
}

weir::task<> duplicate_often(weir::mpi::communicator of, int times, int rank) {
    for (int i = 0; i < times; ++i) {
        co_await weir::sleep_for(std::chrono::microseconds((i * 7 + rank * 11) % 40));
        const weir::mpi::communicator same = co_await of.duplicate();
        check(same.size() == of.size(), "a communicator lacks ranks");
    }
}

// Each rank comes to the creations of the three coroutines in another order.
void make_communicators(weir::mpi::world& all, weir::executor& pool) {
    std::vector<weir::task<>> each;
    for (int i = 0; i < 3; ++i) {
        each.push_back(duplicate_often(weir::sync_wait(pool, all.duplicate()), 30, all.rank() * i));
    }
    weir::sync_wait(pool, weir::when_all(std::move(each)));
}

void fail(weir::mpi::world& all, const std::string& how) {
    if (all.rank() == all.size() - 1) {
        if (how == "throw") throw std::runtime_error("the disk is full");
        static_cast<void>(std::raise(how == "hang" ? SIGSTOP : SIGKILL));
    }
    int never = 0;
    weir::sync_wait(all.recv(std::span(&never, 1), 0, 1));
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t items = argc > 1 ? std::stoull(argv[1]) : 1000;
    weir::mpi::world_options how;
    how.failures.heartbeat = std::chrono::milliseconds(50);
    how.failures.dead_after = std::chrono::milliseconds(argc > 2 ? 1000 : 30'000);
    weir::mpi::world all(how);
    weir::thread_pool pool(2);
    return all.run([&] {
        const int n = all.size();
        exchange(all, pool, n, n, items / 4);
        exchange(all, pool, 1, n == 1 ? 1 : n - 1, items / 4);
        exchange(all, pool, n == 1 ? 1 : n - 1, 1, items / 4);
        exchange(all, pool, (n + 1) / 2, (n + 1) / 2, items / 4);
        through_pipelines(all, pool);
        make_communicators(all, pool);
        if (argc > 2) fail(all, argv[2]);
    });
}
