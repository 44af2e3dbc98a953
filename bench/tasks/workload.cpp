#include "workload.hpp"

#include "scratch_file.hpp"

#include "common/harness.hpp"

#include <weir/task/sync_wait.hpp>

#include <algorithm>
#include <array>

namespace tasks {
namespace {

kind_of_work kind_named(const std::string& name) {
    constexpr std::array names{"noop", "cpu", "sleep", "memory", "io", "chain"};
    return static_cast<kind_of_work>(std::ranges::find(names, name) - names.begin());
}

// Each thread has its own buffer, as a real program would have.
void touch(std::size_t bytes) {
    thread_local std::vector<unsigned char> memory;
    if (memory.size() < bytes) memory.resize(bytes);
    for (std::size_t i = 0; i < bytes; i += 8) ++memory[i];
    bench::keep(memory.data());
}

void write_and_read(std::size_t bytes) {
    thread_local scratch_file file(scratch_kind::any);
    thread_local std::vector<char> memory;
    memory.resize(bytes);
    file.write_at_begin(memory.data(), bytes);
    file.read_at_begin(memory.data(), bytes);
}

void spin(std::uint64_t rounds) {
    std::uint64_t x = 88172645463325252ULL;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        bench::keep(x);
    }
}

// The best of several tries, because other load of the machine slows down the others.
template <class Work>
double fastest_ns(int tries, int each, const Work& work) {
    double best = 1e18;
    for (int i = 0; i < tries; ++i) {
        const std::int64_t begin = nanoseconds_now();
        for (int k = 0; k < each; ++k) work();
        best = std::min(best, static_cast<double>(nanoseconds_now() - begin) / each);
    }
    return best;
}

std::uint64_t rounds_of(double ns) {
    constexpr std::uint64_t many = 100'000;
    return static_cast<std::uint64_t>(ns * many / fastest_ns(20, 1, [] { spin(many); }) + 0.5);
}

}  // namespace

workload::workload(const values& asked, item_log& log)
    : kind_(kind_named(asked.text("app_work"))), stages_(static_cast<std::uint64_t>(asked.of("app_stages"))),
      pause_(asked.of("app_work_ns")), bytes_(asked.of("app_work_bytes")),
      rounds_(kind_ == kind_of_work::cpu || kind_ == kind_of_work::chain
                  ? rounds_of(static_cast<double>(pause_.count()))
                  : 0),
      log_(log) {}

void workload::work_alone() const {
    if (kind_ == kind_of_work::memory) return touch(static_cast<std::size_t>(bytes_));
    if (kind_ == kind_of_work::io) return write_and_read(static_cast<std::size_t>(bytes_));
    spin(rounds_);
}

void workload::begin_batch(weir::executor& ex) {
    if (kind_ != kind_of_work::chain) return;
    tokens_.clear();
    for (std::uint64_t s = 0; s < stages_; ++s) {
        tokens_.push_back(std::make_unique<token>(1, ex));
        if (tokens_.back()->try_put(0) != weir::channel_status::success)
            throw std::logic_error("a queue of one has no room for one");
    }
}

double workload::work_ns() const {
    if (kind_ == kind_of_work::noop) return 0;
    if (kind_ == kind_of_work::sleep) return static_cast<double>(pause_.count());
    const double once = fastest_ns(3, 1, [this] { work_alone(); });
    const int each = static_cast<int>(std::clamp(1e6 / std::max(once, 1.0), 1.0, 1000.0));
    return fastest_ns(5, each, [this] { work_alone(); });
}

}  // namespace tasks
