// Shared by the parts of this benchmark: contestants that are measured in turns, and the output of figures.
#ifndef BENCH_CUDA_MEASURE_HPP
#define BENCH_CUDA_MEASURE_HPP

#include "common/check.hpp"
#include "common/harness.hpp"

#include <weir/cuda/runtime.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench_cuda {

inline void must(cudaError_t code, const char* call) {
    if (code != cudaSuccess) throw weir::cuda::error(code, call);
}

// Memory of the device.
class device_memory {
  public:
    explicit device_memory(std::size_t bytes) { must(cudaMalloc(&memory_, bytes), "cudaMalloc"); }
    device_memory(const device_memory&) = delete;
    device_memory& operator=(const device_memory&) = delete;
    ~device_memory() { static_cast<void>(cudaFree(memory_)); }
    std::byte* get() const { return static_cast<std::byte*>(memory_); }

  private:
    void* memory_ = nullptr;
};

// Page-locked memory of the host.
class pinned_memory {
  public:
    explicit pinned_memory(std::size_t bytes) {
        must(cudaHostAlloc(&memory_, bytes, cudaHostAllocPortable), "cudaHostAlloc");
    }
    pinned_memory(const pinned_memory&) = delete;
    pinned_memory& operator=(const pinned_memory&) = delete;
    ~pinned_memory() { static_cast<void>(cudaFreeHost(memory_)); }
    std::byte* get() const { return static_cast<std::byte*>(memory_); }

  private:
    void* memory_ = nullptr;
};

// The quantile of the values; 0 if there are none.
inline double quantile(std::vector<double> values, double part) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(part * last + 0.5)];
}
inline double median(const std::vector<double>& values) { return quantile(values, 0.5); }

// The seconds of each contestant in each round: times[who][round]. They run in turns, so that other load affects all of
// them alike. A round before the first warms everything up.
inline std::vector<std::vector<double>> time_in_turns(const std::vector<std::function<void()>>& who,
                                                      std::size_t rounds) {
    std::vector<std::vector<double>> times(who.size());
    for (const auto& run : who) run();
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < who.size(); ++i) {
            const std::size_t next = (i + round) % who.size();
            const double start = bench::seconds_now();
            who[next]();
            times[next].push_back(bench::seconds_now() - start);
        }
    }
    return times;
}

// The ratio of two times, round by round.
struct ratio {
    ratio(const std::vector<double>& of, const std::vector<double>& to) {
        std::vector<double> each;
        for (std::size_t i = 0; i < of.size(); ++i) each.push_back(of[i] / to[i]);
        middle = median(each);
        min = quantile(each, 0);
        max = quantile(each, 1);
    }
    double middle = 0;
    double min = 0;
    double max = 0;
};

// A table whose lines are shown as soon as they are known, or go into the session's document.
class table {
  public:
    table(bench::session& s, std::string title, const std::string& first, std::vector<std::string> columns)
        : session_(s), title_(std::move(title)), columns_(std::move(columns)) {
        if (session_.json()) return;
        std::printf("\n%s (load %s)\n%-38s", title_.c_str(), bench::session::load().c_str(), first.c_str());
        for (const std::string& c : columns_) std::printf(" %*s", width(c), c.c_str());
        std::printf("\n");
        std::fflush(stdout);
    }

    void line(const std::string& name, const std::vector<double>& values, const std::string& remark = {}) {
        bench::check(values.size() == columns_.size(), "a line has a value for each column");
        if (session_.json()) {
            bench::json_object one;
            one.add("name", name);
            for (std::size_t i = 0; i < values.size(); ++i) one.add(columns_[i], values[i]);
            if (!remark.empty()) one.add("remark", remark);
            session_.document().add_line(title_, one);
            std::fprintf(stderr, "%s: %s\n", title_.c_str(), name.c_str());
            return;
        }
        std::printf("%-38s", name.c_str());
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::printf(" %*.*f", width(columns_[i]), values[i] < 10 ? 3 : 1, values[i]);
        }
        std::printf("  %s\n", remark.c_str());
        std::fflush(stdout);
    }

  private:
    static int width(const std::string& column) { return std::max(8, static_cast<int>(column.size())); }

    bench::session& session_;
    std::string title_;
    std::vector<std::string> columns_;
};

// A sentence beside the figures.
inline void note(bench::session& s, const std::string& sentence) {
    if (s.json()) {
        s.document().add_note(sentence);
    } else {
        std::printf("%s\n", sentence.c_str());
        std::fflush(stdout);
    }
}

inline std::string bytes_text(std::size_t bytes) {
    if (bytes >= std::size_t{1} << 30) return std::to_string(bytes >> 30) + " GiB";
    if (bytes >= std::size_t{1} << 20) return std::to_string(bytes >> 20) + " MiB";
    return std::to_string(bytes >> 10) + " KiB";
}

// Whether the goal is met.
inline std::string against(double value, double goal) { return value >= goal ? "goal met" : "GOAL MISSED"; }

}  // namespace bench_cuda

#endif
