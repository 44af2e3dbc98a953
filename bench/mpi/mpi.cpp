// A channel between two ranks beside a plain loop of MPI_Isend and MPI_Irecv with the same window: the rate, and the time
// from a rank to the other; and the statistics of a lap of both ranks beside the plain reduction. Starts itself under mpirun.
//
//     bench/run mpi [--json] [--quick] [PART OF A TITLE]
#include "blocks.hpp"

#include "common/harness.hpp"

#include <weir/mpi/channel.hpp>
#include <weir/mpi/world.hpp>
#include <weir/report/rank_stats.hpp>
#include <weir/weir.hpp>

#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace {

using bench::block;
using channel = weir::mpi::channel<block>;

// Windows.
const std::uint64_t usual = weir::mpi::channel_options().capacity;
constexpr std::uint64_t narrow = 8;

// What rank 0 tells rank 1 to do.
struct order {
    enum kind : std::uint64_t {
        end,
        plain_rate,
        weir_rate,
        plain_way,
        weir_way,
        plain_lap,
        weir_lap
    } what = end;
    std::uint64_t size = 0;
    std::uint64_t n = 0;
    std::uint64_t window = usual;
};

int as_int(std::uint64_t n) { return static_cast<int>(n); }

void plain_rate(MPI_Comm comm, int me, const order& o) {
    std::vector<block> blocks(o.window);
    for (block& b : blocks) b.resize(o.size);
    std::vector<MPI_Request> pending(o.window, MPI_REQUEST_NULL);
    for (std::uint64_t i = 0; i < o.n; ++i) {
        const std::size_t at = i % o.window;
        MPI_Wait(&pending[at], MPI_STATUS_IGNORE);
        if (me == 0) {
            MPI_Isend(blocks[at].data(), as_int(o.size), MPI_BYTE, 1, 0, comm, &pending[at]);
        } else {
            MPI_Irecv(blocks[at].data(), as_int(o.size), MPI_BYTE, 0, 0, comm, &pending[at]);
        }
    }
    MPI_Waitall(as_int(o.window), pending.data(), MPI_STATUSES_IGNORE);
    MPI_Barrier(comm);
}

void plain_way(MPI_Comm comm, int me, const order& o) {
    block b;
    b.resize(o.size);
    for (std::uint64_t i = 0; i < o.n; ++i) {
        for (int side = 0; side < 2; ++side) {
            MPI_Request pending = MPI_REQUEST_NULL;
            if (side == me) {
                MPI_Isend(b.data(), as_int(o.size), MPI_BYTE, 1 - me, 0, comm, &pending);
            } else {
                MPI_Irecv(b.data(), as_int(o.size), MPI_BYTE, 1 - me, 0, comm, &pending);
            }
            MPI_Wait(&pending, MPI_STATUS_IGNORE);
        }
    }
}

weir::task<> put_all(channel& to, order o) {
    for (std::uint64_t i = 0; i < o.n; ++i) {
        block b;
        b.resize(o.size);
        co_await to.put(std::move(b));
    }
}
weir::task<> get_all(channel& from, order o) {
    for (std::uint64_t i = 0; i < o.n; ++i) static_cast<void>(co_await from.get());
}
weir::task<> first(channel& there, channel& back, order o) {
    for (std::uint64_t i = 0; i < o.n; ++i) {
        block b;
        b.resize(o.size);
        co_await there.put(std::move(b));
        static_cast<void>(co_await back.get());
    }
}
weir::task<> second(channel& there, channel& back, order o) {
    for (std::uint64_t i = 0; i < o.n; ++i) {
        auto b = co_await there.get();
        co_await back.put(std::move(*b));
    }
}

// What a `rank_report` does for a lap of a pipeline of five stages: a source, three pipes and a sink.
class laps {
  public:
    explicit laps(const weir::mpi::communicator& all)
        : all_(all), mine_(of_a_run()),
          layout_(std::vector<std::string>(static_cast<std::size_t>(all.size()), weir::rank_outline(mine_))) {
    }

