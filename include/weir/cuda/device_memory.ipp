// weir cuda, internal: how the memory of a pool is allocated, filled, handed over, and freed
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_DEVICE_MEMORY_IPP
#define WEIR_CUDA_DEVICE_MEMORY_IPP

#include <weir/cuda/device_memory.hpp>

#include <weir/cuda/completion.hpp>
#include <weir/platform/parking.hpp>

#include <algorithm>  // for std::max, std::min
#include <cstring>    // for std::memcpy
#include <stdexcept>  // for std::invalid_argument
#include <vector>     // for std::vector

namespace weir::cuda::detail {

inline device_account::~device_account() {
    freed_.each_to_free([this](void* memory, const pooled_event& behind) {
        while (state_->is_here() && !behind.is_over()) weir::detail::parker().wait(50'000);
        state_->free(memory, nullptr);
    });
}

inline void* device_account::attempt(std::size_t bytes, cudaStream_t s) {
    if (!reserve(bytes)) return nullptr;
    void* memory = nullptr;
    try {
        memory = allocate((std::max<std::size_t>)(bytes, 1), s);
    } catch (...) {
        came_back(bytes);
        throw;
    }
    if (memory == nullptr) came_back(bytes);
    return memory;
}

inline bool device_account::give(void* memory, std::size_t bytes, const stream& on,
                                 const std::shared_ptr<pooled_event>& behind) noexcept {
    if (state_->on_host()) {
        ::operator delete(memory, alignment);
        came_back(bytes);
        return false;
    }
    cudaStream_t const s = on.get();
    if (is_captured(s)) {
        defer_free(memory, bytes, on, behind);
        return false;
    }
    const bool later = allocator_ == nullptr && !state_->frees_in_order();
    if (allocator_ != nullptr) {
        allocator_->free(memory, (std::max<std::size_t>)(bytes, 1), s);
    } else if (!later) {
        state_->free(memory, s);
    }
    if (without_last_error(cudaEventRecord(behind->get(), s)) == cudaSuccess &&
        keep(s, {behind, bytes, later ? memory : nullptr})) {
        return true;
    }
    if (later) {
        state_->wait_for_stream(s);
        state_->free(memory, s);
    }
    came_back(bytes);
    return false;
}

inline bool device_account::expects_news() {
    if (harvest()) tell();
    const std::scoped_lock held(lock_);
    subscribe();
    return used_ != 0;
}

inline void device_account::refuse(std::size_t bytes) const {
    throw error(cudaErrorMemoryAllocation, allocator_ == nullptr ? "cudaMallocFromPoolAsync" : "allocate", {},
                "there is no memory for " + std::to_string(bytes) +
                    " bytes, and nothing is in use here that could come back");
}

inline void device_account::defer_free(void* memory, std::size_t bytes, const stream& on,
                                       const std::shared_ptr<pooled_event>& behind) noexcept {
    try {
        auto kept =
            std::make_shared<deferred_free>(deferred_free{shared_from_this(), memory, bytes, on, behind});
        completion& c = completion::make(state_->box(), nullptr, [](completion& ended) noexcept {
            static_cast<deferred_free*>(ended.kept.get())->give();
        });
        c.returns_event = false;
        c.captured = on.get();
        c.kept = std::move(kept);
        c.promised.emplace();
        if (!state_->box()->put(c)) c.disown();
    } catch (...) {
        return;
    }
}

inline void device_account::check_size(std::size_t bytes) const {
    if (max_bytes_ == 0 || bytes <= max_bytes_) return;
    throw std::invalid_argument("weir: " + std::to_string(bytes) + " bytes are more than '" + news.name() +
                                "' may have at all, which is " + std::to_string(max_bytes_) +
                                "; raise the limit of the device_pool");
}

inline bool device_account::keep(cudaStream_t s, freed_memory::piece what) noexcept {
    bool kept = false;
    try {
        const std::scoped_lock held(lock_);
        freed_.add(s, std::move(what));
        kept = true;
        if (num_waiting_ != 0) subscribe();
    } catch (...) {
        if (kept) tell();  // the waiter tries again, and gets the error of its own subscribe()
    }
    return kept;
}

inline void* device_account::allocate(std::size_t bytes, cudaStream_t s) {
    if (state_->on_host()) return ::operator new(bytes, alignment);
    state_->check_not_captured(s, "cudaMallocFromPoolAsync");
    if (allocator_ != nullptr) return allocator_->allocate(bytes, s);
    void* memory = nullptr;
    const cudaError_t code = state_->allocate(memory, bytes, s);
    if (code == cudaErrorMemoryAllocation) {
        without_last_error(code);
        return nullptr;
    }
    state_->check_call(code, "cudaMallocFromPoolAsync");
    return memory;
}

inline bool device_account::harvest() {
    std::vector<void*> idle;
    std::size_t bytes = 0;
    bool found = false;
    {
        const std::scoped_lock held(lock_);
        if (!state_->frees_in_order()) idle.reserve(freed_.size());
        found = freed_.take_over(bytes, idle);
        used_ -= bytes;
    }
    for (void* const memory : idle) state_->free(memory, nullptr);
    return found;
}

inline void device_account::subscribe() {
    freed_.each_first_unsubscribed([this](cudaStream_t on, const std::shared_ptr<pooled_event>& behind) {
        auto kept = std::make_shared<subscription>(subscription{shared_from_this(), behind});
        ticket t(*state_, kept->behind->get(),
                 [](completion& c) noexcept { static_cast<subscription*>(c.kept.get())->account->tell(); });
        completion& c = t.get();
        c.kept = std::move(kept);
        c.promised.emplace();  // no deadlock while this is pending: a wait for memory will end
        t.submit_recorded([this, on]() noexcept { state_->wait_for_stream(on); });
    });
}

inline task<std::optional<device_memory>> device_memory::take(std::shared_ptr<device_account> from, stream s,
                                                              std::size_t bytes,
                                                              std::shared_ptr<transfer_log> log,
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

inline device_memory& device_memory::operator=(device_memory&& other) noexcept {
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

inline device_memory::~device_memory() {
    if (data_ == nullptr) return;
    const bool is_behind_recorded = account_->give(data_, bytes_, stream_, behind_);
    if (!is_behind_recorded || !times_ || !times_->start) return;
    try {
        log_->done_with(stream_.get(), behind_);
    } catch (...) {
        return;  // only the statistics are less exact
    }
}

inline void device_memory::fill_from(lease& from) {
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

inline void device_memory::queue_copy_to(std::byte* to, transfer_log* log) const {
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

inline void device_memory::check_present() const {
    if (data_ != nullptr) return;
    throw std::invalid_argument(
        "weir: a device_buffer that was moved away has no memory to hand over, to copy or to wait for");
}

inline awaited_work<recorded_work> device_memory::filled() const {
    check_present();
    if (copied_ || !on_device()) return until_over(of(), copied_);
    of()->check_not_captured(stream_.get(), "cudaEventRecord");
    auto here = std::make_shared<pooled_event>(of(), false);
    record(*here, stream_);
    return until_over(of(), std::move(here));
}

inline void device_memory::hand_over(const stream& to) {
    check_present();
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
            // The stream `to` waits, on the device, for all work queued on the previous stream. If that one
            // is captured, a record would be put into the graph, and would draw `to` into the capture.
            of()->check_not_captured(stream_.get(), "cudaEventRecord");
            const pooled_event passed(of(), false);
            record(passed, stream_);
            wait(to, passed);
        }
    }
    stream_ = to;
    was_handed_over_ = true;
    if (!times_) return;
    auto start = std::make_shared<pooled_event>(of(), true);
    record(*start, to);
    log_->taken_over(*times_, to.get(), std::move(start));
}

inline std::shared_ptr<copy_times> device_memory::begin_copy(shared_event end) const {
    auto times = std::make_shared<copy_times>();
    times->bytes = bytes_;
    times->begin = std::make_shared<pooled_event>(of(), true);
    times->end = std::move(end);
    record(*times->begin, stream_);
    return times;
}

}  // namespace weir::cuda::detail

#endif
