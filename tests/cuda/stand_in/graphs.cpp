// The runtime's functions that capture streams into graphs, and launch those.
//
// A graph's work is done in the order of the calls by which it was captured, also that of several streams. What
// the stand-in doesn't put into a graph is refused: allocations, batches of copies, and pageable memory.
// SPDX-License-Identifier: BSL-1.0
#include "machine.hpp"

#include <algorithm>
#include <utility>

using namespace stand_in::detail;

namespace {

template <class Handle>
std::vector<operation>& find(machine& m, std::map<Handle, std::vector<operation>>& all, Handle handle) {
    const auto found = all.find(handle);
    if (found == all.end()) m.refuse(cudaErrorInvalidValue, "the graph was destroyed, or never was one");
    return found->second;
}

template <class Handle>
cudaError_t destroy(machine& m, std::map<Handle, std::vector<operation>>& all, Handle handle) {
    find(m, all, handle);
    all.erase(handle);
    m.give_back(handle);
    return m.health(m.here().device);
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
    return call("cudaStreamBeginCapture", [&](machine& m, machine::lock&) {
        m.need(mode >= cudaStreamCaptureModeGlobal && mode <= cudaStreamCaptureModeRelaxed);
        m.need(handle != nullptr, cudaErrorStreamCaptureUnsupported);
        const auto s = m.find_healthy(handle);
        m.need(!s->captured, cudaErrorIllegalState);
        s->captured = std::make_shared<capture>(capture{.origin = s.get(), .mode = mode});
        m.captures.push_back(s->captured);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
    return call("cudaStreamEndCapture", [&](machine& m, machine::lock&) {
        m.need(graph != nullptr);
        const auto s = m.find_healthy(handle);
        const auto c = s->captured;
        m.need(c && c->origin == s.get(), cudaErrorIllegalState);
        m.need(c->mode == cudaStreamCaptureModeRelaxed || c->by == std::this_thread::get_id(),
               cudaErrorStreamCaptureWrongThread);
        std::erase(m.captures, c);
        for (const auto& [other_handle, other] : m.streams)
            if (other->captured == c) other->captured = nullptr;
        *graph = nullptr;
        m.need(!c->spoilt, cudaErrorStreamCaptureInvalidated);
        *graph = m.new_handle<cudaGraph_t>();
        m.graphs.emplace(*graph, std::move(c->nodes));
        return cudaSuccess;
    });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
    return call("cudaStreamIsCapturing", [&](machine& m, machine::lock&) {
        m.need(status != nullptr);
        const auto s = m.find_healthy(handle);
        if (handle == nullptr) {
            for (const auto& [other_handle, other] : m.streams)
                m.need(!other->blocking || other->device != s->device || !other->captured,
                       cudaErrorStreamCaptureImplicit);
        }
        *status = !s->captured          ? cudaStreamCaptureStatusNone
                  : s->captured->spoilt ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
    return call("cudaGraphInstantiate", [&](machine& m, machine::lock&) {
        m.need(executable != nullptr && flags == 0);
        m.need_healthy(m.here().device);
        const auto& nodes = find(m, m.graphs, graph);
        *executable = m.new_handle<cudaGraphExec_t>();
        m.executables.emplace(*executable, nodes);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t where) {
    return call("cudaGraphLaunch", [&](machine& m, machine::lock&) {
        const auto s = m.find_healthy(where);
        for (const operation& each : find(m, m.executables, executable)) m.enqueue(s, each);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    return call(
        "cudaGraphExecDestroy",
        [&](machine& m, machine::lock&) { return destroy(m, m.executables, executable); }, executable);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return call(
        "cudaGraphDestroy", [&](machine& m, machine::lock&) { return destroy(m, m.graphs, graph); }, graph);
}

}  // extern "C"
