// weir run: why a run ended: its outcome, its failures, how many are tolerated, and where they are reported
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_FAILURE_HPP
#define WEIR_RUN_FAILURE_HPP

#include <weir/platform/message_text.hpp>
#include <weir/platform/numbers.hpp>
#include <weir/platform/parking.hpp>
#include <weir/platform/process.hpp>

#include <concepts>         // for std::integral
#include <cstddef>          // for std::size_t
#include <cstdint>          // for std::uint8_t, std::uint64_t
#include <cstdio>           // for std::fprintf, std::fputs
#include <exception>        // for std::exception_ptr, std::nested_exception
#include <source_location>  // for std::source_location
#include <stdexcept>        // for std::runtime_error
#include <string>           // for std::string
#include <string_view>      // for std::string_view
#include <type_traits>      // for std::is_signed_v
#include <utility>          // for std::move
#include <vector>           // for std::vector

namespace weir {

/// What ended a run. The first cause counts. A stop after a failure was recorded leaves the outcome `failed`.
/// A failure during a stop leaves the outcome `stopped`, and the consumer, the user's code that takes the
/// results, gets the failure nevertheless. A failure is recorded after `run_options::on_failure`, the user's
/// function for failed items, has returned: a stop that this function requests comes first.
enum class run_outcome : std::uint8_t {
    running,   ///< not ended; also if all work is done and no consumer has seen the end yet
    finished,  ///< a consumer has seen the end of the stream; in a `run<void>`, which has no consumer, all
               ///< stages have ended
    stopped,   ///< by `run::stop`, `run::request_stop` or the destructor
    stopped_by_token,  ///< by `run_options::stop`
    failed             ///< by more failures than the limit; by an exception of `hook::stage_begins`,
                       ///< `hook::stage_ends` or a callback; or by lack of memory
};

/// One item on which a stage's function threw; or an exception of a hook (a user's function that is called
/// around each task) or of a callback (a function in `run_options`).
struct failure {
    std::string stage;           ///< the stage's name; or `on_lap`, `on_end`, `on_failure`: the callback
    std::uint64_t item;          ///< how many items the stage had taken (a source: made) before; callback: 0
    std::exception_ptr error;    ///< the exception
    std::source_location where;  ///< `stage_options::where` of the stage; line 0 for a callback

    /// Takes the values of the four members, in their order.
    failure(std::string stage_name, std::uint64_t number, std::exception_ptr e,
            std::source_location composed = {})
        : stage(std::move(stage_name)), item(number), error(std::move(e)), where(composed) {}

    /// \returns `what()` of a `std::exception` that has a text; for a thrown string or number its text and
    ///          type, `42 (thrown as int)`; else `an exception of type T, without a text`.
    [[nodiscard]] std::string message() const { return detail::error_text(error); }
};

/// Thrown to a consumer of a run that failed: for the causes, see `run_outcome::failed`. The original
/// exception is nested: `std::rethrow_if_nested`, or `original()` with `-fno-rtti`. In `what()`, `?` replaces
/// control characters of names and messages, except line breaks and tabs.
class pipeline_failure : public std::runtime_error {
  public:
    /// \param failures  at least one; the first is the one that stopped the run.
    explicit pipeline_failure(std::vector<failure> failures)
        : std::runtime_error(describe(failures)), failures_(std::move(failures)) {}

    /// \returns `failure::stage` of the failure that stopped the run. Lifetime: that of this object.
    [[nodiscard]] const std::string& stage() const noexcept { return failures_.front().stage; }
    /// \returns `failure::where` of that failure.
    [[nodiscard]] std::source_location where() const noexcept { return failures_.front().where; }
    /// \returns `failure::item` of that failure.
    [[nodiscard]] std::uint64_t item() const noexcept { return failures_.front().item; }
    /// \returns `failure::error` of that failure: the exception of a stage's function, a hook or a callback.
    [[nodiscard]] std::exception_ptr original() const noexcept { return failures_.front().error; }

    /// \returns the failure that stopped the run, and then later failures that exceeded a limit or came from
    ///          a hook or callback, until the consumer got this exception; 16 at most. If `on_failure` threw:
    ///          the failure that `on_failure` was called with, also one within the limit, then its exception.
    [[nodiscard]] const std::vector<failure>& failures() const noexcept { return failures_; }

  private:
    // Returns the text of `what()`, with all failures.
    static std::string describe(const std::vector<failure>& failures);

    std::vector<failure> failures_;
};

/// How many failures a stage or a run tolerates: a count, a `rate`, or `unlimited`.
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

    /// \returns whether `failures` of `invocations` exceed the limit; a rate is never exceeded before
    ///          `probation` invocations.
    [[nodiscard]] constexpr bool exceeded(std::uint64_t failures, std::uint64_t invocations) const noexcept {
        if (!is_rate()) return failures > count_;
        // 0.29 * 100 is a little less than 29 in floating point; a product this near counts as 29.
        const double tolerated = rate_ * static_cast<double>(invocations);
        return invocations >= probation && static_cast<double>(failures) > tolerated + tolerated * 1e-12;
    }

    /// \returns whether the limit was made by `rate`, so that successes have to be counted, too.
    [[nodiscard]] constexpr bool is_rate() const noexcept { return rate_ > 0; }

    /// A rate is checked from this many invocations on.
    static constexpr std::uint64_t probation = 100;

