// weir cuda, internal: how long operations usually take, and so when to look whether one has ended
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_USUAL_TIMES_HPP
#define WEIR_CUDA_USUAL_TIMES_HPP

#include <weir/platform/bounds.hpp>

#include <bit>      // for std::bit_width
#include <cstddef>  // for std::size_t
#include <cstdint>  // for std::int64_t
#include <limits>   // for std::numeric_limits

namespace weir::cuda::detail {

// Learns how long operations on a device take, by their number of bytes. Copies have bytes; the rate of a
// large copy gives the times of other large sizes. All other operations have 0 bytes. So the thread that
// polls the device sleeps until shortly before the usual end, and then polls without a pause for a bounded
// time. Instants and times in ns.
class usual_times {
  public:
    static constexpr std::int64_t unknown = 0;

    // How long an operation of so many bytes takes; rather too short than too long.
    std::int64_t of(std::size_t bytes) const noexcept {
        const std::int64_t known = times_[std::bit_width(bytes)];
        if (known != unknown || bytes < least_of_rate) return known;
        return static_cast<std::int64_t>(static_cast<double>(bytes) * ns_per_byte_);
    }

    // Records that an operation has ended `took` after its begin. `gap`: the time since the previous poll;
    // the operation may have ended so much earlier.
    void learn(std::size_t bytes, std::int64_t took, std::int64_t gap) noexcept {
        if (took <= 0) return;
        std::int64_t& known = times_[std::bit_width(bytes)];
        const bool is_exact = gap <= 2 * lead;
        if (known == unknown || took < known) {
            known = took;
        } else if (is_exact) {
            known += (took - known) / 8;
        }
        if (bytes < least_of_rate) return;
        const double rate = static_cast<double>(took) / static_cast<double>(bytes);
        if (ns_per_byte_ <= 0 || rate < ns_per_byte_ || is_exact) ns_per_byte_ = rate;
    }

    // Returns when to poll next for an operation that began at `begun` and takes `usual`. An instant not
    // after `now` means: at once. `period`: how often to poll if the operation takes much longer than usual.
    static std::int64_t next_look(std::int64_t begun, std::int64_t usual, std::int64_t now,
                                  std::int64_t period) noexcept {
        const std::int64_t first = begun + usual - (lead + usual / 32);
        if (now < first) return first;
        return now < begun + usual + (lead + usual / 8) ? now : now + period;
    }

    // How long before the usual end a thread wakes up: it wakes up late, above all by the time that the
    // processor takes to leave its idle state.
    static constexpr std::int64_t lead = 100'000;

  private:
    static constexpr std::size_t least_of_rate = std::size_t{1} << 16U;  // bytes: larger copies tell the rate

    // The usual time of operations, by the number of bits of their number of bytes (std::bit_width).
    std::int64_t times_[std::numeric_limits<std::size_t>::digits + 1]{};
    double ns_per_byte_ = 0;  // of large copies; 0: unknown
};

}  // namespace weir::cuda::detail

#endif
