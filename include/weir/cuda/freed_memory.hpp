// weir cuda, internal: memory that was given back, and is free when a stream has come there
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_CUDA_FREED_MEMORY_HPP
#define WEIR_CUDA_FREED_MEMORY_HPP

#include <weir/cuda/event.hpp>
#include <weir/cuda/runtime.hpp>

#include <cstddef>  // for std::size_t
#include <deque>    // for std::deque
#include <memory>   // for std::shared_ptr
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir::cuda::detail {

// Under the lock of whoever has it. What is given back behind one stream's work is free in that order; should
// the handle of a stream be another's by now, that one waits a little longer.
class freed_memory {
  public:
    struct piece {
        std::shared_ptr<pooled_event> behind;
        std::size_t bytes;
        void* memory;  // to be freed then; null: that is queued already
    };

    // Errors: std::bad_alloc; then it was not added.
    void add(cudaStream_t s, piece what) { row_of(s).going.push_back(std::move(what)); }

    std::size_t size() const noexcept {
        std::size_t all = 0;
        for (const row& r : rows_) all += r.going.size();
        return all;
    }

    // Takes out what is free again: true if there is some. `idle` gets what is still to be freed, and has
    // room for it.
    bool take_over(std::size_t& bytes, std::vector<void*>& idle) {
        bool found = false;
        for (row& r : rows_) {
            while (!r.going.empty() && r.going.front().behind->is_over()) {
                if (r.going.front().memory != nullptr) idle.push_back(r.going.front().memory);
                bytes += r.going.front().bytes;
                r.going.pop_front();
                r.subscribed = false;
                found = true;
            }
        }
        std::erase_if(rows_, [](const row& r) { return r.going.empty(); });
        return found;
    }

    // For the first piece of each stream, of whose end nobody tells yet. If the function throws, nobody does.
    template <class Subscribe>
    void each_first_unsubscribed(Subscribe subscribe) {
        for (row& r : rows_) {
            if (r.subscribed || r.going.empty()) continue;  // empty: memory lacked to add to it
            subscribe(r.stream, r.going.front().behind);
            r.subscribed = true;
        }
    }

    template <class Function>
    void each_to_free(Function function) {
        for (row& r : rows_) {
            for (piece& p : r.going) {
                if (p.memory != nullptr) function(p.memory, *p.behind);
            }
        }
    }

  private:
    struct row {
        cudaStream_t stream;
        bool subscribed = false;  // somebody tells of the first one's end
        std::deque<piece> going;
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
