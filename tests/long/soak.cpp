// soak [SECONDS]: for a minute, one random run after the other on pools that stay: consumed to the end, left
// early, stopped by a token, failed, resized and paused by another thread. Fails if an item is lost, doubled
// or destroyed twice, and if the process has more threads or open files at the end than after a quarter of
// the time, or more than 1 MiB of memory more. (Of less than half a minute memory says nothing: it is not
// looked at then.)
#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/graph/route.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

// How many items there are. One that is destroyed twice makes it negative at the end of its trial.
std::atomic<std::int64_t> alive{0};

// Moves only, and knows its number; what was moved from is no item any more.
class item {
    static constexpr std::uint64_t none = UINT64_MAX;
    std::uint64_t number_;

  public:
    explicit item(std::uint64_t number) noexcept : number_(number) { alive.fetch_add(1); }
    item(item&& other) noexcept : number_(std::exchange(other.number_, none)) {}
    item& operator=(item&& other) noexcept {
        if (this != &other) {
            strike();
            number_ = std::exchange(other.number_, none);
        }
        return *this;
    }
    ~item() { strike(); }
    std::uint64_t number() const noexcept { return number_; }

  private:
    void strike() noexcept {
        if (number_ != none) alive.fetch_sub(1);
    }
};

item same(item&& i) { return std::move(i); }
weir::task<item> waits(item i) {
    if (i.number() % 5 == 0) co_await weir::yield();
    if (i.number() % 97 == 0) co_await weir::sleep_for(20us);
    co_return i;
}
item blocks(item&& i) {
    if (i.number() % 211 == 0) std::this_thread::sleep_for(50us);
    return std::move(i);
}

struct pools {
    weir::thread_pool compute{3};
    weir::blocking_pool io{3};
};

// What a run was asked to do, and what came of it.
struct tally {
    std::uint64_t runs = 0;
    std::uint64_t items = 0;
    std::uint64_t whole = 0;
    std::uint64_t failed = 0;
    std::uint64_t wrong = 0;
};

class trial {
  public:
    trial(pools& where, std::uint64_t seed) : pools_(where), random_(seed) {
        items_ = 1 + random_() % 3000;
        fails_at_ = random_() % 4 == 0 ? random_() % items_ : none;
        tolerates_ = random_() % 2 == 0;
        leaves_at_ = random_() % 4 == 0 ? random_() % items_ : none;
        stops_at_ = random_() % 4 == 0 ? random_() % items_ : none;
    }

    void play(tally& all) {
        seen_.assign(items_, 0);
        const std::uint64_t slots = 1 + random_() % 4;
        const bool in_order = random_() % 2 == 0;
        auto source = weir::source(
            [n = std::uint64_t{0}, this]() mutable {
                return n < items_ ? std::optional<item>(item(n++)) : std::nullopt;
            },
            {.capacity = 1 + random_() % 8});
        auto middle =
            weir::pipe(waits, {.name = "waits",
                               .concurrency = slots,
                               .output_order =
                                   in_order ? weir::output_order::input : weir::output_order::completion}) |
            weir::pipe(
                [this](item&& i) {
                    if (i.number() == fails_at_) throw std::runtime_error("as it was asked to");
                    return std::move(i);
                },
                {.name = "fails", .concurrency = 1 + random_() % 2}) |
            weir::pipe(blocks, {.name = "blocks", .concurrency = 1 + random_() % 3, .executor = &pools_.io});
        weir::run_options options;
        options.stop = stop_.get_token();
        if (tolerates_) options.max_failures = weir::unlimited;
        options.later_stages_first = random_() % 4 == 0;
        if (random_() % 4 == 0) {
            options.lap = 1ms;
            options.on_lap = [](const weir::pipeline_stats&) {};
        }
        if (random_() % 2 == 0) {
            consume((std::move(source) | std::move(middle) | weir::sink(1 + random_() % 4))
                        .start(pools_.compute, options),
                    all);
        } else {
            consume((std::move(source) | std::move(middle) |
                     weir::route([](const item& i) { return static_cast<std::size_t>(i.number() % 2); },
                                 weir::branch("even", weir::pipe(same)), weir::branch("odd")) |
                     weir::sink(1 + random_() % 4))
                        .start(pools_.compute, options),
                    all);
        }
        if (alive != 0) ++all.wrong;
        ++all.runs;
    }

