// weir cuda, internal: a piece of device memory, and the stream behind whose work it is freed
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_MEMORY_HPP
#define WEIR_CUDA_DEVICE_MEMORY_HPP

#include <weir/cuda/awaited_work.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/device_account.hpp>
#include <weir/cuda/lease.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>
#include <weir/cuda/transfer_log.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/task.hpp>

#include <cstddef>    // for std::size_t
#include <cstring>    // for std::memcpy
#include <memory>     // for std::make_shared, std::shared_ptr
#include <optional>   // for std::optional
#include <stdexcept>  // for std::invalid_argument
#include <string>     // for std::to_string
#include <utility>    // for std::exchange, std::move

namespace weir::cuda::detail {

// Device memory without an element type. Belongs to a stream: first to that of its allocation, then to that
// of the last hand_over().
class device_memory {
  public:
    // Returns none if too little memory is free now. `log`: records the times of the copies from and to the
    // host; null: no measurement.
    static std::optional<device_memory> try_take(const std::shared_ptr<device_account>& from, const stream& s,
                                                 std::size_t bytes, std::shared_ptr<transfer_log> log) {
        device_memory there(from, s, bytes, std::move(log));
        there.data_ = from->try_take(bytes, s.get());
        if (there.data_ == nullptr) return std::nullopt;
        return there;
    }

    // Waits while too little memory is free. Returns none if `stop` was requested.
    static task<std::optional<device_memory>> take(std::shared_ptr<device_account> from, stream s,
                                                   std::size_t bytes, std::shared_ptr<transfer_log> log,
                                                   stop_token stop) {
        device_memory there(from, s, bytes, std::move(log));
        device_account::waiter here(*from);
        const std::optional<char> turn = co_await from->turn.get(stop);
        if (!turn) co_return std::nullopt;
        here.has_turn();
        bool may_retry = true;
        for (;;) {
            from->of()->check_device();
            there.data_ = from->attempt(bytes, s.get());
            if (there.data_ != nullptr) break;
            if (from->expects_news()) {
                may_retry = true;
                const std::optional<char> news = co_await from->news.get(stop);
                if (!news) co_return std::nullopt;
            } else {
                // The last piece in use may have become free since the attempt: tries once more.
                if (!may_retry) from->refuse(bytes);
                may_retry = false;
            }
        }
        co_return std::move(there);
    }

    device_memory(device_memory&& other) noexcept
        : account_(std::move(other.account_)), stream_(std::move(other.stream_)),
          data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_), behind_(std::move(other.behind_)),
          copied_(std::move(other.copied_)), was_handed_over_(other.was_handed_over_),
          log_(std::move(other.log_)), times_(std::move(other.times_)) {}
    device_memory& operator=(device_memory&& other) noexcept {
        std::swap(account_, other.account_);
        std::swap(stream_, other.stream_);
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        std::swap(behind_, other.behind_);
        std::swap(copied_, other.copied_);
        std::swap(was_handed_over_, other.was_handed_over_);
        std::swap(log_, other.log_);
        std::swap(times_, other.times_);
        return *this;
    }
    ~device_memory() {
        if (data_ == nullptr) return;
        const bool told = account_->give(data_, bytes_, stream_, behind_);
        if (!told || !times_ || !times_->start) return;
        try {
            log_->done_with(stream_.get(), behind_);
        } catch (...) {
            return;  // only the statistics are less exact
        }
    }

    void* data() const noexcept { return data_; }
    std::size_t bytes() const noexcept { return bytes_; }
    bool on_device() const noexcept { return !of()->on_host(); }
    const std::shared_ptr<core>& of() const noexcept { return account_->of(); }

    // Queues the copy from a block of the same size, and events that record the times of the copy. If this
    // throws, no pending work uses a block that `from` still owns.
    void fill_from(lease& from) {
        if (of()->on_host()) {
            from.queue_copy(stream_, data_);
            return;
        }
        of()->check_not_captured(stream_.get(), "cudaMemcpyAsync");
        auto end = std::make_shared<pooled_event>(of(), log_ != nullptr);
        std::shared_ptr<copy_times> times = log_ ? begin_copy(end) : nullptr;
        from.queue_copy(stream_, data_);
        end_copy(*end);
        from.give_away(stream_);
        if (times) log_->add(times);
        times_ = std::move(times);
        copied_ = std::move(end);
    }

