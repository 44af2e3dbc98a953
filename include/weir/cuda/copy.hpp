// weir cuda: copies between the host and a GPU that can be awaited
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_COPY_HPP
#define WEIR_CUDA_COPY_HPP

#include <weir/cuda/awaited_work.hpp>
#include <weir/cuda/context.hpp>
#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>

#include <cstddef>  // for std::size_t
#include <cstring>  // for std::memcpy
#include <memory>   // for std::shared_ptr
#include <span>     // for std::span

namespace weir::cuda {

namespace detail {

// Whether the call that queues the copy may block until the copy, or work queued before it, is done: the
// runtime copies ordinary memory, and from host to host, on the calling thread.
inline bool may_block(const piece& p) noexcept {
    if (p.bytes == 0) return false;
    const auto kind_of = [](const void* memory) noexcept {
        cudaPointerAttributes of{};
        return without_last_error(cudaPointerGetAttributes(&of, memory)) == cudaSuccess
                   ? of.type
                   : cudaMemoryTypeUnregistered;
    };
    const cudaMemoryType to = kind_of(p.to);
    const cudaMemoryType from = kind_of(p.from);
    return to == cudaMemoryTypeUnregistered || from == cudaMemoryTypeUnregistered ||
           (to == cudaMemoryTypeHost && from == cudaMemoryTypeHost);
}

struct copy_work {
    std::shared_ptr<stream_handle> stream;
    piece what;
    static constexpr const char* call = "cudaMemcpyAsync";

    void on_host() const noexcept {
        if (what.bytes != 0) std::memcpy(what.to, what.from, what.bytes);
    }
    void begin(core& of, ticket& t, const weir::detail::slot* measured) const {
        of.check_not_captured(stream->get(), call, measured);
        const auto queue = [what = what, s = stream->get()]() noexcept {
            return cudaMemcpyAsync(what.to, what.from, what.bytes, cudaMemcpyDefault, s);
        };
        if (may_block(what)) return t.submit_blocking(stream->get(), queue);
        of.check_call(queue(), call, measured);
        t.submit(stream->get(), measured);
    }
};

struct copies_work {
    std::shared_ptr<stream_handle> stream;
    std::span<const piece> pieces;
    static constexpr const char* call = "cudaMemcpyBatchAsync";

    void on_host() const noexcept {
        for (const piece& p : pieces) copy_work{{}, p}.on_host();
    }
    void begin(core& of, ticket& t, const weir::detail::slot* measured) const {
        of.check_not_captured(stream->get(), call, measured);
        const auto queue = [all = pieces, s = stream->get()]() noexcept {
            try {
                return copy_all(all, s);
            } catch (...) {
                return cudaErrorMemoryAllocation;  // of the host
            }
        };
        for (const piece& p : pieces) {
            if (may_block(p)) return t.submit_blocking(stream->get(), queue);
        }
        const cudaError_t code = queue();
        if (code != cudaSuccess) {
            of.wait_for_stream(stream->get());  // some of the copies may be pending
            of.fail(code, call, measured);
        }
        t.submit(stream->get(), measured);
    }
};

}  // namespace detail

/// Copies `bytes` from `from` to `to`, each of them on the host or the device, behind the work queued on the
/// stream.
///
/// \returns  awaitable of nothing: waits until the copy is done.
/// Suspends: always, except in a context without a device, which copies at once. Only memory of a
///           `pinned_pool`, or other page-locked memory, is copied by the device alone, and at its full rate.
///           From and to ordinary memory, and from host to host, the runtime may block until the copy is
///           done: then a new thread makes the call, so that no worker blocks.
/// Resumes:  on the coroutine's executor; a coroutine without one, where a `channel` would resume it.
/// Errors:   `weir::cuda::error`: then no copy is pending. `std::logic_error` if the context is gone.
///           `std::system_error` if a thread is needed, and can't be started.
/// Stops:    see `stream::done`.
/// Lifetime: both pieces of memory until the copy is done.
/// Cost:     that of `stream::done`, and two queries of the kind of memory; for ordinary memory a thread,
///           some 30 us.
[[nodiscard("co_await this, or nothing is done")]] inline auto copy(const stream& s, void* to,
                                                                    const void* from, std::size_t bytes) {
    return detail::awaited_work<detail::copy_work>(s.shared()->of(), {s.shared(), {to, from, bytes}});
}

/// The same for many small copies, which must not overlap: by one call of the runtime, from toolkit 12.8 on.
/// Lifetime: the list of pieces, too, until the copies are done.
[[nodiscard("co_await this, or nothing is done")]] inline auto copy(const stream& s,
                                                                    std::span<const piece> pieces) {
    return detail::awaited_work<detail::copies_work>(s.shared()->of(), {s.shared(), pieces});
}

}  // namespace weir::cuda

#endif