  private:
    static constexpr std::uint64_t none = UINT64_MAX;

    template <class Run>
    void unrest(Run& run, std::uint64_t seed, const std::atomic<bool>& over) const {
        std::mt19937_64 random(seed);
        while (!over) {
            switch (random() % 4) {
                case 0:
                    run.set_concurrency("waits", 1 + random() % 5);
                    break;
                case 1:
                    run.set_capacity("waits", 1 + random() % 8);
                    break;
                case 2:
                    run.pause();
                    std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
                    run.resume();
                    break;
                default:
                    static_cast<void>(run.stats());
            }
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
        }
    }

    template <class Run>
    void consume(Run run, tally& all) {
        std::atomic<bool> over = false;
        std::optional<std::thread> other;
        if (random_() % 4 == 0) {
            other.emplace([&, seed = random_()] { unrest(run, seed, over); });
        }
        std::uint64_t taken = 0;
        bool whole = false;
        bool failed = false;
        try {
            while (taken != leaves_at_) {
                if (taken == stops_at_) stop_.request_stop();
                auto got = run.get();
                if (!got) {
                    whole = true;
                    break;
                }
                ++taken;
                ++seen_[got->number()];
            }
        } catch (const weir::pipeline_failure& e) {
            failed = true;
            if (e.stage() != "fails" || tolerates_) ++all.wrong;
        }
        over = true;
        if (other) other->join();
        // Left early or stopped: what is inside is destroyed by the run, below. The token may have come too
        // late to matter: then everything has to be there.
        const bool stopped = stops_at_ <= taken;
        const bool fails = fails_at_ != none;
        for (const int times : seen_) all.wrong += times > 1 ? 1U : 0U;
        if (whole && !stopped && taken != items_ - (fails ? 1 : 0)) ++all.wrong;
        if (whole && !stopped && fails && !tolerates_) ++all.wrong;
        all.items += taken;
        all.whole += whole && !stopped ? 1U : 0U;
        all.failed += failed ? 1U : 0U;
    }

    pools& pools_;
    std::mt19937_64 random_;
    std::uint64_t items_;
    std::uint64_t fails_at_;
    std::uint64_t leaves_at_;
    std::uint64_t stops_at_;
    bool tolerates_;
    weir::stop_source stop_;
    std::vector<int> seen_;
};

struct process {
    std::int64_t memory = 0;  // resident, in KiB
    std::int64_t threads = 0;
    std::int64_t open_files = 0;

    static std::int64_t entries(const char* folder) {
        return std::distance(std::filesystem::directory_iterator(folder), {});
    }
    static process now() {
        process p;
        std::int64_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages >> pages;
        p.memory = pages * sysconf(_SC_PAGESIZE) / 1024;
        p.threads = entries("/proc/self/task");
        p.open_files = entries("/proc/self/fd");
        return p;
    }
};

void print(const char* when, const process& p) {
    std::cout << when << ": " << p.memory << " KiB, " << p.threads << " threads, " << p.open_files
              << " open files" << std::endl;
}

}  // namespace

int main(int argc, char** argv) try {
    const std::chrono::duration<double> time(argc > 1 ? std::stod(argv[1]) : 60);
    const auto start = std::chrono::steady_clock::now();
    pools where;
    tally all;
    std::optional<process> settled;
    std::uint64_t seed = 0;
    while (true) {
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        if (!settled && passed >= time / 4) {
            settled = process::now();
            print("after a quarter", *settled);
        }
        if (passed >= time && settled) break;
        trial(where, ++seed).play(all);
    }
    const process end = process::now();
    print("at the end", end);
    const bool flat = end.memory - settled->memory < 1024 || time < 30s;
    const bool steady = flat && end.threads == settled->threads && end.open_files == settled->open_files;
    std::cout << all.runs << " runs, of which " << all.whole << " to the end and " << all.failed
              << " failed, " << all.items << " items; " << all.wrong << " wrong"
              << (steady ? "" : "; the process has GROWN") << '\n';
    return all.wrong == 0 && steady ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return EXIT_FAILURE;
}
