// weir run, internal: `WEIR_DIAGNOSE=1` in the environment profiles the stages of each run before it goes on
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_DIAGNOSIS_HPP
#define WEIR_RUN_DIAGNOSIS_HPP

#include <weir/measure/clock.hpp>
#include <weir/platform/bounds.hpp>
#include <weir/run/profile_trial.hpp>
#include <weir/run/rehearsal.hpp>
#include <weir/run/stage_trials.hpp>

#include <cstddef>      // for std::size_t
#include <cstdio>       // for std::fprintf, std::fputs
#include <cstdlib>      // for std::getenv
#include <exception>    // for std::exception_ptr
#include <memory>       // for std::make_unique, std::unique_ptr
#include <stdexcept>    // for std::invalid_argument
#include <string>       // for std::string
#include <string_view>  // for std::string_view

// `WEIR_DIAGNOSE=1 program` is the program with a table on stderr for each run, which says what each stage
// could give alone: see `profile`, which measures in the same way. Nothing of the program has to be changed,
// and nothing is lost:
// - The first 1000 items of each source, or up to 4000 where batches of them would be too few for a later
//   stage, go through the stages one stage at a time, each item once, and on to
//   the consumer, who waits until the first of them has passed the last stage. So what acts on the outside
//   does it once for each item, and in the order in which it would. Then the run goes on as it was described;
//   its statistics are of all of it.
// - A stage that may have several slots is called by up to 32 threads at once, whatever its concurrency; only
//   a `for_each` of one slot keeps that.
// - Nothing blocks: `start` returns at once, and the run's executor does it all.
// - A trial has 10 s, or 3 s in which nothing moves, and all together have 60 s. Then the run goes on. The
//   table says what was not tried, as where a source waits for what later stages, or the consumer, give back.
// - Functions that don't await get no more slots than leave their executor a thread, of three or more, or
//   than they were given: what frees a thread that they block may be a later stage. A coroutine that blocks
//   its thread, and not before a tenth of the items, needs threads for 32 of them.
// - A run that is stopped, or fails, before all are tried, says so. Several runs at a time are not alone.
// `WEIR_DIAGNOSE=0`, or an empty one, is none; with anything else `start` throws `std::invalid_argument`.

namespace weir::detail {

class printed_trials final : public stage_trials {
  public:
    printed_trials() noexcept
        : stage_trials(1000, concurrencies,
                       {.still = duration(3'000'000'000),
                        .trial = duration(10'000'000'000),
                        .all = duration(60'000'000'000),
                        .leaves_threads = true,
                        .rounds = 3}) {}

    void finish(rehearsed_run& run) override {
        if (run.is_cut_short()) {
            std::fputs("weir: WEIR_DIAGNOSE=1: the run ended before all of its stages were tried\n", stderr);
        } else {
            std::fputs(lines_.foot().c_str(), stderr);
        }
    }
    void gave_up(rehearsed_run&, std::exception_ptr) noexcept override {
        std::fputs("weir: WEIR_DIAGNOSE=1: memory lacks to try the stages of a run; it goes on without\n",
                   stderr);
    }

  private:
    static constexpr std::size_t concurrencies[] = {1, 4, 8, 16, 32};

    void begins(rehearsed_run& run) override {
        std::size_t widest = 0;
        for (std::size_t i = 0; i < run.num_stages(); ++i) {
            widest = detail::larger(widest, run.name_of(i).size());
        }
        lines_ = profile_lines(widest);
        std::fprintf(stderr,
                     "weir: WEIR_DIAGNOSE=1: each stage alone first, with up to 32 slots, on the first 1000 "
                     "items, for "
                     "60 s at most; then the run goes on\n\n%s",
                     lines_.head().c_str());
    }
    void begins(const rehearsed_run&, std::size_t, std::size_t) override {}
    void found(const rehearsed_run& run, std::size_t stage, std::size_t place,
               const profile_trial& trial) override {
        if (place == 0) base_ = trial;
        const bool grows = num_trials(run, stage) > 1;
        const std::string name = place == 0 ? run.name_of(stage) : std::string();
        std::fputs(lines_.line(name, trial, grows ? &base_ : nullptr).c_str(), stderr);
    }

    profile_lines lines_{0};
    profile_trial base_;  // with the fewest slots
};

// What the environment wants of a run that begins; null: nothing.
inline std::unique_ptr<rehearsal> diagnosis(bool is_measured) {
    const char* const found = std::getenv("WEIR_DIAGNOSE");  // NOLINT(concurrency-mt-unsafe): none sets one
    if (found == nullptr) return nullptr;
    const std::string_view text = found;
    if (text.empty() || text == "0") return nullptr;
    if (text != "1") {
        throw std::invalid_argument("weir: the environment variable WEIR_DIAGNOSE is '" + std::string(text) +
                                    "'; 1 profiles the stages of each run before it goes on, and 0, like "
                                    "nothing, does not");
    }
    if (is_measured) return std::make_unique<printed_trials>();
    std::fputs("weir: WEIR_DIAGNOSE=1 does nothing for a run that measures nothing (weir::unmeasured)\n",
               stderr);
    return nullptr;
}

}  // namespace weir::detail

#endif