    weir::task<> merge(std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            std::vector<std::uint64_t> words = layout_.pack(mine_, static_cast<std::size_t>(all_.rank()));
            co_await all_.all_reduce(std::span(words), weir::mpi::reduction::sum);
            bench::keep(layout_.unpack(words));
        }
    }
    void reduce(MPI_Comm comm, std::uint64_t n) const {
        std::vector<std::uint64_t> words(layout_.size());
        for (std::uint64_t i = 0; i < n; ++i) {
            MPI_Allreduce(MPI_IN_PLACE, words.data(), as_int(words.size()), MPI_UINT64_T, MPI_SUM, comm);
        }
    }

  private:
    static weir::pipeline_stats of_a_run() {
        weir::thread_pool pool(1);
        const auto same = [](int n) { return n; };
        auto run = (weir::source(std::views::iota(0, 10'000)) | weir::pipe(same) | weir::pipe(same) |
                    weir::pipe(same) | weir::sink())
                       .start(pool);
        while (run.get()) {
        }
        return run.stats();
    }
    const weir::mpi::communicator all_;
    const weir::pipeline_stats mine_;
    const weir::rank_layout layout_;
};

// Both ranks call this with the same order.
class both_ranks {
  public:
    explicit both_ranks(weir::mpi::world& all)
        : all_(all), pool_(1), plain_(weir::sync_wait(all.duplicate())), there_(all, pool_, role(0, usual)),
          there_narrow_(all, pool_, role(0, narrow)), back_(all, pool_, role(1, usual)), laps_(all) {}

    void run(const order& o) {
        const int me = all_.rank();
        switch (o.what) {
            case order::plain_rate:
                return plain_rate(plain_.handle(), me, o);
            case order::plain_way:
                return plain_way(plain_.handle(), me, o);
            case order::weir_rate:
                if (me == 0) weir::sync_wait(pool_, put_all(there(o), o));
                if (me == 1) weir::sync_wait(pool_, get_all(there(o), o));
                return weir::sync_wait(all_.barrier());
            case order::weir_way:
                if (me == 0) weir::sync_wait(pool_, first(there_, back_, o));
                if (me == 1) weir::sync_wait(pool_, second(there_, back_, o));
                return;
            case order::plain_lap:
                return laps_.reduce(plain_.handle(), o.n);
            case order::weir_lap:
                return weir::sync_wait(pool_, laps_.merge(o.n));
            case order::end:
                return;
        }
    }
    // On rank 0: tells rank 1, too.
    void tell_and_run(const order& o) {
        MPI_Send(&o, sizeof o, MPI_BYTE, 1, 1, plain_.handle());
        run(o);
    }
    // On rank 1.
    void obey() {
        for (order o;;) {
            MPI_Recv(&o, sizeof o, MPI_BYTE, 0, 1, plain_.handle(), MPI_STATUS_IGNORE);
            if (o.what == order::end) return;
            run(o);
        }
    }

  private:
    channel& there(const order& o) { return o.window == narrow ? there_narrow_ : there_; }
    weir::mpi::channel_options role(int producer, std::size_t window) const {
        weir::mpi::channel_options mine;
        mine.capacity = window;
        mine.puts = all_.rank() == producer;
        mine.gets = !mine.puts;
        return mine;
    }
    weir::mpi::world& all_;
    weir::thread_pool pool_;
    weir::mpi::communicator plain_;
    channel there_;
    channel there_narrow_;
    channel back_;
    laps laps_;
};

std::string words(std::uint64_t bytes) {
    return bytes < 1024 ? std::to_string(bytes) + " bytes" : std::to_string(bytes / 1024) + " KiB";
}

void compare(both_ranks& ranks, int argc, char** argv) {
    bench::session session("mpi", argc, argv);
    const auto contest = [&](const std::string& title, std::uint64_t size, order::kind ours,
                             order::kind theirs, std::uint64_t window = usual) {
        bench::group group(session, title + ", " + words(size), "an item");
        const auto play = [&](order::kind what) {
            return [&ranks, size, what, window](std::uint64_t n) {
                ranks.tell_and_run({what, size, n, window});
            };
        };
        group.ours("weir::mpi::channel", play(ours));
        group.peer("MPI_Isend, MPI_Irecv", play(theirs));
        group.run();
    };
    for (const std::uint64_t size : {8U, 4096U, 65'536U, 1'048'576U}) {
        contest("one way, window " + std::to_string(usual), size, order::weir_rate, order::plain_rate);
    }
    for (const std::uint64_t size : {65'536U, 1'048'576U}) {
        contest("one way, window " + std::to_string(narrow), size, order::weir_rate, order::plain_rate,
                narrow);
    }
    for (const std::uint64_t size : {8U, 4096U, 65'536U, 1'048'576U}) {
        contest("there and back", size, order::weir_way, order::plain_way);
    }
    bench::group group(session, "statistics of both ranks", "a lap");
    group.ours("weir::mpi::rank_report",
               [&](std::uint64_t n) { ranks.tell_and_run({order::weir_lap, 0, n}); });
    group.peer("MPI_Allreduce", [&](std::uint64_t n) { ranks.tell_and_run({order::plain_lap, 0, n}); });
    group.run();
}

}  // namespace

int main(int argc, char** argv) {
    const char* const started = "WEIR_BENCH_MPI_STARTED";
    if (std::getenv(started) == nullptr) {
        setenv(started, "yes", 1);
        std::string mpirun = "mpirun";
        std::vector<std::string> words{"mpirun", "-n", "2", "--oversubscribe", "--allow-run-as-root"};
        words.insert(words.end(), argv, argv + argc);
        std::vector<char*> all;
        for (std::string& w : words) all.push_back(w.data());
        all.push_back(nullptr);
        execvp(mpirun.c_str(), all.data());
        std::perror("mpirun");
        return 77;
    }
    weir::mpi::world all;
    return all.run([&] {
        both_ranks ranks(all);
        if (all.rank() == 1) return ranks.obey();
        compare(ranks, argc, argv);
        ranks.tell_and_run({order::end, 0, 0});
    });
}
