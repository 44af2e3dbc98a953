// weir platform, internal: random numbers as a function of seed and counter, for samplers and simulations
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_RANDOM_BITS_HPP
#define WEIR_PLATFORM_RANDOM_BITS_HPP

#include <weir/platform/config.hpp>

#include <cstdint>  // for std::uint64_t

namespace weir::detail {

// A bijection in which a change of any bit changes each bit of the result with a probability of about a half.
// Source: D. Stafford, "Better bit mixing" (2011), variant 13.
constexpr std::uint64_t mix64(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

// Number `counter`, from 0, of the SplitMix64 generator with this seed. Nearby seeds give overlapping
// sequences: apply `subseed` to seeds that a user chooses.
// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
constexpr std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t counter) noexcept {
    return mix64(seed + (counter + 1) * 0x9e3779b97f4a7c15U);
}

// Derives one of many independent seeds from a seed.
constexpr std::uint64_t subseed(std::uint64_t seed, std::uint64_t use) noexcept {
    return splitmix64(splitmix64(seed, 0), use);
}

// The upper half of the 128-bit product. For a uniformly random `a` it is uniform below `b`, but for a bias
// of b / 2^64.
constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) noexcept {
    const std::uint64_t a0 = a & 0xffffffffU, a1 = a >> 32;
    const std::uint64_t b0 = b & 0xffffffffU, b1 = b >> 32;
    const std::uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
    const std::uint64_t carry = a0 * b1 + (middle & 0xffffffffU);
    return a1 * b1 + (middle >> 32) + (carry >> 32);
}

// A hash of a sequence of words; not cryptographic.
class digest {
  public:
    constexpr digest& add(std::uint64_t word) noexcept {
        state_ = splitmix64(state_ ^ word, 0);
        return *this;
    }
    constexpr std::uint32_t value() const noexcept { return static_cast<std::uint32_t>(state_ >> 32); }

  private:
    std::uint64_t state_ = 0;
};

}  // namespace weir::detail

#endif
