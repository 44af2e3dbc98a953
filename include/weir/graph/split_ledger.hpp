// weir graph, internal: what the end of a split has to know of each batch that its beginning divided
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_SPLIT_LEDGER_HPP
#define WEIR_GRAPH_SPLIT_LEDGER_HPP

#include <weir/channel/epoch_item.hpp>
#include <weir/platform/platform.hpp>

#include <cstddef>   // for std::size_t
#include <cstdint>   // for std::uint64_t
#include <deque>     // for std::deque
#include <mutex>     // for std::lock_guard
#include <optional>  // for std::optional
#include <utility>   // for std::move
#include <vector>    // for std::vector

namespace weir {

/// In which order the results of the branches of a `split` form one batch.
enum class split_order {
    elements,  ///< each takes the place of the element it was made of: one result for each is needed
    branches   ///< those of the first branch, then those of the second, ...; any number of them
};

namespace detail {

// What the join has to know of each batch, in their order.
template <class Note>
class split_ledger {
  public:
    struct entry {
        Note about;
        std::vector<std::vector<std::size_t>> places;  // for each branch, of the elements it was given
        std::optional<std::uint64_t> end_of_epoch;     // no batch, but a mark
    };

    // Of `item`, whose provenance it takes if nothing is thrown.
    template <class C>
    void add(entry&& e, C& item) {
        const std::lock_guard guard(lock_);
        entries_.push_back(std::move(e));
        if (!epoch_item_traits<C>::is_mark(item))
            entries_.back().about = epoch_item_traits<C>::provenance_of(item);
    }
    entry take() {
        const std::lock_guard guard(lock_);
        entry e = std::move(entries_.front());
        entries_.pop_front();
        return e;
    }

  private:
    standard_platform::mutex lock_;
    std::deque<entry> entries_;
};

}  // namespace detail

}  // namespace weir

#endif
