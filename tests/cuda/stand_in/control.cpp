// What control.hpp declares.
// SPDX-License-Identifier: BSL-1.0
#include "control.hpp"

#include "machine.hpp"

#include <stdexcept>
#include <utility>

namespace stand_in {

using detail::machine;

namespace {

// Steering isn't a call of the runtime, and what it is given wrongly is a mistake of the test.
template <class Body>
auto steer(Body body) {
    machine& m = machine::instance();
    machine::lock l(m.mutex);
    m.function = "stand_in";
    try {
        return body(m, l);
    } catch (const detail::refusal& r) {
        throw std::invalid_argument(std::string("stand_in: ") + cudaGetErrorName(r.code));
    }
}

std::string of_device(int device) { return " of device " + std::to_string(device); }

}  // namespace

void reset() {
    const bool pending = steer([](machine& m, machine::lock& l) { return m.reset(l); });
    if (pending)
        throw std::logic_error("stand_in::reset: work was still held; it was dropped. Release it before.");
}

void set_device_count(int count) {
    steer([&](machine& m, machine::lock&) {
        m.need(count > 0);
        m.devices.resize(static_cast<std::size_t>(count));
        m.default_streams.resize(m.devices.size());
    });
}

void no_device(cudaError_t why) {
    steer([&](machine& m, machine::lock&) { m.without_device = why; });
}

void support_memory_pools(bool supported) {
    steer([&](machine& m, machine::lock&) { m.have_pools = supported; });
}

void set_device_memory(std::size_t bytes, int device) {
    steer([&](machine& m, machine::lock&) { m.device_at(device).memory = bytes; });
}

std::size_t device_memory_used(int device) {
    return steer([&](machine& m, machine::lock&) { return m.device_at(device).used; });
}

std::size_t most_device_memory_used(int device) {
    return steer([&](machine& m, machine::lock&) { return m.device_at(device).most_used; });
}

std::vector<int> contexts() {
    return steer([](machine& m, machine::lock&) {
        std::vector<int> all;
        for (std::size_t i = 0; i < m.devices.size(); ++i)
            if (m.devices[i].has_context) all.push_back(static_cast<int>(i));
        return all;
    });
}

void remember_not_ready(bool remembered) {
    steer([&](machine& m, machine::lock&) { m.remembers_not_ready = remembered; });
}

void reuse_addresses(bool reused) {
    steer([&](machine& m, machine::lock&) { m.addresses_come_back = reused; });
}

void capture_elsewhere(bool captures) {
    steer([&](machine& m, machine::lock&) { m.captured_elsewhere = captures; });
}

std::vector<std::string> misuses() {
    return steer([](machine& m, machine::lock&) { return m.misuses; });
}

std::vector<std::string> leaks(after_a_failed_free those) {
    return steer([&](machine& m, machine::lock&) {
        std::vector<std::string> sentences;
        const auto add = [&](const void* what, std::string sentence) {
            if (those == after_a_failed_free::listed || !m.failed_to_free.contains(what))
                sentences.push_back(std::move(sentence));
        };
        for (const auto& [handle, s] : m.streams)
            if (!s->destroyed) add(handle, "a stream" + of_device(s->device) + " was not destroyed");
        for (const auto& [handle, e] : m.events)
            add(handle, "an event" + of_device(e.device) + " was not destroyed");
        for (const auto& [handle, device] : m.pools)
            add(handle, "a memory pool" + of_device(device) + " was not destroyed");
        for (const auto& [handle, nodes] : m.graphs) add(handle, "a graph was not destroyed");
        for (const auto& [handle, nodes] : m.executables)
            add(handle, "an instantiated graph was not destroyed");
        for (const auto& [p, b] : m.blocks) {
            if (!b->allocated) continue;
            const bool page_locked = b->where == detail::place::page_locked;
            add(p, std::to_string(b->size) + " bytes of " +
                       (page_locked ? "page-locked memory" : "memory" + of_device(b->device)) +
                       " were not freed");
        }
        return sentences;
    });
}

std::size_t calls() {
    return steer([](machine& m, machine::lock&) { return m.calls; });
}

std::size_t calls(std::string_view function) {
    return steer([&](machine& m, machine::lock&) {
        const auto found = m.calls_of.find(function);
        return found == m.calls_of.end() ? std::size_t{0} : found->second;
    });
}

void fail_call(std::size_t n, cudaError_t error, bool sticky) { fail_call_of({}, n, error, sticky); }

void fail_call_of(std::string_view function, std::size_t n, cudaError_t error, bool sticky) {
    steer([&](machine& m, machine::lock&) {
        m.need(n != 0 && error != cudaSuccess);
        m.faults.push_back({std::string(function), n, error, sticky});
    });
}

void fail_each_call_of(std::string_view function, cudaError_t error) {
    steer([&](machine& m, machine::lock&) { m.faults.push_back({std::string(function), 0, error, false}); });
}

std::size_t forget_faults() {
    return steer([](machine& m, machine::lock&) {
        const std::size_t left = m.faults.size();
        m.faults.clear();
        return left;
    });
}

void poison(cudaError_t error, int device) {
    steer([&](machine& m, machine::lock&) { m.poison(device, error); });
}

cudaError_t launch(cudaStream_t stream, std::function<void()> kernel, duration model_time) {
    return steer([&](machine& m, machine::lock&) {
        const auto s = m.find(stream);
        if (m.health(s->device) == cudaSuccess)
            m.enqueue(s, {.work = std::move(kernel), .caller_is = "kernel", .length = model_time});
        return m.health(s->device);
    });
}

cudaError_t fail_kernel(cudaStream_t stream, cudaError_t error) {
    return steer([&](machine& m, machine::lock&) {
        const auto s = m.find(stream);
        if (m.health(s->device) == cudaSuccess) m.enqueue(s, {.fails = error});
        return m.health(s->device);
    });
}

void when_an_end_is_seen(std::function<void()> call) {
    steer([&](machine& m, machine::lock&) { m.end_is_seen = std::move(call); });
}

std::size_t work_done() {
    return steer([](machine& m, machine::lock&) { return m.work_done; });
}

std::size_t work_in(cudaGraph_t graph) {
    return steer([&](machine& m, machine::lock&) { return m.graphs.at(graph).size(); });
}

void drop_host_functions(bool drop) {
    steer([&](machine& m, machine::lock&) { m.host_functions_dropped = drop; });
}

void hold_host_functions() {
    steer([](machine& m, machine::lock&) { m.host_functions_held = m.late->held = true; });
}

void release_host_functions() {
    steer([](machine& m, machine::lock&) {
        m.host_functions_held = m.late->held = false;
        m.schedule(m.late);
    });
}

void hold(cudaStream_t stream) {
    steer([&](machine& m, machine::lock&) { m.find(stream)->held = true; });
}

void release(cudaStream_t stream) {
    steer([&](machine& m, machine::lock&) {
        // Also one that was destroyed, and has work left.
        const auto found = m.streams.find(stream);
        const auto s = found == m.streams.end() ? m.find(stream) : found->second;
        s->held = false;
        m.schedule(s);
    });
}

void hold_all() {
    steer([](machine& m, machine::lock&) { m.all_held = true; });
}

void release_all() {
    steer([](machine& m, machine::lock&) {
        m.all_held = false;
        for (const auto& [handle, s] : m.streams) s->held = false;
        for (const auto& s : m.default_streams)
            if (s) s->held = false;
        m.schedule_all();
    });
}

void wait_until_idle() {
    steer([](machine& m, machine::lock& l) { m.wait_until_idle(l); });
}

void set_model(model how_long) {
    steer([&](machine& m, machine::lock&) { m.how_long = how_long; });
}

duration stamp(cudaEvent_t event) {
    return steer([&](machine& m, machine::lock&) { return m.find(event).stamp; });
}

}  // namespace stand_in
