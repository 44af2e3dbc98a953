// Times contestants against each other: all of a group in one run, in turns, so that what else the
// machine does meets them alike; medians with their spread; ratios against the best peer last.
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

#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

// A value that the compiler has to compute, and may know nothing of.
template <class T>
void keep(T& value) {
    asm volatile("" : "+m,r"(value) : : "memory");
}
template <class T>
void keep(const T& value) {
    asm volatile("" : : "m,r"(value) : "memory");
}

inline double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double cpu_seconds() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto in_seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return in_seconds(use.ru_utime) + in_seconds(use.ru_stime);
}

// The loop of a stage that works for about `ns` without reading a clock; measured once a process.
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

// What a benchmark program was asked for, and where its figures go.
class session {
  public:
    // --json: one object a line, for programs. --quick: shorter repetitions, to see that it works.
    // --long: also what takes minutes. --workers 1,2,4: in groups for numbers of workers, for these. Any
    // other argument: only the groups whose title contains it.
    session(std::string name, int argc, char** argv) : name_(std::move(name)) {
        for (int i = 1; i < argc; ++i) {
            const std::string_view arg = argv[i];
            if (arg == "--json") {
                json_ = true;
            } else if (arg == "--quick") {
                quick_ = true;
            } else if (arg == "--long") {
                long_ = true;
            } else if (arg == "--workers" && i + 1 < argc && !numbers(argv[i + 1]).empty()) {
                workers_ = numbers(argv[++i]);
            } else if (arg == "--help" || arg.starts_with("-")) {
                std::cerr << name_ << " [--json] [--quick] [--long] [--workers 1,2,4] [PART OF A TITLE]\n";
                std::exit(arg == "--help" ? 0 : 2);
            } else {
                filter_ = arg;
            }
        }
        std::ostringstream out;
        out << name_ << ": " << compiler() << ", " << processor() << ", "
            << std::thread::hardware_concurrency() << " cores, " << kernel() << ", load " << load() << ", "
            << date();
        machine_ = out.str();
        if (json_) {
            std::cout << R"({"benchmark":")" << name_ << R"(","machine":")" << machine_ << "\"}\n";
        } else {
            std::cout << machine_ << "\n";
        }
    }

    bool json() const { return json_; }
    bool quick() const { return quick_; }
    bool takes_long() const { return long_; }
    const std::vector<unsigned>& workers() const { return workers_; }
    bool wants(std::string_view title) const { return title.find(filter_) != title.npos; }
    const std::string& name() const { return name_; }

    // A figure that isn't a time: bytes of a slot, say.
    void value(const std::string& what, double amount, const std::string& unit) {
        if (!wants(what)) return;
        if (json_) {
            std::cout << R"({"benchmark":")" << name_ << R"(","group":")" << what << R"(","value":)" << amount
                      << R"(,"unit":")" << unit << "\"}\n";
        } else {
            std::printf("%-58s %12.*f %s\n", what.c_str(), amount < 10 ? 2 : 1, amount, unit.c_str());
            std::fflush(stdout);
        }
    }

    static std::string load() {
        std::string one;
        std::ifstream("/proc/loadavg") >> one;
        return one.empty() ? "unknown" : one;
    }

  private:
    // Of "1,2,4"; empty where a text isn't like that.
    static std::vector<unsigned> numbers(const std::string& list) {
        constexpr unsigned most = 1024;
        std::vector<unsigned> all;
        std::istringstream in(list);
        char comma = ',';
        for (unsigned n = 0; comma == ',' && in >> n && n >= 1 && n <= most;) {
            all.push_back(n);
            if (!(in >> comma)) return all;
        }
        return {};
    }
    static std::string compiler() {
#if defined(__clang__)
        return "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#elif defined(__GNUC__)
        return "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#else
        return "unknown compiler";
#endif
    }
    static std::string processor() {
        std::ifstream info("/proc/cpuinfo");
        for (std::string line; std::getline(info, line);) {
            if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
        }
        return "unknown processor";
    }
    static std::string kernel() {
        utsname u{};
        uname(&u);
        return std::string(u.sysname) + " " + u.release;
    }
    static std::string date() {
        char text[32];
        const std::time_t now = std::time(nullptr);
        std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
        return text;
    }

    std::string name_;
    std::string machine_;
    std::string_view filter_;
    std::vector<unsigned> workers_{1, 2};
    bool json_ = false;
    bool quick_ = false;
    bool long_ = false;
};

