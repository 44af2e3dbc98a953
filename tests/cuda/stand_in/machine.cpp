// Streams, and the threads that work them off.
// SPDX-License-Identifier: BSL-1.0
#include "machine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <utility>

namespace stand_in::detail {

duration engine::reserve(duration ready, duration length, duration now) {
    while (!busy_.empty() && busy_.begin()->second <= now) busy_.erase(busy_.begin());
    auto next = busy_.begin();
    for (; next != busy_.end() && next->first < ready + length; ++next) ready = std::max(ready, next->second);
    const duration end = ready + length;
    if (next != busy_.begin() && std::prev(next)->second == ready)
        std::prev(next)->second = end;
    else
        busy_.emplace_hint(next, ready, end);
    return end;
}

machine& machine::instance() {
    static machine m;
    return m;
}

machine::machine() { begin(); }

machine::~machine() {
    {
        lock l(mutex);
        reset(l);
        stopping_ = true;
    }
    work_.notify_all();
    for (std::thread& t : workers_) t.join();
}

void machine::begin() {
    ++epoch_;
    devices = std::deque<device>(1);
    default_streams.assign(1, nullptr);
    late = std::make_shared<stream>(stream{.handle = nullptr, .device = 0, .blocking = false});
    how_long = model(1e9, duration(0), pace::at_once);
    observed = duration(0);
    without_device = cudaSuccess;
    all_held = host_functions_held = host_functions_dropped = false;
    have_pools = true;
    captured_elsewhere = remembers_not_ready = addresses_come_back = false;
    calls = work_done = 0;
    end_is_seen = nullptr;
}

// --- Calls.

namespace {

constexpr std::string_view safe_beside_captures[] = {
    "cudaRuntimeGetVersion",  "cudaDriverGetVersion",
    "cudaGetDeviceCount",     "cudaSetDevice",
    "cudaGetDevice",          "cudaDeviceGetAttribute",
    "cudaStreamGetDevice",    "cudaDeviceGetStreamPriorityRange",
    "cudaStreamWaitEvent",    "cudaThreadExchangeStreamCaptureMode",
    "cudaEventRecord",        "cudaLaunchHostFunc",
    "cudaMemcpyAsync",        "cudaMemcpyBatchAsync",
    "cudaMemsetAsync",        "cudaStreamIsCapturing",
    "cudaStreamEndCapture",   "cudaGraphLaunch",
    "cudaStreamBeginCapture", "cudaPointerGetAttributes",
};

}  // namespace

caller& machine::here() const {
    thread_local caller c;
    if (c.epoch != epoch_) c = {.epoch = epoch_, .inside = c.inside};
    return c;
}

void machine::enter(const char* called, const void* released) {
    function = called;
    ++calls;
    ++calls_of[called];
    cudaError_t injected = cudaSuccess;
    bool sticky = false;
    std::erase_if(faults, [&](fault& f) {
        if (!f.function.empty() && f.function != called) return false;
        if (f.n > 1) {
            --f.n;
            return false;
        }
        injected = f.error;
        sticky = f.sticky;
        return f.n == 1;
    });
    if (injected != cudaSuccess) {
        if (released != nullptr) failed_to_free.insert(released);
        if (sticky) poison(here().device, injected);
        throw refusal{injected};
    }
    if (here().inside != nullptr)
        refuse(cudaErrorNotPermitted, std::string("was called inside of a ") + here().inside);
    if (here().capture_mode != cudaStreamCaptureModeRelaxed &&
        std::ranges::find(safe_beside_captures, called) == std::ranges::end(safe_beside_captures))
        check_captures();
}

void machine::check_captures() {
    if (captured_elsewhere) refuse(cudaErrorStreamCaptureUnsupported, "spoils what another thread captures");
    bool refused = false;
    for (const auto& c : captures) {
        const bool mine = c->by == std::this_thread::get_id();
        // A thread that is strict with itself only says so by its mode.
        const bool concerned = mine ? c->mode != cudaStreamCaptureModeRelaxed
                                    : c->mode == cudaStreamCaptureModeGlobal &&
                                          here().capture_mode == cudaStreamCaptureModeGlobal;
        if (!concerned) continue;
        spoil(*c, mine ? "spoils what this thread captures" : "spoils what another thread captures");
        refused = true;
    }
    need(!refused, cudaErrorStreamCaptureUnsupported);
}

void machine::spoil(capture& c, const std::string& sentence) {
    c.spoilt = true;
    misuse(sentence);
}

void machine::need_uncaptured(const stream& s) {
    if (!s.captured) return;
    spoil(*s.captured, "the stream is captured: its work has no end to ask for");
    throw refusal{cudaErrorStreamCaptureUnsupported};
}

void machine::need_no_capture(const stream& s) const { need(!s.captured, cudaErrorStreamCaptureUnsupported); }

int machine::use_current() {
    const int current = here().device;
    device_at(current).has_context = true;
    return current;
}

void machine::misuse(const std::string& sentence) { misuses.push_back(function + (": " + sentence)); }

void machine::refuse(cudaError_t code, const std::string& sentence) {
    misuse(sentence);
    throw refusal{code};
}

void machine::need(bool condition, cudaError_t otherwise) const {
    if (!condition) throw refusal{otherwise};
}

device& machine::device_at(int number) {
    need(number >= 0 && static_cast<std::size_t>(number) < devices.size(), cudaErrorInvalidDevice);
    return devices[static_cast<std::size_t>(number)];
}

void machine::need_healthy(int number) { need(health(number) == cudaSuccess, health(number)); }

// --- Streams and events.

template <class Handle>
Handle machine::new_handle() {
    if (addresses_come_back && !old_handles_.empty()) {
        const std::uintptr_t again = old_handles_.back();
        old_handles_.pop_back();
        failed_to_free.erase(std::bit_cast<const void*>(again));
        return std::bit_cast<Handle>(again);
    }
    last_handle_ += 16;
    return std::bit_cast<Handle>(last_handle_);
}
template cudaGraph_t machine::new_handle<cudaGraph_t>();
template cudaGraphExec_t machine::new_handle<cudaGraphExec_t>();
template cudaEvent_t machine::new_handle<cudaEvent_t>();
template cudaMemPool_t machine::new_handle<cudaMemPool_t>();

void machine::give_back(const void* handle) { old_handles_.push_back(std::bit_cast<std::uintptr_t>(handle)); }

std::shared_ptr<stream> machine::add_stream(int device, bool blocking) {
    auto s = std::make_shared<stream>(
        stream{.handle = new_handle<cudaStream_t>(), .device = device, .blocking = blocking});
    streams.emplace(s->handle, s);
    return s;
}

std::shared_ptr<stream> machine::find(cudaStream_t handle) {
    if (handle == nullptr) {
        const int current = use_current();
        auto& s = default_streams[static_cast<std::size_t>(current)];
        if (!s) s = std::make_shared<stream>(stream{.handle = nullptr, .device = current, .blocking = true});
        return s;
    }
    const auto found = streams.find(handle);
    if (found == streams.end() || found->second->destroyed)
        refuse(cudaErrorInvalidResourceHandle, "the stream was destroyed, or never was one");
    return found->second;
}

std::shared_ptr<stream> machine::find_healthy(cudaStream_t handle) {
    auto s = find(handle);
    need_healthy(s->device);
    return s;
}

void machine::destroy(const std::shared_ptr<stream>& s) {
    s->destroyed = true;
    if (!s->queue.empty() || s->has_worker) return;
    if (streams.erase(s->handle) != 0) give_back(s->handle);
}

event& machine::find(cudaEvent_t handle) {
    const auto found = events.find(handle);
    if (found == events.end())
        refuse(cudaErrorInvalidResourceHandle, "the event was destroyed, or never was one");
    return found->second;
}

int machine::find(cudaMemPool_t handle) {
    const auto found = pools.find(handle);
    if (found == pools.end()) refuse(cudaErrorInvalidValue, "the pool was destroyed, or never was one");
    return found->second;
}

void machine::enqueue(const std::shared_ptr<stream>& s, operation op) {
    op.device = s->device;
    if (s->captured) {
        if (!s->captured->spoilt) s->captured->nodes.push_back(std::move(op));
        return;
    }
    join_default_stream(s);
    op.position = ++s->submitted;
    op.stamp = std::max(s->end, observed);
    s->end = op.on != nullptr ? op.on->reserve(op.stamp, op.length, observed) : op.stamp + op.length;
    op.waits = how_long.waits == pace::in_real_time && op.length > duration(0);
    for (const auto& b : op.uses) ++b->queued;
    s->queue.push_back(std::move(op));
    schedule(s);
}

void machine::await(const std::shared_ptr<stream>& s, const std::shared_ptr<stream>& other,
                    std::uint64_t position, duration stamp) {
    s->end = std::max(s->end, stamp);
    if (other->done >= position) return;
    s->queue.push_back(
        {.awaited = other, .awaited_position = position, .position = ++s->submitted, .device = s->device});
    schedule(s);
}

void machine::join_default_stream(const std::shared_ptr<stream>& s) {
    if (!s->blocking) return;
    if (const auto first = default_streams[static_cast<std::size_t>(s->device)]; s != first) {
        if (first) await(s, first, first->submitted, first->end);
        return;
    }
    for (const auto& [handle, other] : streams) {
        // As the documentation has it, it isn't the capture that suffers.
        if (other->blocking && other->device == s->device)
            need(!other->captured, cudaErrorStreamCaptureImplicit);
    }
    for (const auto& [handle, other] : streams)
        if (other->blocking && other->device == s->device) await(s, other, other->submitted, other->end);
}

void machine::synchronize(lock& l, const std::shared_ptr<stream>& s, std::uint64_t position, duration stamp) {
    changed.wait(l, [&] { return s->done >= position; });
    need_healthy(s->device);
    observe(stamp);
}

void machine::observe(duration stamp) { observed = std::max(observed, stamp); }

duration machine::length_of(std::size_t bytes) const {
    const double ns = static_cast<double>(bytes) * 1e9 / how_long.bytes_per_second;
    return how_long.latency + duration(std::llround(ns));
}

// --- The threads.

bool machine::can_go_on(const std::shared_ptr<stream>& s) {
    if (s->held || (all_held && s != late) || s->queue.empty()) return false;
    const operation& next = s->queue.front();
    if (calls_host_function(s, next) && host_function_runs_) {
        if (std::ranges::find(next_host_functions_, s) == next_host_functions_.end())
            next_host_functions_.push_back(s);
        return false;
    }
    if (!next.awaited || next.awaited->done >= next.awaited_position) return true;
    if (auto& waiters = next.awaited->waiters; std::find(waiters.begin(), waiters.end(), s) == waiters.end())
        waiters.push_back(s);
    return false;
}

// Now: they may be dropped, or put aside.
bool machine::calls_host_function(const std::shared_ptr<stream>& s, const operation& op) const {
    return op.host_function && !host_functions_dropped && (!host_functions_held || s == late);
}

void machine::schedule(const std::shared_ptr<stream>& s) {
    if (s->has_worker || !can_go_on(s)) return;
    s->has_worker = true;
    ready_.push_back(s);
    if (idle_ < ready_.size())
        workers_.emplace_back([this] { run_worker(); });
    else
        work_.notify_one();
}

void machine::schedule_all() {
    for (const auto& [handle, s] : streams) schedule(s);
    for (const auto& s : default_streams)
        if (s) schedule(s);
}

void machine::run_worker() {
    lock l(mutex);
    for (;;) {
        ++idle_;
        changed.notify_all();
        work_.wait(l, [this] { return stopping_ || !ready_.empty(); });
        --idle_;
        if (ready_.empty()) return;
        const auto s = std::move(ready_.front());
        ready_.pop_front();
        while (can_go_on(s)) execute(l, s);
        s->has_worker = false;
        if (s->destroyed) destroy(s);
    }
}

void machine::execute(lock& l, const std::shared_ptr<stream>& s) {
    operation op = std::move(s->queue.front());
    s->queue.pop_front();
    const bool calls_back = calls_host_function(s, op);
    if (calls_back) host_function_runs_ = true;
    if (op.host_function) {
        if (host_functions_dropped) {
            op.work = nullptr;
        } else if (host_functions_held && s != late) {
            late->queue.push_back({.work = std::exchange(op.work, nullptr),
                                   .caller_is = op.caller_is,
                                   .host_function = true,
                                   .stamp = op.stamp,
                                   .position = ++late->submitted,
                                   .device = op.device});
        } else {
            observe(op.stamp);
        }
    }
    s->busy = true;
    for (const auto& b : op.uses) ++b->running;
    std::chrono::steady_clock::time_point until{};
    if (op.waits) {
        until = std::chrono::steady_clock::now();
        if (op.on != nullptr) until = std::max(until, op.on->free_at);
        until += op.length;
        if (op.on != nullptr) op.on->free_at = until;
    }
    here().inside = op.caller_is;
    l.unlock();
    std::this_thread::sleep_until(until);
    if (op.work) op.work();
    l.lock();
    here().inside = nullptr;
    if (calls_back) {
        host_function_runs_ = false;
        for (const auto& next : std::exchange(next_host_functions_, {})) schedule(next);
    }
    for (const auto& b : op.uses) --b->running;
    if (op.frees && op.frees->queued != 0)
        misuses.emplace_back("cudaFreeAsync: the memory is freed while work of another stream still uses it");
    leave(op);
    if (op.fails != cudaSuccess) poison(op.device, op.fails);
    s->busy = false;
    ++work_done;
    // The rest may have been dropped while this was running.
    s->done = s->queue.empty() ? s->submitted : op.position;
    for (const auto& w : std::exchange(s->waiters, {})) schedule(w);
    changed.notify_all();
}

// An operation is over, or was dropped.
void machine::leave(const operation& op) {
    for (const auto& b : op.uses) {
        --b->queued;
        fill_if_freed(*b);
    }
    if (op.frees) free(*op.frees);
}

// --- Steering.

void machine::poison(int number, cudaError_t error) {
    device_at(number).error = error;
    for (const auto& [handle, s] : std::map(streams))
        if (s->device == number) drop_queue(*s);
    if (const auto& s = default_streams[static_cast<std::size_t>(number)]) drop_queue(*s);
    std::erase_if(late->queue, [&](const operation& op) { return op.device == number; });
}

void machine::drop_queue(stream& s) {
    for (const operation& op : std::exchange(s.queue, {})) leave(op);
    if (s.busy) return;
    s.done = s.submitted;
    for (const auto& w : std::exchange(s.waiters, {})) schedule(w);
    changed.notify_all();
    if (s.destroyed && !s.has_worker && streams.erase(s.handle) != 0) give_back(s.handle);
}

void machine::wait_until_idle(lock& l) {
    changed.wait(l, [this] { return ready_.empty() && idle_ == workers_.size(); });
}

bool machine::reset(lock& l) {
    wait_until_idle(l);
    all_held = true;  // who waits for what is dropped doesn't go on
    bool pending = !late->queue.empty();
    for (const auto& [handle, s] : std::map(streams)) {
        pending = pending || !s->queue.empty();
        drop_queue(*s);
    }
    for (const auto& s : default_streams)
        if (s) {
            pending = pending || !s->queue.empty();
            drop_queue(*s);
        }
    captures.clear();
    graphs.clear();
    executables.clear();
    next_host_functions_.clear();
    old_handles_.clear();
    streams.clear();
    events.clear();
    pools.clear();
    blocks.clear();
    freed_.clear();
    freed_bytes_ = 0;
    calls_of.clear();
    faults.clear();
    failed_to_free.clear();
    misuses.clear();
    begin();
    return pending;
}

}  // namespace stand_in::detail
