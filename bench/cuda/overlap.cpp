// The share of the copies of `to_device` that is hidden behind the work of their consumer, or the other way round.
#include "device_work.hpp"
#include "measure.hpp"
#include "parts.hpp"

#include <weir/cuda/context.hpp>
#include <weir/cuda/pinned_pool.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/to_device.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/measure/stats.hpp>
#include <weir/stages/pipeline.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bench_cuda {
namespace {

constexpr double goal = 0.97;
constexpr std::size_t bytes = std::size_t{16} << 20;  // bytes of a batch
constexpr std::size_t num_sources = 8;                // several, so that batches don't come from a cache

// The host is at most two batches ahead of the device, as a training loop that looks at its loss.
class training {
  public:
    explicit training(const device_work& work) : work_(work) {
        for (cudaEvent_t& e : done_) {
            must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        }
    }
    training(const training&) = delete;
    training& operator=(const training&) = delete;
    ~training() {
        for (cudaEvent_t e : done_) static_cast<void>(cudaEventDestroy(e));
    }
    // 0 seconds: no work.
    void step(cudaStream_t s, double seconds) {
        cudaEvent_t const done = done_[step_++ % done_.size()];
        must(cudaEventSynchronize(done), "cudaEventSynchronize");
        if (seconds > 0) work_.queue(s, seconds);
        must(cudaEventRecord(done, s), "cudaEventRecord");
    }

  private:
    const device_work& work_;
    std::array<cudaEvent_t, 2> done_{};
    std::size_t step_ = 0;
};

class setting {
  public:
    explicit setting(bool quick) : batches_(quick ? 20 : 300), sources_(num_sources) {
        for (auto& s : sources_) s.assign(bytes / sizeof(float), 1.0F);
    }

    double a_batch(double seconds_of_all) const { return seconds_of_all / static_cast<double>(batches_); }
    std::size_t batches() const { return batches_; }
    std::size_t depth() const { return depth_; }

    void compute(double seconds) {
        for (std::size_t i = 0; i < batches_; ++i) training_.step(consumer_.get(), seconds);
        must(cudaStreamSynchronize(consumer_.get()), "cudaStreamSynchronize");
    }

    weir::transfer_stats pipeline(weir::cuda::hand_on when, double seconds) {
        std::size_t made = 0;
        auto batches = [this, &made]() -> std::optional<std::span<const float>> {
            if (made == batches_) return std::nullopt;
            return std::span<const float>(sources_[made++ % num_sources]);
        };
        auto p = weir::source(batches) |
                 weir::cuda::to_device(gpu_, pinned_, {.depth = depth_, .when = when}) | weir::sink(2);
        auto run = p.start(workers_);
        std::size_t taken = 0;
        for (auto& batch : run) {
            batch.hand_over(consumer_);
            training_.step(consumer_.get(), seconds);
            ++taken;
        }
        must(cudaStreamSynchronize(consumer_.get()), "cudaStreamSynchronize");
        bench::check(taken == batches_, "every batch arrives");
        for (const weir::stage_stats& s : run.stats().stages) {
            if (s.transfers) return *s.transfers;
        }
        bench::check(false, "the stage that copies has its statistics");
        return {};
    }

  private:
    std::size_t batches_;
    std::size_t cores_ = std::max(2U, std::thread::hardware_concurrency());
    std::size_t depth_ = std::clamp<std::size_t>(cores_ / 2, 2, 8);  // packing is slower than copying
    device_work work_;
    training training_{work_};
    weir::thread_pool workers_{static_cast<unsigned>(depth_)};
    weir::cuda::context gpu_;
    weir::cuda::stream consumer_{gpu_};
    weir::cuda::pinned_pool pinned_{gpu_, bytes, 2 * depth_};
    std::vector<std::vector<float>> sources_;
};

}  // namespace

void overlap(bench::session& session) {
    const auto title = [](bool at_once) {
        return std::string("overlap, to_device with a consumer's stream, ") +
               (at_once ? "handed on at once" : "handed on when copied");
    };
    if (!session.wants(title(true)) && !session.wants(title(false))) return;
    setting s(session.quick());
    note(session,
         "Copy: the pipeline of " + std::to_string(s.batches()) + " batches of " + bytes_text(bytes) +
             ", depth " + std::to_string(s.depth()) +
             ", packing included, with nothing to do for its consumer. Hidden: copy + compute - both, of "
             "the shorter of the two; goal 0.97. Behind it what the run's statistics say: which share of "
             "the copies' time the consumer's stream didn't notice, and bytes a second while the device "
             "copied. " +
             device_work::what() + ".");
    const std::size_t rounds = session.quick() ? 3 : 7;
    for (const bool at_once : {true, false}) {
        if (!session.wants(title(at_once))) continue;
        const auto when = at_once ? weir::cuda::hand_on::at_once : weir::cuda::hand_on::when_copied;
        table out(session, title(at_once), "compute, a batch",
                  {"copy ms", "compute ms", "both ms", "hidden", "min", "max", "stats hidden", "stats GB/s"});
        const auto alone = [&] { static_cast<void>(s.pipeline(when, 0)); };
        const double copy = s.a_batch(median(time_in_turns({alone}, 3)[0]));
        for (const auto& [name, factor] :
             {std::pair{"half as long as a copy", 0.5}, std::pair{"as long as a copy", 1.0},
              std::pair{"twice as long as a copy", 2.0}}) {
            std::vector<double> said_hidden;
            std::vector<double> said_rate;
            const double seconds = copy * factor;
            const auto both = [&] {
                const weir::transfer_stats said = s.pipeline(when, seconds);
                said_hidden.push_back(said.hidden());
                said_rate.push_back(said.rate() * 1e-9);
            };
            const auto times = time_in_turns({alone, [&] { s.compute(seconds); }, both}, rounds);
            std::vector<double> hidden;
            for (std::size_t i = 0; i < rounds; ++i) {
                hidden.push_back((times[0][i] + times[1][i] - times[2][i]) /
                                 std::min(times[0][i], times[1][i]));
            }
            const double share = median(hidden);
            out.line(name,
                     {median(times[0]) * 1e3, median(times[1]) * 1e3, median(times[2]) * 1e3, share,
                      quantile(hidden, 0), quantile(hidden, 1), median(said_hidden), median(said_rate)},
                     against(share, goal));
        }
    }
}

}  // namespace bench_cuda
