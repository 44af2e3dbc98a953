// The runtime's functions about devices, streams and events.
// SPDX-License-Identifier: BSL-1.0
#include "machine.hpp"

#include <algorithm>
#include <utility>

using namespace stand_in::detail;

namespace {

constexpr int least_priority = 0;
constexpr int greatest_priority = -5;

cudaError_t create_stream(const char* function, cudaStream_t* handle, unsigned int flags) {
    return call(function, [&](machine& m, machine::lock&) {
        m.need(handle != nullptr && (flags == cudaStreamDefault || flags == cudaStreamNonBlocking));
        const int device = m.use_current();
        m.need_healthy(device);
        *handle = m.add_stream(device, flags == cudaStreamDefault)->handle;
        return cudaSuccess;
    });
}

// As long as the capture goes on, whoever asks spoils it; and afterwards there is no answer, either.
void need_uncaptured(machine& m, const event& e) {
    if (!e.captured) return;
    if (std::ranges::find(m.captures, e.captured) != m.captures.end())
        m.spoil(*e.captured, "the event was recorded in a stream that is captured");
    throw refusal{cudaErrorCapturedEvent};
}

}  // namespace

extern "C" {

// --- Versions, which are told without a device, too.

cudaError_t cudaRuntimeGetVersion(int* version) {
    return call_without_device("cudaRuntimeGetVersion", [&](machine& m, machine::lock&) {
        m.need(version != nullptr);
        *version = CUDART_VERSION;
        return cudaSuccess;
    });
}

cudaError_t cudaDriverGetVersion(int* version) {
    return call_without_device("cudaDriverGetVersion", [&](machine& m, machine::lock&) {
        m.need(version != nullptr);
        *version = m.without_device == cudaErrorInsufficientDriver ? 0 : CUDART_VERSION;
        return cudaSuccess;
    });
}

// --- Devices.

cudaError_t cudaGetDeviceCount(int* count) {
    return call_without_device("cudaGetDeviceCount", [&](machine& m, machine::lock&) {
        m.need(count != nullptr);
        *count = m.without_device == cudaSuccess ? static_cast<int>(m.devices.size()) : 0;
        return m.without_device;
    });
}

cudaError_t cudaSetDevice(int device) {
    return call("cudaSetDevice", [&](machine& m, machine::lock&) {
        m.device_at(device).has_context = true;
        m.here().device = device;
        return m.health(device);
    });
}

cudaError_t cudaGetDevice(int* device) {
    return call("cudaGetDevice", [&](machine& m, machine::lock&) {
        m.need(device != nullptr);
        *device = m.here().device;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return call("cudaDeviceGetAttribute", [&](machine& m, machine::lock&) {
        m.need(value != nullptr);
        m.need_healthy(device);
        *value = attribute == cudaDevAttrMemoryPoolsSupported ? int{m.have_pools}
                 : attribute == cudaDevAttrAsyncEngineCount   ? 2
                                                              : 0;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return call("cudaDeviceGetStreamPriorityRange", [&](machine& m, machine::lock&) {
        m.need_healthy(m.here().device);
        if (least != nullptr) *least = least_priority;
        if (greatest != nullptr) *greatest = greatest_priority;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSynchronize() {
    return call("cudaDeviceSynchronize", [&](machine& m, machine::lock& l) {
        const int device = m.use_current();
        m.need_healthy(device);
        std::vector<std::pair<std::shared_ptr<stream>, std::uint64_t>> all;
        stand_in::duration end{0};
        const auto add = [&](const std::shared_ptr<stream>& s) {
            all.emplace_back(s, s->submitted);
            end = std::max(end, s->end);
        };
        for (const auto& [handle, s] : m.streams)
            if (s->device == device) add(s);
        add(m.find(cudaStream_t{}));
        for (const auto& [s, position] : all) m.synchronize(l, s, position, end);
        return cudaSuccess;
    });
}

// --- Streams.

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned int flags) {
    return create_stream("cudaStreamCreateWithFlags", handle, flags);
}

// Priorities change nothing here: each stream has a thread.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle, unsigned int flags, int) {
    return create_stream("cudaStreamCreateWithPriority", handle, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    return call(
        "cudaStreamDestroy",
        [&](machine& m, machine::lock&) {
            if (handle == nullptr)
                m.refuse(cudaErrorInvalidResourceHandle, "the default stream can't be destroyed");
            const auto s = m.find(handle);
            m.destroy(s);
            return m.health(s->device);
        },
        handle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    return call("cudaStreamSynchronize", [&](machine& m, machine::lock& l) {
        const auto s = m.find_healthy(handle);
        m.need_uncaptured(*s);
        m.join_default_stream(s);
        m.synchronize(l, s, s->submitted, s->end);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
    return call("cudaStreamQuery", [&](machine& m, machine::lock&) {
        const auto s = m.find_healthy(handle);
        m.need_uncaptured(*s);
        m.join_default_stream(s);
        if (s->done < s->submitted) return cudaErrorNotReady;
        m.observe(s->end);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t awaited, unsigned int flags) {
    return call("cudaStreamWaitEvent", [&](machine& m, machine::lock&) {
        const auto s = m.find_healthy(handle);
        const event& e = m.find(awaited);
        m.need_healthy(e.device);
        m.need(flags == cudaEventWaitDefault);
        if (e.captured) {
            m.need(!s->captured || s->captured == e.captured, cudaErrorStreamCaptureIsolation);
            s->captured = e.captured;  // until its capture ends
            return cudaSuccess;
        }
        m.need(!s->captured, cudaErrorStreamCaptureIsolation);
        if (e.where) m.await(s, e.where, e.position, e.stamp);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
    return call("cudaStreamGetDevice", [&](machine& m, machine::lock&) {
        m.need(device != nullptr);
        *device = m.find_healthy(handle)->device;
        return cudaSuccess;
    });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    return call("cudaThreadExchangeStreamCaptureMode", [&](machine& m, machine::lock&) {
        m.need(mode != nullptr && *mode >= cudaStreamCaptureModeGlobal &&
               *mode <= cudaStreamCaptureModeRelaxed);
        m.need_healthy(m.here().device);
        std::swap(*mode, m.here().capture_mode);
        return cudaSuccess;
    });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
    return call("cudaLaunchHostFunc", [&](machine& m, machine::lock&) {
        m.need(function != nullptr);
        m.enqueue(m.find_healthy(handle),
                  {.work = [=] { function(data); }, .caller_is = "host function", .host_function = true});
        return cudaSuccess;
    });
}

// --- Events.

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned int flags) {
    return call("cudaEventCreateWithFlags", [&](machine& m, machine::lock&) {
        constexpr unsigned int all = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
        const bool timed = (flags & cudaEventDisableTiming) == 0;
        m.need(handle != nullptr && (flags & ~all) == 0);
        m.need(!timed || (flags & cudaEventInterprocess) == 0);
        const int device = m.use_current();
        m.need_healthy(device);
        *handle = m.new_handle<cudaEvent_t>();
        m.events.emplace(*handle, event{.device = device, .timed = timed});
        return cudaSuccess;
    });
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
    return call(
        "cudaEventDestroy",
        [&](machine& m, machine::lock&) {
            const cudaError_t health = m.health(m.find(handle).device);
            m.events.erase(handle);
            m.give_back(handle);
            return health;
        },
        handle);
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t where) {
    return call("cudaEventRecord", [&](machine& m, machine::lock&) {
        event& e = m.find(handle);
        const auto s = m.find_healthy(where);
        m.need(e.device == s->device, cudaErrorInvalidResourceHandle);
        e.captured = s->captured;
        if (e.captured) {
            e.where = nullptr;
            return cudaSuccess;
        }
        m.join_default_stream(s);
        e.where = s;
        e.position = s->submitted;
        e.stamp = std::max(s->end, m.observed);
        return cudaSuccess;
    });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
    return call("cudaEventQuery", [&](machine& m, machine::lock&) {
        const event& e = m.find(handle);
        m.need_healthy(e.device);
        need_uncaptured(m, e);
        if (!e.done()) return cudaErrorNotReady;
        m.observe(e.stamp);
        if (m.end_is_seen) m.end_is_seen();
        return cudaSuccess;
    });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
    return call("cudaEventSynchronize", [&](machine& m, machine::lock& l) {
        const event e = m.find(handle);  // it may be destroyed meanwhile
        m.need_healthy(e.device);
        need_uncaptured(m, e);
        if (e.where) m.synchronize(l, e.where, e.position, e.stamp);
        return cudaSuccess;
    });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t until) {
    return call("cudaEventElapsedTime", [&](machine& m, machine::lock&) {
        m.need(ms != nullptr);
        const event& a = m.find(from);
        const event& b = m.find(until);
        m.need_healthy(a.device);
        m.need(a.timed && b.timed && a.where && b.where && a.device == b.device,
               cudaErrorInvalidResourceHandle);
        if (!a.done() || !b.done()) return cudaErrorNotReady;
        *ms = std::chrono::duration<float, std::milli>(b.stamp - a.stamp).count();
        return cudaSuccess;
    });
}

}  // extern "C"
