// weir cuda, internal: the record of device memory that was released, but that queued work may still use
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_FREED_MEMORY_HPP
#define WEIR_CUDA_FREED_MEMORY_HPP

#include <weir/cuda/runtime.hpp>
#include <weir/cuda/stream.hpp>

#include <cstddef>  // for std::size_t
#include <deque>    // for std::deque
#include <memory>   // for std::shared_ptr
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir::cuda::detail {

// Used by `device_account`, whose lock protects it. Pieces that are released behind the work of one stream
// become free in the order of their release. If a new stream has the handle of a destroyed one, its pieces
// wait behind those of the destroyed stream.
class freed_memory {
  public:
    struct piece {
        std::shared_ptr<pooled_event> behind;  // the piece is free when this event is over
        std::size_t bytes;
        void* memory;  // to be freed after the event; null: cudaFreeAsync is queued already
    };

    // Errors: std::bad_alloc; then the piece is not added.
    void add(cudaStream_t s, piece what) { row_of(s).pieces.push_back(std::move(what)); }

    std::size_t size() const noexcept {
        std::size_t all = 0;
        for (const row& r : rows_) all += r.pieces.size();
        return all;
    }

    // Removes all pieces that are free; returns whether there were any. Adds their sizes to `bytes`, and
    // memory that the caller has to free to `idle`, whose capacity suffices.
    bool take_over(std::size_t& bytes, std::vector<void*>& idle) {
        bool found = false;
        for (row& r : rows_) {
            while (!r.pieces.empty() && r.pieces.front().behind->is_over()) {
                if (r.pieces.front().memory != nullptr) idle.push_back(r.pieces.front().memory);
                bytes += r.pieces.front().bytes;
                r.pieces.pop_front();
                r.subscribed = false;
                found = true;
            }
        }
        std::erase_if(rows_, [](const row& r) { return r.pieces.empty(); });
        return found;
    }

    // Calls `subscribe` with the event of the first piece of each stream, unless that event has a callback
    // already. If the call throws, the event counts as without a callback.
    template <class Subscribe>
    void each_first_unsubscribed(Subscribe subscribe) {
        for (row& r : rows_) {
            if (r.subscribed || r.pieces.empty()) continue;  // empty: add() threw
            subscribe(r.stream, r.pieces.front().behind);
            r.subscribed = true;
        }
    }

    // Calls `function(memory, event)` for each piece that the caller has to free.
    template <class Function>
    void each_to_free(Function function) {
        for (row& r : rows_) {
            for (piece& p : r.pieces) {
                if (p.memory != nullptr) function(p.memory, *p.behind);
            }
        }
    }

  private:
    // The pieces that were released behind the work of one stream.
    struct row {
        cudaStream_t stream;
        bool subscribed = false;   // the first piece's event has a callback
        std::deque<piece> pieces;  // in the order of their release
    };

    row& row_of(cudaStream_t s) {
        for (row& r : rows_) {
            if (r.stream == s) return r;
        }
        rows_.push_back({s, false, {}});
        return rows_.back();
    }

    std::vector<row> rows_;
};

}  // namespace weir::cuda::detail

#endif
