// Times contestants against each other: all of a group in one run, in turns, so that other load of the machine affects all
// of them alike; medians with their spread; ratios against the best peer last.
//
//     int main(int argc, char** argv) {
//         bench::session session("channel", argc, argv);
//         bench::group group(session, "1 to 1, capacity 64, 1 worker", "an item");
//         group.ours("weir", [&](std::uint64_t n) { ... passes n items ... });
//         group.peer("asio", [&](std::uint64_t n) { ... });
//         group.limit("two atomic exchanges", [&](std::uint64_t n) { ... });
//         group.run();
//     }
#ifndef BENCH_COMMON_HARNESS_HPP
#define BENCH_COMMON_HARNESS_HPP

#include "check.hpp"
#include "process_times.hpp"
#include "session.hpp"
#include "session_document.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// A value that the compiler must compute, and can't reason about.
template <class T>
void keep(T& value) {
    asm volatile("" : "+m,r"(value) : : "memory");
}
template <class T>
void keep(const T& value) {
    asm volatile("" : : "m,r"(value) : "memory");
}

// A loop that works for about `ns` without reading a clock; calibrated once per process.
class work {
  public:
    explicit work(double ns) : work(rounds{static_cast<std::uint64_t>(ns / round_ns())}) {}
    void operator()() const {
        std::uint64_t x = 88172645463325252ULL;
        for (std::uint64_t i = 0; i < rounds_; ++i) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            keep(x);
        }
    }

  private:
    struct rounds {
        std::uint64_t number;
    };
    explicit work(rounds r) : rounds_(r.number) {}
    static double round_ns() {
        static const double ns = [] {
            double best = 1e9;
            for (int i = 0; i < 20; ++i) {
                const double start = seconds_now();
                work(rounds{100'000})();
                best = std::min(best, (seconds_now() - start) * 1e9 / 100'000);
            }
            return best;
        }();
        return ns;
    }
    std::uint64_t rounds_;
};

// "1 worker", "2 workers".
inline std::string count(std::uint64_t n, const std::string& what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

// Contestants that do the same work, timed in turns.
class group {
    using kind = contestant_kind;
    struct sample {
        double ns;   // an operation
        double cpu;  // cores in use
    };
    struct contestant {
        std::string name;
        contestant_kind kind;
        std::function<void(std::uint64_t)> run;
        std::uint64_t n = 1;
        std::vector<sample> samples;
    };

  public:
    using body = std::function<void(std::uint64_t)>;

    // \param what  the name of one operation, as in "ns an item".
    group(session& s, std::string title, std::string what)
        : session_(s), title_(std::move(title)), what_(std::move(what)) {}

    // `run(n)` does n operations; it holds everything that is set up only once.
    void ours(std::string name, body run) { add(std::move(name), kind::ours, std::move(run)); }
    void peer(std::string name, body run) { add(std::move(name), kind::peer, std::move(run)); }
    // The time that the machine needs for the unavoidable part of the work.
    void limit(std::string name, body run) { add(std::move(name), kind::limit, std::move(run)); }

    // The smallest amount of work, such as a tree of a fixed size. `run(n)` may do more than n.
    void smallest(std::uint64_t n) { smallest_ = n; }

    // For work that takes a minute: each contestant does the smallest amount, once, without warm-up.
    void once() { once_ = true; }

    void run() {
        if (!session_.wants(title_) || contestants_.empty()) return;
        const double seconds = session_.quick() ? 0.01 : 0.2;
        const std::size_t rounds = once_ ? 1 : 9;
        for (contestant& c : contestants_) {
            c.n = smallest_;
            if (!once_) calibrate(c, seconds);
        }
        for (std::size_t round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < contestants_.size(); ++i) {
                contestant& c = contestants_[(i + round) % contestants_.size()];
                c.samples.push_back(time(c));
            }
        }
        report();
    }

    // After run(): the median of the contestant of that name, in nanoseconds, is a result of the program.
    void headline(const std::string& key, const std::string& name) {
        for (const contestant_figures& c : figures_) {
            if (c.name == name) session_.result(key, c.median);
        }
    }

  private:
    void add(std::string name, kind k, body run) {
        contestants_.push_back({std::move(name), k, std::move(run), smallest_, {}});
    }

    static sample time(contestant& c) {
        at_work = c.name.c_str();
        const double cpu = cpu_seconds();
        const double start = seconds_now();
        c.run(c.n);
        const double wall = seconds_now() - start;
        return {wall * 1e9 / static_cast<double>(c.n), (cpu_seconds() - cpu) / wall};
    }

    // The number of operations that takes long enough. The first repetitions also warm everything up.
    void calibrate(contestant& c, double seconds) {
        while (true) {
            // The shorter of two, because one alone may have been interrupted.
            const double took = std::min(time(c).ns, time(c).ns) * static_cast<double>(c.n) * 1e-9;
            if (took >= seconds / 2) return;
            const double factor = took <= 0 ? 10 : std::clamp(seconds / took, 1.5, 10.0);
            c.n = static_cast<std::uint64_t>(static_cast<double>(c.n) * factor) + 1;
            c.n = (c.n + smallest_ - 1) / smallest_ * smallest_;
        }
    }

    static double median(std::vector<double> v) {
        std::sort(v.begin(), v.end());
        return v[v.size() / 2];
    }

    void report() {
        figures_.clear();
        for (const contestant& c : contestants_) {
            std::vector<double> ns, cpu;
            for (const sample& s : c.samples) {
                ns.push_back(s.ns);
                cpu.push_back(s.cpu);
            }
            const auto [min, max] = std::minmax_element(ns.begin(), ns.end());
            figures_.push_back({c.name, c.kind, median(ns), *min, *max, median(cpu), c.samples.size(), c.n});
        }
        const std::string unit = "ns " + what_;
        if (session_.json()) {
            session_.document().add_group(title_, unit, session::load(), figures_);
            std::fprintf(stderr, "%s\n", title_.c_str());
            return;
        }
        std::printf("\n%s (load %s)\n%-44s %10s %10s %10s %6s %8s\n", title_.c_str(), session::load().c_str(),
                    unit.c_str(), "median", "min", "max", "cores", "of peer");
        const double best_peer = fastest(figures_, kind::peer);
        for (const contestant_figures& c : figures_) {
            std::printf("%-44s %10.1f %10.1f %10.1f %6.2f",
                        (c.kind == kind::limit ? "(limit) " + c.name : c.name).c_str(), c.median, c.min,
                        c.max, c.cores);
            if (best_peer != 0) {
                std::printf(" %8.2f\n", c.median / best_peer);
            } else {
                std::printf(" %8s\n", "-");
            }
        }
        std::fflush(stdout);
    }

    session& session_;
    std::string title_;
    std::string what_;
    std::uint64_t smallest_ = 1;
    bool once_ = false;
    std::vector<contestant> contestants_;
    std::vector<contestant_figures> figures_;  // after run()
};

// A peer's source file adds itself to the program, if it was compiled in: `Scenario` is what the
// program tells it of a group.
//
//     const bench::contestants<scenario> asio([](bench::group& g, const scenario& s) { ... });
template <class Scenario>
class contestants {
  public:
    using adder = void (*)(group&, const Scenario&);
    explicit contestants(adder add) { all().push_back(add); }
    static void join(group& g, const Scenario& s) {
        for (const adder add : all()) add(g, s);
    }

  private:
    static std::vector<adder>& all() {
        static std::vector<adder> adders;
        return adders;
    }
};

}  // namespace bench

#endif
