// weir report: failures as lines of a log, in which those that repeat themselves don't drown the others
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_FAILURE_LOG_HPP
#define WEIR_REPORT_FAILURE_LOG_HPP

#include <weir/platform/bounds.hpp>
#include <weir/platform/error_text.hpp>
#include <weir/platform/platform.hpp>
#include <weir/run/failure.hpp>

#include <cstddef>        // for std::size_t
#include <cstdint>        // for std::uint64_t
#include <memory>         // for std::shared_ptr
#include <mutex>          // for std::lock_guard
#include <ostream>        // for std::ostream
#include <stdexcept>      // for std::invalid_argument
#include <string>         // for std::string
#include <unordered_map>  // for std::unordered_map
#include <utility>        // for std::move
#include <vector>         // for std::vector

namespace weir {

/// Of a `failure_log`. Failures are alike if stage, type of the exception and message are the same.
struct failure_log_options {
    /// How many that are alike are written one by one.
    std::uint64_t first = 5;
    /// After those, each so many-th is written, at least 1.
    std::uint64_t every = 100;
    /// How many kinds are told apart; all others count as one.
    std::size_t most_kinds = 1000;
};

/// Writes a line for each failure, but not for each of those that repeat themselves:
///
///     weir::failure_log log(std::clog);
///     auto run = pipeline.start(pool, {.max_failures = weir::unlimited, .on_failure = log});
///     for (auto& batch : run) train(batch);
///     log.summary();
///
///     [read] item 17 failed: no such file
///     [read] item 1250 failed: no such file (failure 105 of this kind, 99 not shown)
///     [read] 42 more not shown: no such file
///
/// Threads:  any; each line is one `write`, and one at a time. Copies share what they know.
/// Lifetime: the stream outlives the log and its copies.
/// Errors:   `std::bad_alloc`, and those of the stream. If it is to throw (`exceptions`), that stops the run,
///           as any exception of `on_failure`; else it goes bad, and what comes after is not written until
///           somebody clears it. A failure whose line could not be written is one that was not shown.
/// Cost:     a look-up a failure; some 100 bytes for each kind.
class failure_log {
  public:
    /// Errors: `std::invalid_argument` if `every` is 0, or what is given was negative.
    explicit failure_log(std::ostream& out, failure_log_options options = {})
        : shared_(std::make_shared<shared>(out, options)) {
        if (options.every == 0) {
            throw std::invalid_argument(
                "weir: a failure_log writes every n-th failure of a kind, and n has "
                "to be 1 or more");
        }
        if (detail::was_negative(options.first) || detail::was_negative(options.every) ||
            detail::was_negative(options.most_kinds)) {
            throw std::invalid_argument("weir: a number in the options of a failure_log was negative");
        }
    }

    /// For `run_options::on_failure`.
    void operator()(const failure& f) const {
        const std::string message = one_line(f.message());
        std::string name =
            f.stage + '\n' + detail::error_type(f.error) + '\n' + message.substr(0, longest_key);
        const std::lock_guard guard(shared_->lock);
        kind& k = shared_->kind_of(std::move(name), f.stage, message);
        ++k.count;
        ++k.hidden;  // until its line is written
        const failure_log_options& options = shared_->options;
        if (k.count > options.first && (k.count - options.first) % options.every != 0) {
            return;
        }
        std::string line = "[" + f.stage + "] item " + std::to_string(f.item) + " failed: " + message;
        if (k.count > options.first) {
            line += " (failure " + std::to_string(k.count) + " of this kind";
            if (k.hidden > 1) line += ", " + std::to_string(k.hidden - 1) + " not shown";
            line += ")";
        }
        if (shared_->write(std::move(line))) k.hidden = 0;
    }

    /// Writes a line for each kind of which some were not shown since its last line, oldest kind first, and
    /// flushes the stream.
    void summary() const {
        const std::lock_guard guard(shared_->lock);
        for (kind* const k : shared_->oldest_first) {
            if (k->hidden == 0) continue;
            const bool written = shared_->write("[" + k->stage + "] " + std::to_string(k->hidden) +
                                                " more not shown: " + k->message);
            if (written) k->hidden = 0;
        }
        shared_->out.flush();
    }

    /// \returns how many failures it was told of.
    [[nodiscard]] std::uint64_t count() const {
        const std::lock_guard guard(shared_->lock);
        std::uint64_t all = 0;
        for (const kind* const k : shared_->oldest_first) all += k->count;
        return all;
    }

  private:
    struct kind {
        std::string stage;
        std::string message;
        std::uint64_t count = 0;
        std::uint64_t hidden = 0;  // since its last line
    };

    struct shared {
        shared(std::ostream& stream, failure_log_options how) : out(stream), options(how) {}

        kind& kind_of(std::string&& name, const std::string& stage, const std::string& message) {
            const auto found = kinds.find(name);
            if (found != kinds.end()) return found->second;
            const bool known = kinds.size() < options.most_kinds;
            if (!known) name.clear();
            // Whole, or not at all, if memory lacks.
            if (oldest_first.size() == oldest_first.capacity()) {
                oldest_first.reserve(2 * oldest_first.size() + 8);
            }
            kind fresh;
            fresh.stage = known ? stage : "other";
            fresh.message = known ? message.substr(0, longest_key) : "failures of other kinds";
            const auto [at, is_new] = kinds.try_emplace(std::move(name), std::move(fresh));
            if (is_new) oldest_first.push_back(&at->second);
            return at->second;
        }
        bool write(std::string&& line) {
            line += '\n';
            out.write(line.data(), static_cast<std::streamsize>(line.size()));
            return out.good();
        }

        detail::standard_platform::mutex lock;  // guards all below
        std::ostream& out;
        const failure_log_options options;
        std::unordered_map<std::string, kind> kinds;
        std::vector<kind*> oldest_first;
    };

    static std::string one_line(std::string text) {
        for (char& c : text) {
            if (c == '\n' || c == '\r') c = ' ';
        }
        return text;
    }

    static constexpr std::size_t longest_key = 400;
    std::shared_ptr<shared> shared_;
};

}  // namespace weir

#endif
