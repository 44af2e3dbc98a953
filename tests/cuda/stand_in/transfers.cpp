// The runtime's functions that allocate, free, copy and fill memory.
// SPDX-License-Identifier: BSL-1.0
#include "machine.hpp"

#include <cstring>
#include <utility>

using namespace stand_in::detail;

namespace {

cudaError_t allocate(const char* function, void** p, std::size_t size, place where, bool legal) {
    return call(function, [&](machine& m, machine::lock&) {
        m.need(p != nullptr && legal);
        const int device = m.use_current();
        m.need_healthy(device);
        *p = size == 0 ? nullptr : m.allocate(size, where, device);
        return cudaSuccess;
    });
}

cudaError_t free_now(const char* function, void* p, bool page_locked) {
    return call(
        function,
        [&](machine& m, machine::lock&) {
            if (p == nullptr) return m.health(m.here().device);
            const auto b = m.find_allocated(p);
            if ((b->where == place::page_locked) != page_locked)
                m.refuse(cudaErrorInvalidValue,
                         page_locked ? "this is device memory" : "this is page-locked memory");
            // On a poisoned device nothing uses it any more; what still runs here is on its own.
            if (b->queued != 0 && m.health(b->device) == cudaSuccess)
                m.misuse("the memory is freed while queued work still uses it");
            if (b->where == place::pool) m.misuse("memory of a pool is freed by cudaFreeAsync");
            m.free(*b);
            return m.health(b->device);
        },
        p);
}

struct copy {
    void* to;
    const void* from;
    std::size_t size;
    cudaMemcpyKind kind;
    std::shared_ptr<block> target, source;
};

bool on_device(const std::shared_ptr<block>& b) { return b && b->where != place::page_locked; }

copy check_copy(machine& m, void* to, const void* from, std::size_t size, cudaMemcpyKind told) {
    m.need(told >= cudaMemcpyHostToHost && told <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
    copy c{to, from, size, told, m.find_bytes(to, size), m.find_bytes(from, size)};
    if (on_device(c.source))
        c.kind = on_device(c.target) ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
    else
        c.kind = on_device(c.target) ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost;
    if (told != cudaMemcpyDefault && told != c.kind) {
        const char* const names[] = {"from host to host", "from host to device", "from device to host",
                                     "from device to device"};
        m.refuse(cudaErrorInvalidMemcpyDirection,
                 std::string("the copy is said to be ") + names[told] + ", and is " + names[c.kind]);
    }
    return c;
}

void enqueue_copy(machine& m, const std::shared_ptr<stream>& s, const copy& c, bool staged,
                  stand_in::duration length) {
    device& d = m.device_at(s->device);
    operation op{.length = length};
    if (c.kind == cudaMemcpyHostToDevice) op.on = &d.to_device;
    if (c.kind == cudaMemcpyDeviceToHost) op.on = &d.from_device;
    if (c.target) op.uses.push_back(c.target);
    if (staged) {
        const auto* const from = static_cast<const std::byte*>(c.from);
        op.work = [to = c.to, bytes = std::vector<std::byte>(from, from + c.size)] {
            std::memcpy(to, bytes.data(), bytes.size());
        };
    } else {
        if (c.source) op.uses.push_back(c.source);
        op.work = [to = c.to, from = c.from, size = c.size] { std::memmove(to, from, size); };
    }
    m.enqueue(s, std::move(op));
}

}  // namespace

extern "C" {

// --- Memory.

cudaError_t cudaHostAlloc(void** p, size_t size, unsigned int flags) {
    constexpr unsigned int all = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    return allocate("cudaHostAlloc", p, size, place::page_locked, (flags & ~all) == 0);
}

cudaError_t cudaMalloc(void** p, size_t size) { return allocate("cudaMalloc", p, size, place::device, true); }

cudaError_t cudaFreeHost(void* p) { return free_now("cudaFreeHost", p, true); }

cudaError_t cudaFree(void* p) { return free_now("cudaFree", p, false); }

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* p) {
    return call("cudaPointerGetAttributes", [&](machine& m, machine::lock&) {
        m.need(attributes != nullptr && p != nullptr);
        const auto b = m.find_bytes(p, 1);
        if (b) m.need_healthy(b->device);
        *attributes = {};
        attributes->type = !b             ? cudaMemoryTypeUnregistered
                           : on_device(b) ? cudaMemoryTypeDevice
                                          : cudaMemoryTypeHost;
        attributes->device = b ? b->device : -2;
        attributes->devicePointer = b ? const_cast<void*>(p) : nullptr;
        attributes->hostPointer = on_device(b) ? nullptr : const_cast<void*>(p);
        return cudaSuccess;
    });
}

// --- Pools.

cudaError_t cudaMemPoolCreate(cudaMemPool_t* handle, const cudaMemPoolProps* properties) {
    return call("cudaMemPoolCreate", [&](machine& m, machine::lock&) {
        m.need(handle != nullptr && properties != nullptr);
        m.need(properties->allocType == cudaMemAllocationTypePinned &&
               properties->handleTypes == cudaMemHandleTypeNone &&
               properties->location.type == cudaMemLocationTypeDevice);
        m.need_healthy(properties->location.id);
        m.need(m.have_pools, cudaErrorNotSupported);
        *handle = m.new_handle<cudaMemPool_t>();
        m.pools.emplace(*handle, properties->location.id);
        return cudaSuccess;
    });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
    return call(
        "cudaMemPoolDestroy",
        [&](machine& m, machine::lock&) {
            const int device = m.find(handle);
            m.pools.erase(handle);
            m.give_back(handle);
            return m.health(device);
        },
        handle);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
    return call("cudaMemPoolSetAttribute", [&](machine& m, machine::lock&) {
        m.need_healthy(m.find(handle));
        m.need(value != nullptr && attribute >= cudaMemPoolReuseFollowEventDependencies &&
               attribute <= cudaMemPoolAttrReleaseThreshold);
        return cudaSuccess;
    });
}

// As on a real device, the memory is there in the stream's order: what others write before is lost.
cudaError_t cudaMallocFromPoolAsync(void** p, size_t size, cudaMemPool_t pool, cudaStream_t handle) {
    return call("cudaMallocFromPoolAsync", [&](machine& m, machine::lock&) {
        m.need(p != nullptr && size != 0);
        const int device = m.find(pool);
        m.need_healthy(device);
        const auto s = m.find_healthy(handle);
        m.need_no_capture(*s);
        *p = m.allocate(size, place::pool, device, s.get());
        const auto b = m.find_allocated(*p);
        m.enqueue(s, {.work = [p = *p,
                               size] { std::memset(p, std::to_integer<int>(stand_in::never_written), size); },
                      .uses = {b}});
        return cudaSuccess;
    });
}

cudaError_t cudaFreeAsync(void* p, cudaStream_t handle) {
    return call(
        "cudaFreeAsync",
        [&](machine& m, machine::lock&) {
            const auto s = m.find(handle);
            const auto b = m.find_allocated(p);
            if (b->where == place::page_locked) m.refuse(cudaErrorInvalidValue, "this is page-locked memory");
            if (m.health(s->device) != cudaSuccess) {
                m.free(*b);
                return m.health(s->device);
            }
            m.need_no_capture(*s);
            b->allocated = false;
            b->freed_on = s.get();
            m.enqueue(s, {.frees = b});
            return cudaSuccess;
        },
        p);
}

// --- Copies.

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t handle) {
    return call("cudaMemcpyAsync", [&](machine& m, machine::lock& l) {
        const auto s = m.find_healthy(handle);
        if (size == 0) return cudaSuccess;
        const copy c = check_copy(m, to, from, size, kind);
        if (!c.target || !c.source) m.need_no_capture(*s);  // pageable memory
        enqueue_copy(m, s, c, c.kind == cudaMemcpyHostToDevice && !c.source, m.length_of(size));
        const bool waits = c.kind == cudaMemcpyHostToHost || (c.kind == cudaMemcpyDeviceToHost && !c.target);
        if (waits) m.synchronize(l, s, s->submitted, s->end);
        return cudaSuccess;
    });
}

cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* sizes, size_t count,
                                 cudaMemcpyAttributes* attributes, size_t* first_of, size_t attribute_count,
                                 cudaStream_t handle) {
    return call("cudaMemcpyBatchAsync", [&](machine& m, machine::lock&) {
        m.need(handle != nullptr && to != nullptr && from != nullptr && sizes != nullptr && count != 0);
        m.need(attributes != nullptr && first_of != nullptr && attribute_count != 0 && first_of[0] == 0);
        for (std::size_t a = 0; a < attribute_count; ++a) {
            m.need(first_of[a] < count && (a == 0 || first_of[a] > first_of[a - 1]));
            m.need(attributes[a].srcAccessOrder >= cudaMemcpySrcAccessOrderStream &&
                   attributes[a].srcAccessOrder <= cudaMemcpySrcAccessOrderAny);
        }
        const auto s = m.find_healthy(handle);
        m.need_no_capture(*s);
        std::vector<copy> copies;
        copies.reserve(count);
        for (std::size_t i = 0; i < count; ++i)
            copies.push_back(check_copy(m, to[i], from[i], sizes[i], cudaMemcpyDefault));
        std::size_t a = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (a + 1 < attribute_count && first_of[a + 1] == i) ++a;
            // The batch begins once.
            const auto length = m.length_of(sizes[i]) - (i == 0 ? stand_in::duration(0) : m.how_long.latency);
            const bool staged = attributes[a].srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall;
            enqueue_copy(m, s, copies[i], staged, length);
        }
        return cudaSuccess;
    });
}

cudaError_t cudaMemsetAsync(void* p, int value, size_t size, cudaStream_t handle) {
    return call("cudaMemsetAsync", [&](machine& m, machine::lock&) {
        const auto s = m.find_healthy(handle);
        if (size == 0) return cudaSuccess;
        const auto b = m.find_bytes(p, size);
        if (!on_device(b)) m.refuse(cudaErrorInvalidValue, "this is not device memory");
        m.enqueue(s,
                  {.work = [=] { std::memset(p, value, size); }, .uses = {b}, .length = m.length_of(size)});
        return cudaSuccess;
    });
}

}  // extern "C"
