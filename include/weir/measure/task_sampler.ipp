// weir measure, internal: bodies of the functions of measure/task_sampler.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MEASURE_TASK_SAMPLER_IPP
#define WEIR_MEASURE_TASK_SAMPLER_IPP

#include <weir/measure/task_sampler.hpp>

#include <weir/measure/clock.hpp>
#include <weir/platform/config.hpp>
#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>

#include <mutex>   // for std::lock_guard
#include <new>     // for std::bad_alloc
#include <string>  // for std::to_string

namespace weir::detail {

WEIR_INLINE task_sampler::task_sampler(std::size_t most, std::uint64_t seed, std::size_t recording)
    : most_((most + 2) / 2 * 2), seed_(seed) {
    try {
        if (most_ > kept_.tasks.max_size()) throw std::bad_alloc();
        kept_.tasks.reserve(most_);
    } catch (const std::bad_alloc&) {
        if (most < memory_shortage::many) throw;
        throw memory_shortage("no memory for a recording of " +
                              std::to_string(recording == 0 ? most : recording) +
                              " invocations; 1000 are enough for predictions");
    }
}

WEIR_INLINE std::uint64_t task_sampler::keep(task_sample one, std::int64_t at) noexcept {
    one.at = duration(time_between(begin_, at));
    const std::lock_guard guard(lock_);
    kept_.tasks.push_back(one);  // never allocates: `most_` elements are reserved
    if (kept_.tasks.size() == most_) remove_half();
    return choose_next();
}

WEIR_INLINE task_samples task_sampler::samples() const {
    task_samples copy;
    copy.tasks.reserve(most_);  // outside of the lock, for which an invocation may wait
    const std::lock_guard guard(lock_);
    copy.one_in = kept_.one_in;
    copy.tasks.assign(kept_.tasks.begin(), kept_.tasks.end());
    return copy;
}

WEIR_INLINE std::uint64_t task_sampler::draw(std::uint64_t below) noexcept {
    return high_product(splitmix64(seed_, draws_++), below);
}

WEIR_INLINE void task_sampler::remove_half() noexcept {
    for (std::size_t i = 0; i < most_ / 2; ++i) {
        kept_.tasks[i] = kept_.tasks[2 * i + number_as<std::size_t>(draw(2))];
    }
    kept_.tasks.erase(kept_.tasks.begin() + static_cast<std::ptrdiff_t>(most_ / 2), kept_.tasks.end());
    kept_.one_in *= 2;
}

WEIR_INLINE std::uint64_t task_sampler::choose_next() noexcept {
    const std::uint64_t before = chosen_;
    chosen_ = next_stratum_ + draw(kept_.one_in);
    next_stratum_ += kept_.one_in;
    return chosen_ - before - 1;
}

}  // namespace weir::detail

#endif
