// restarts [TIMES]: a job of 4 ranks is killed (SIGKILL to a rank at a random instant), continued by 3 ranks, killed
// again, and continued by 8 ranks, 200 times. Fails if an item is lost or comes twice, or if most jobs end before
// they are killed. Needs mpirun.
#include <weir/executor/thread_pool.hpp>
#include <weir/mpi/job_checkpoint.hpp>
#include <weir/mpi/world.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace files = std::filesystem;
using positions = std::set<std::uint64_t>;

constexpr std::uint64_t size = 400, epochs = 2;

weir::sampler_options sequence(std::uint64_t seed) {
    weir::sampler_options how;
    how.size = size;
    how.seed = seed;
    return how;
}

// Writes at once what is taken, so that it outlives the process.
class taken_file {
  public:
    explicit taken_file(const files::path& path)
        : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666)) {}
    taken_file(const taken_file&) = delete;
    taken_file& operator=(const taken_file&) = delete;
    ~taken_file() { ::close(file_); }
    void add(const weir::draw& d) const {
        const std::string line = std::to_string(d.position) + " " + std::to_string(d.index) + "\n";
        if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
            throw std::runtime_error("what was taken can't be written");
    }

  private:
    int file_;
};

weir::task<weir::draw> some_work(weir::draw d) {
    co_await weir::sleep_for(std::chrono::microseconds(d.index * 7919 % 500));
    co_return d;
}

// An instant at which a rank of a job kills itself: `delay` after the beginning of a round.
struct death {
    long rank;
    long round;
    std::chrono::microseconds delay;
};

void kill_after(std::chrono::microseconds delay) {
    std::thread([delay] {
        std::this_thread::sleep_for(delay);
        ::kill(::getpid(), SIGKILL);
    }).detach();
}

int work(const files::path& folder, std::uint64_t seed, const death& end) {
    weir::mpi::world all;
    return all.run([&] {
        weir::thread_pool pool(1);
        const std::string path = folder / "job.weir";
        weir::sampler_options how = sequence(seed);
        how.shard = weir::shard(all.rank(), all.size());
        how.resume = weir::sync_wait(pool, weir::mpi::load_checkpoint(all, path));
        const taken_file taken(folder / ("taken." + std::to_string(all.rank())));
        auto pipeline = weir::source(weir::draws(weir::sampler(how), epochs)) |
                        weir::pipe(some_work, {.name = "work", .concurrency = 3}) | weir::sink(2);
        auto run = pipeline.start(pool);
        for (long round = 0;; ++round) {
            if (all.rank() == end.rank && round == end.round) kill_after(end.delay);
            const std::optional<weir::draw> item = run.get();
            if (item) taken.add(*item);
            const bool more =
                weir::sync_wait(pool, weir::mpi::another_round(all, item.has_value(), weir::tail::exact));
            if (round % 10 == 9 || !more)
                weir::sync_wait(pool, weir::mpi::save_checkpoint(all, path, run.checkpoint()));
            if (!more) break;
        }
    });
}

positions of(const std::optional<weir::checkpoint>& c) {
    positions all;
    if (!c) return all;
    for (std::uint64_t p = 0; p < size * epochs && p < c->watermark(); ++p) all.insert(p);
    all.insert(c->ahead().begin(), c->ahead().end());
    return all;
}

// Judges a run of the job: what its checkpoint has, and the checkpoint before it has not, was taken once; nothing
// of the earlier checkpoint was taken again.
void judge(const files::path& folder, const positions& before, const positions& after,
           const std::vector<std::uint64_t>& indices) {
    std::map<std::uint64_t, int> taken;
    for (const auto& each : files::directory_iterator(folder)) {
        if (each.path().stem() != "taken") continue;
        std::ifstream in(each.path());
        for (std::uint64_t position = 0, index = 0; in >> position >> index;) {
            if (index != indices.at(position)) throw std::runtime_error("a position has another index");
            if (before.contains(position)) throw std::runtime_error("an item was taken twice");
            ++taken[position];
        }
        in.close();
        files::remove(each.path());
    }
    for (const std::uint64_t p : before) {
        if (!after.contains(p)) throw std::runtime_error("a checkpoint has forgotten an item");
    }
    for (const std::uint64_t p : after) {
        if (!before.contains(p) && taken[p] != 1)
            throw std::runtime_error("position " + std::to_string(p) + " was taken " +
                                     std::to_string(taken[p]) + " times");
    }
}

struct outcome {
    int killed = 0;       // jobs, before their end
    int interrupted = 0;  // of these, the ones that had saved a part of the sequence
};

// One series of jobs.
void series(const std::string& program, const files::path& folder, std::uint64_t seed, outcome& all) {
    std::mt19937_64 random(seed);
    files::remove_all(folder);
    files::create_directories(folder);
    std::vector<std::uint64_t> indices;
    weir::sampler whole(sequence(seed));
    while (const auto d = whole.next_before(epochs)) indices.push_back(d->index);
    positions before;
    for (const int world : {4, 3, 8}) {
        const auto ranks = static_cast<std::uint64_t>(world);
        const std::uint64_t rounds = (size * epochs - before.size()) / ranks;
        const std::string rank = world == 8 ? "-1" : std::to_string(random() % ranks);
        const std::string round = std::to_string(random() % (rounds + 1));
        const std::string delay = std::to_string(random() % 2'000);  // some rounds, in microseconds
        const std::string command = "timeout 60 mpirun -n " + std::to_string(world) +
                                    " --oversubscribe --allow-run-as-root " + program + " " +
                                    folder.string() + " " + std::to_string(seed) + " " + rank + " " + round +
                                    " " + delay + " >/dev/null 2>&1";
        const int status = std::system(command.c_str());
        if (status != 0 && world == 8) throw std::runtime_error("the last job ended with a failure");
        const positions after = of(weir::load_checkpoint(folder / "job.weir"));
        judge(folder, before, after, indices);
        if (status != 0) ++all.killed;
        if (status != 0 && after.size() > before.size()) ++all.interrupted;
        before = after;
    }
    if (before.size() != size * epochs) throw std::runtime_error("items are missing");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 6)
        return work(argv[1], std::strtoull(argv[2], nullptr, 10),
                    {.rank = std::strtol(argv[3], nullptr, 10),
                     .round = std::strtol(argv[4], nullptr, 10),
                     .delay = std::chrono::microseconds(std::strtol(argv[5], nullptr, 10))});
    const std::uint64_t times = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
    const files::path folder = files::temp_directory_path() / "weir_restarts";
    outcome all;
    for (std::uint64_t seed = 1; seed <= times; ++seed) {
        try {
            series(files::absolute(argv[0]).string(), folder, seed, all);
        } catch (const std::exception& e) {
            std::cerr << "restarts: series " << seed << ": " << e.what() << '\n';
            return 1;
        }
    }
    files::remove_all(folder);
    if (static_cast<std::uint64_t>(all.killed) < times) {
        std::cerr << "restarts: only " << all.killed << " of " << 2 * times
                  << " jobs were killed before they ended\n";
        return 1;
    }
    std::cout << "restarts: " << times << " series of 4, 3 and 8 ranks, " << all.killed << " jobs killed, "
              << all.interrupted << " of them behind a checkpoint: each item was taken once\n";
}
