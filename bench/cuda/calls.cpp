// The time of the runtime's calls that an awaited copy makes beside the copy itself, and of those that the context's thread
// makes while it polls.
#include "common/harness.hpp"
#include "measure.hpp"
#include "parts.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench_cuda {
namespace {

class marked_stream {
  public:
    marked_stream() {
        must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
        must(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
    marked_stream(const marked_stream&) = delete;
    marked_stream& operator=(const marked_stream&) = delete;
    ~marked_stream() {
        static_cast<void>(cudaEventDestroy(event_));
        static_cast<void>(cudaStreamDestroy(stream_));
    }

    void mark() const { must(cudaEventRecord(event_, stream_), "cudaEventRecord"); }
    bool is_done() const {
        const cudaError_t code = cudaEventQuery(event_);
        if (code != cudaErrorNotReady) must(code, "cudaEventQuery");
        return code == cudaSuccess;
    }
    void copy(std::byte* to, const std::byte* from) const {
        must(cudaMemcpyAsync(to, from, 4096, cudaMemcpyDefault, stream_), "cudaMemcpyAsync");
    }

  private:
    cudaStream_t stream_ = nullptr;
    cudaEvent_t event_ = nullptr;
};

void set_mode(cudaStreamCaptureMode& mode) {
    must(cudaThreadExchangeStreamCaptureMode(&mode), "cudaThreadExchangeStreamCaptureMode");
}

}  // namespace

void calls(bench::session& session) {
    const std::string title = "calls of the runtime";
    if (!session.wants(title)) return;
    const marked_stream s;
    const pinned_memory host(4096);
    const device_memory device(4096);
    bench::group group(session, title, "a time");
    group.limit("cudaEventQuery of what is done", [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) static_cast<void>(s.is_done());
    });
    group.limit("the capture mode, there and back", [&](std::uint64_t n) {
        cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
        for (std::uint64_t i = 0; i < 2 * n; ++i) set_mode(mode);
    });
    group.limit("cudaEventRecord, until it is seen", [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            s.mark();
            while (!s.is_done()) {
            }
        }
    });
    group.limit("the same behind a copy of 4 KiB", [&](std::uint64_t n) {
        for (std::uint64_t i = 0; i < n; ++i) {
            s.copy(device.get(), host.get());
            s.mark();
            while (!s.is_done()) {
            }
        }
    });
    group.run();
}

}  // namespace bench_cuda