    // Queues a copy to page-locked memory, on the memory's stream. If it throws, the copy may be pending.
    void queue_copy_to(std::byte* to, transfer_log* log) const {
        if (!on_device()) {
            if (bytes_ != 0) std::memcpy(to, data_, bytes_);
            return;
        }
        of()->check_not_captured(stream_.get(), "cudaMemcpyAsync");
        const auto times = log != nullptr ? begin_copy(std::make_shared<pooled_event>(of(), true)) : nullptr;
        of()->check_call(cudaMemcpyAsync(to, data_, bytes_, cudaMemcpyDeviceToHost, stream_.get()),
                         "cudaMemcpyAsync");
        if (!times) return;
        end_copy(*times->end);
        log->add(times);
    }

    // The event recorded behind the copy to the device; null: there was no copy.
    const shared_event& copied() const noexcept { return copied_; }

    // Waits for the copy to the device; if there was none, for all work queued on the memory's stream.
    awaited_work<recorded_work> filled() const {
        if (copied_ || !on_device()) return until_over(of(), copied_);
        of()->check_not_captured(stream_.get(), "cudaEventRecord");
        auto here = std::make_shared<pooled_event>(of(), false);
        of()->check_call(cudaEventRecord(here->get(), stream_.get()), "cudaEventRecord");
        return until_over(of(), std::move(here));
    }

    // Makes later work of `to` wait for the copy or, without one, for the work of the memory's stream. From
    // then on the memory belongs to `to`.
    void hand_over(const stream& to) {
        if (!on_device()) return;
        if (to.shared()->of()->device_index() != of()->device_index()) {
            throw std::invalid_argument("weir: what lies on GPU " + std::to_string(of()->device_index()) +
                                        " can't be handed over to a stream of GPU " +
                                        std::to_string(to.shared()->of()->device_index()) +
                                        "; give each GPU a to_device of its own");
        }
        of()->check_not_captured(to.get(), "cudaStreamWaitEvent");
        if (to.get() != stream_.get()) {
            if (copied_ && !was_handed_over_) {
                wait(to, *copied_);
            } else {
                // `to` waits for the work that the previous stream has queued.
                const pooled_event passed(of(), false);
                of()->check_call(cudaEventRecord(passed.get(), stream_.get()), "cudaEventRecord");
                wait(to, passed);
            }
        }
        stream_ = to;
        was_handed_over_ = true;
        if (!times_) return;
        auto start = std::make_shared<pooled_event>(of(), true);
        of()->check_call(cudaEventRecord(start->get(), to.get()), "cudaEventRecord");
        log_->taken_over(*times_, to.get(), std::move(start));
    }

  private:
    device_memory(const std::shared_ptr<device_account>& from, const stream& s, std::size_t bytes,
                  std::shared_ptr<transfer_log> log)
        : account_(from), stream_(s), bytes_(bytes),
          behind_(std::make_shared<pooled_event>(from->of(), log != nullptr)), log_(std::move(log)) {}

    // Records the begin of a copy that will end at `end`.
    std::shared_ptr<copy_times> begin_copy(shared_event end) const {
        auto times = std::make_shared<copy_times>();
        times->bytes = bytes_;
        times->begin = std::make_shared<pooled_event>(of(), true);
        times->end = std::move(end);
        of()->check_call(cudaEventRecord(times->begin->get(), stream_.get()), "cudaEventRecord");
        return times;
    }
    // If this throws, no copy is pending.
    void end_copy(const pooled_event& end) const {
        const cudaError_t code = cudaEventRecord(end.get(), stream_.get());
        if (code == cudaSuccess) return;
        of()->wait_for_stream(stream_.get());
        of()->fail(code, "cudaEventRecord");
    }

    void wait(const stream& s, const pooled_event& e) const {
        of()->check_call(cudaStreamWaitEvent(s.get(), e.get(), 0), "cudaStreamWaitEvent");
    }

    std::shared_ptr<device_account> account_;
    stream stream_;  // the memory is freed behind its work
    void* data_ = nullptr;
    std::size_t bytes_;
    shared_event behind_;  // recorded by the destructor; the memory is free when this event is over
    shared_event copied_;  // see copied()
    bool was_handed_over_ = false;
    std::shared_ptr<transfer_log> log_;
    std::shared_ptr<copy_times> times_;  // of the copy to the device; null: not measured
};

}  // namespace weir::cuda::detail

#endif