  private:
    friend constexpr failure_limit rate(double share);
    std::uint64_t count_ = 0;
    double rate_ = 0;  // 0: the limit is `count_`
};

/// A limit that tolerates failures up to this share of invocations, checked after each invocation from the
/// hundredth on. If the hundredth succeeds and the limit is exceeded, the run stops with the last failure.
///
/// \param share  in (0, 1]: 0.05 is one in twenty.
/// Errors: `std::invalid_argument` for any other value.
[[nodiscard]] constexpr failure_limit rate(double share) {
    if (!detail::is_finite(share) || share <= 0 || share > 1) {
        throw std::invalid_argument("weir: a failure rate lies in (0, 1]: rate(0.05) is one item in twenty");
    }
    failure_limit limit;
    limit.rate_ = share;
    return limit;
}

/// The limit that tolerates any number of failures.
inline constexpr failure_limit unlimited{UINT64_MAX};

/// A function for failures that no consumer has seen. The destructor of a run that failed calls the function
/// once, after all work of the run has ended. Not called if the failure was thrown to a consumer, or if
/// `run_options::on_failure` was called with all failures that stopped the run. `run`: the names of the
/// stages, as `src | decode | sink`.
using failure_sink = void (*)(std::string_view run, const pipeline_failure& error) noexcept;

namespace detail {

// The exception that a run throws. Thrown without `std::throw_with_nested`, which in libc++ copies the
// failure: memory for the copy may lack.
class nesting_failure final : public pipeline_failure, public std::nested_exception {
  public:
    explicit nesting_failure(pipeline_failure&& whole) noexcept : pipeline_failure(std::move(whole)) {}
};

// The default failure sink: prints the line on stderr.
void print_failure(std::string_view run, const pipeline_failure& error) noexcept;

// The function of `set_failure_sink`, which the destructors of failed runs call.
inline constinit process_function<failure_sink> the_failure_sink{&print_failure};

// Counts the invocations and failures of a stage, or of all stages that have no limit of their own. Compares
// the counts with the limit at each failure, and at the success that ends the probation of a rate (see
// `failure_limit::probation`). Later successes only lower the rate. Any thread.
class failure_counter {
  public:
    // A failed invocation. `stage`: the stage's name, which outlives the counter.
    struct entry {
        const std::string* stage = nullptr;
        std::uint64_t item = 0;
        std::exception_ptr error;
        std::source_location where = {};
    };

    // `limit`: of the stage, or of the run for all stages without their own.
    explicit failure_counter(const failure_limit& limit) noexcept : limit_(limit) {}

    // Whether `count_success` has to be called after each success: only a rate compares failures with
    // successes.
    bool is_rate() const noexcept { return limit_.is_rate(); }

    // Returns whether the limit is exceeded.
    bool count_failure(entry failed) noexcept;

    // Returns true if this success ends the probation of a rate, and the limit is exceeded. `last_failure()`
    // is then the last failure.
    bool count_success() noexcept;
    entry last_failure() noexcept;  // during the probation of a rate

  private:
    const failure_limit limit_;
    spin_lock lock_;  // guards the members below, so that the limit is compared with numbers of one moment
    std::uint64_t failures_ = 0;
    std::uint64_t invocations_ = 0;
    entry last_;  // the last failure; kept during the probation of a rate
};

// The failures that stopped a run, kept until they are thrown to a consumer. Any thread.
class failure_record {
  public:
    failure_record() { failures_.reserve(most); }

    // `reported`: whether `run_options::on_failure` was called with the failure.
    void add(failure f, bool reported) noexcept;
    // Whether a failure was added, also if the failures were thrown since.
    bool has_failed() const noexcept;
    // `failure::stage` of the first failure. Empty if there is no failure, or if memory for the text lacked.
    // Read without the lock: called only after the stages have ended, when `add` no longer writes the text.
    const std::string& first_stage() const noexcept { return first_stage_; }
    // Throws the failures, once; does nothing if there are none. If memory lacks, throws `std::bad_alloc`;
    // the next call then throws the failures.
    void throw_once();
    // Calls the failure sink, unless the failures were thrown, or all of them were `reported`. Called after
    // the end of the run; `name()` returns the run's name.
    template <class Name>
    void report_unseen(Name name) noexcept {
        const failure_sink sink = the_failure_sink.get();
        if (sink == nullptr || !is_unreported_ || failures_.empty()) return;
        try {
            const pipeline_failure error(std::move(failures_));
            sink(name(), error);
        } catch (...) {
            std::fputs("weir: a run failed, and nobody asked; memory lacks to say how\n", stderr);
        }
    }

  private:
    static constexpr std::size_t most = 16;  // the maximum number of failures that are kept

    mutable spin_lock lock_;  // guards the members below; nothing is allocated under this lock
    std::vector<failure> failures_;
    std::string first_stage_;
    bool is_thrown_ = false;      // throw_once() has thrown the failures
    bool is_unreported_ = false;  // a failure was added that `run_options::on_failure` does not know
};

}  // namespace detail

/// Sets the failure sink of all runs of the process. The default prints a line on stderr, with `?` for
/// control characters; null is none.
/// \returns the previous failure sink. Threads: any.
failure_sink set_failure_sink(failure_sink sink) noexcept;

}  // namespace weir

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/run/failure.ipp>
#endif

#endif
