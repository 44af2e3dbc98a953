// weir run: what is known of a failure, and how many are tolerated
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_FAILURE_HPP
#define WEIR_RUN_FAILURE_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/message_text.hpp>

#include <concepts>         // for std::integral
#include <cstddef>          // for std::size_t
#include <cstdint>          // for std::uint64_t
#include <exception>        // for std::exception_ptr, std::nested_exception
#include <source_location>  // for std::source_location
#include <stdexcept>        // for std::runtime_error
#include <string>           // for std::string
#include <type_traits>      // for std::is_signed_v
#include <utility>          // for std::move
#include <vector>           // for std::vector

namespace weir {

/// One item on which a stage's function threw.
struct failure {
    std::string stage;           ///< its name
    std::uint64_t item;          ///< the item's number at that stage, from 0, in the order of its gets
    std::exception_ptr error;    ///< what was thrown
    std::source_location where;  ///< `stage_options::where` of the stage

    /// Of all four, in the order in which they stand above.
    failure(std::string stage_name, std::uint64_t number, std::exception_ptr e,
            std::source_location composed = {})
        : stage(std::move(stage_name)), item(number), error(std::move(e)), where(composed) {}

    /// \returns `what()` of a `std::exception` that has a text; of a string or a number that was thrown the
    ///          text and the type, `42 (thrown as int)`; else `an exception of type T, without a text`.
    [[nodiscard]] std::string message() const { return detail::error_text(error); }
};

/// A run of a pipeline has stopped because a stage failed more than it may. Catch it as it is, or
/// unwrap the original with `std::rethrow_if_nested`; with `-fno-rtti` by `original()`.
class pipeline_failure : public std::runtime_error {
  public:
    /// \param failures  at least one; the first is the one that stopped the run.
    explicit pipeline_failure(std::vector<failure> failures)
        : std::runtime_error(describe(failures)), failures_(std::move(failures)) {}

    /// Of the failure that stopped the run: the stage's name. Lifetime: that of this object.
    [[nodiscard]] const std::string& stage() const noexcept { return failures_.front().stage; }
    /// Of the same: where the stage was composed, `stage_options::where`; line 0 if that isn't known.
    [[nodiscard]] std::source_location where() const noexcept { return failures_.front().where; }
    /// Of the same: the item's number.
    [[nodiscard]] std::uint64_t item() const noexcept { return failures_.front().item; }
    /// Of the same: what was thrown.
    [[nodiscard]] std::exception_ptr original() const noexcept { return failures_.front().error; }

    /// It, and those by which other stages stopped at the same time.
    [[nodiscard]] const std::vector<failure>& failures() const noexcept { return failures_; }

  private:
    static std::string describe(const std::vector<failure>& failures) {
        const failure& first = failures.front();
        std::string text = "weir: stage '" + first.stage + "'" + detail::place_behind(first.where) +
                           " failed on item " + std::to_string(first.item) + ": " + first.message();
        for (std::size_t i = 1; i < failures.size(); ++i) {
            text += "; also stage '" + failures[i].stage + "'" + detail::place_behind(failures[i].where) +
                    " on item " + std::to_string(failures[i].item) + ": " + failures[i].message();
        }
        return text;
    }

    std::vector<failure> failures_;
};

namespace detail {

// What a run throws. With libc++ `std::throw_with_nested` would copy the failure, and memory may lack for
// that.
class nesting_failure final : public pipeline_failure, public std::nested_exception {
  public:
    explicit nesting_failure(pipeline_failure&& whole) noexcept : pipeline_failure(std::move(whole)) {}
};

}  // namespace detail

/// How many failures a stage, or a run, tolerates: a count, a `rate`, or `unlimited`.
class failure_limit {
  public:
    /// None: the first failure stops the run.
    constexpr failure_limit() noexcept = default;

    /// Up to `count` failures; one more stops the run.
    /// Errors: `std::invalid_argument` for a negative count.
    constexpr failure_limit(std::integral auto count)  // NOLINT: `.max_failures = 3` is the point
        : count_(static_cast<std::uint64_t>(count)) {
        if constexpr (std::is_signed_v<decltype(count)>) {
            if (count < 0) {
                throw std::invalid_argument(
                    "weir: max_failures can't be negative; use weir::unlimited for no limit");
            }
        }
    }

    /// Whether `failures` of `invocations` are more than is tolerated.
    [[nodiscard]] constexpr bool exceeded(std::uint64_t failures, std::uint64_t invocations) const noexcept {
        if (!is_rate()) return failures > count_;
        // 0.29 * 100 is a little less than 29 in floating point; a product this near means 29.
        const double tolerated = rate_ * static_cast<double>(invocations);
        return invocations >= probation && static_cast<double>(failures) > tolerated + tolerated * 1e-12;
    }

    /// Whether it was made by `rate`: only then do invocations have to be counted.
    [[nodiscard]] constexpr bool is_rate() const noexcept { return rate_ > 0; }

    /// A rate is looked at from this many invocations on.
    static constexpr std::uint64_t probation = 100;

  private:
    friend constexpr failure_limit rate(double share);
    std::uint64_t count_ = 0;
    double rate_ = 0;
};

/// The limit that tolerates failures up to this share of invocations: judged with each that ends, from the
/// hundredth on. Where a success is the hundredth, and too many had failed, the last failure is told.
///
/// \param share  in (0, 1]: 0.05 is one in twenty.
/// Errors: `std::invalid_argument` outside of that.
[[nodiscard]] constexpr failure_limit rate(double share) {
    if (!detail::is_finite(share) || share <= 0 || share > 1) {
        throw std::invalid_argument("weir: a failure rate lies in (0, 1]: rate(0.05) is one item in twenty");
    }
    failure_limit limit;
    limit.rate_ = share;
    return limit;
}

/// Any number of failures.
inline constexpr failure_limit unlimited{UINT64_MAX};

}  // namespace weir

#endif
