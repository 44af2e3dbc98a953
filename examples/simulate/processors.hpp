// simulate: the workers that all computing stages share: who holds one, and who gets the next.
// They are assigned at the end of an instant, so the order of events in an instant does not matter.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_PROCESSORS_HPP
#define WEIR_EXAMPLES_SIMULATE_PROCESSORS_HPP

#include "end_of_instant.hpp"
#include "worker_request.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/executor.hpp>
#include <weir/task/task.hpp>

#include <algorithm>  // for std::ranges::min_element
#include <cstddef>    // for std::size_t
#include <cstdint>    // for std::uint64_t
#include <mutex>      // for std::lock_guard, std::mutex
#include <optional>   // for std::optional
#include <vector>     // for std::vector

namespace simulate {

class processors {
  public:
    processors(std::size_t number, weir::executor& clock)
        : clock_(clock), free_(number), bell_(1, clock, "workers") {}

    /// Waits for a worker. \param rank  of the stage: of requests of one instant, the highest rank goes first.
    weir::task<> acquire(std::size_t rank, std::uint64_t item) {
        detail::worker_request mine(clock_, rank, item);
        const place_in_line here(*this, mine);
        ring();
        const std::optional<char> given = co_await mine.given.get();
        static_cast<void>(given);
    }
    void release() {
        {
            const std::lock_guard guard(lock_);
            ++free_;
        }
        ring();
    }

    /// Assigns workers to requests, until `close`.
    weir::task<> serve() {
        while (true) {
            const std::optional<char> rung = co_await bell_.get();
            if (!rung) break;
            detail::end_of_instant settled(clock_);
            co_await settled;
            give();
        }
    }
    void close() noexcept { bell_.close(); }

  private:
    // A request is withdrawn if its run ends.
    class place_in_line {
      public:
        place_in_line(processors& at, detail::worker_request& mine) : at_(at), mine_(mine) {
            const std::lock_guard guard(at_.lock_);
            at_.line_.push_back(&mine);
        }
        place_in_line(const place_in_line&) = delete;
        place_in_line& operator=(const place_in_line&) = delete;
        ~place_in_line() {
            const std::lock_guard guard(at_.lock_);
            std::erase(at_.line_, &mine_);
        }

      private:
        processors& at_;
        detail::worker_request& mine_;
    };

    void ring() { static_cast<void>(bell_.try_put('!')); }
    void give() {
        const std::lock_guard guard(lock_);
        while (free_ != 0 && !line_.empty()) {
            const auto first = std::ranges::min_element(line_, {}, &detail::worker_request::order);
            --free_;
            static_cast<void>((*first)->given.try_put('!'));
            line_.erase(first);
        }
    }

    weir::executor& clock_;
    std::mutex lock_;
    std::size_t free_;
    std::vector<detail::worker_request*> line_;
    weir::channel<char> bell_;
};

}  // namespace simulate

#endif