// Contestants in the same work, timed in turns.
class group {
    enum class kind { ours, peer, limit };
    struct sample {
        double ns;   // an operation
        double cpu;  // cores in use
    };
    struct contestant {
        std::string name;
        enum kind kind;
        std::function<void(std::uint64_t)> run;
        std::uint64_t n = 1;
        std::vector<sample> samples;
    };

  public:
    using body = std::function<void(std::uint64_t)>;

    // \param what  one operation is, as in "ns an item".
    group(session& s, std::string title, std::string what)
        : session_(s), title_(std::move(title)), what_(std::move(what)) {}

    // `run(n)` does n operations; what has to be set up for it only once, it holds.
    void ours(std::string name, body run) { add(std::move(name), kind::ours, std::move(run)); }
    void peer(std::string name, body run) { add(std::move(name), kind::peer, std::move(run)); }
    // What the machine needs for the part of the work that can't be left out.
    void limit(std::string name, body run) { add(std::move(name), kind::limit, std::move(run)); }

    // Of what it can't do less than: a tree of a fixed size, say. `run(n)` may do more than n.
    void smallest(std::uint64_t n) { smallest_ = n; }

    // Of what takes a minute: each contestant does the smallest amount, once, and nothing before it.
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

    // How many operations take long enough. The first repetitions also warm everything up.
    void calibrate(contestant& c, double seconds) {
        while (true) {
            // The shorter of two: one alone may have been interrupted for longer than it takes.
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
        struct line {
            const contestant* who;
            double median, min, max, cpu;
        };
        std::vector<line> lines;
        double best_peer = 0;
        for (const contestant& c : contestants_) {
            std::vector<double> ns, cpu;
            for (const sample& s : c.samples) {
                ns.push_back(s.ns);
                cpu.push_back(s.cpu);
            }
            const auto [min, max] = std::minmax_element(ns.begin(), ns.end());
            lines.push_back({&c, median(ns), *min, *max, median(cpu)});
            if (c.kind == kind::peer && (best_peer == 0 || lines.back().median < best_peer)) {
                best_peer = lines.back().median;
            }
        }
        if (!session_.json()) {
            std::printf("\n%s (load %s)\n%-44s %10s %10s %10s %6s %8s\n", title_.c_str(),
                        session::load().c_str(), ("ns " + what_).c_str(), "median", "min", "max", "cores",
                        "of peer");
        }
        for (const line& l : lines) {
            const char* const kinds[] = {"ours", "peer", "limit"};
            const char* const kind_name = kinds[static_cast<int>(l.who->kind)];
            if (session_.json()) {
                std::cout << R"({"benchmark":")" << session_.name() << R"(","group":")" << title_
                          << R"(","name":")" << l.who->name << R"(","kind":")" << kind_name
                          << R"(","unit":"ns )" << what_ << R"(","median":)" << l.median << R"(,"min":)"
                          << l.min << R"(,"max":)" << l.max << R"(,"cores":)" << l.cpu << R"(,"repetitions":)"
                          << l.who->samples.size() << R"(,"n":)" << l.who->n << R"(,"load":)"
                          << session::load() << "}" << std::endl;
                continue;
            }
            std::printf("%-44s %10.1f %10.1f %10.1f %6.2f",
                        (l.who->kind == kind::limit ? "(limit) " + l.who->name : l.who->name).c_str(),
                        l.median, l.min, l.max, l.cpu);
            if (best_peer != 0) {
                std::printf(" %8.2f\n", l.median / best_peer);
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
