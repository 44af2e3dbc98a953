// weir run, internal: the iterator of a consumer's loop over items
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_ITEM_ITERATOR_HPP
#define WEIR_RUN_ITEM_ITERATOR_HPP

#include <weir/platform/requirements.hpp>

#include <cstddef>   // for std::ptrdiff_t
#include <iterator>  // for std::input_iterator_tag
#include <optional>  // for std::optional
#include <utility>   // for std::move

namespace weir::detail {

// Of whatever gives items by `get`, an optional each, until there is none. Holds the item last taken.
template <class Items>
class item_iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = typename Items::value_type;
    using difference_type = std::ptrdiff_t;
    using reference = value_type&;
    using pointer = value_type*;

    [[nodiscard]] value_type& operator*() const noexcept { return *item_; }
    [[nodiscard]] value_type* operator->() const noexcept { return &*item_; }
    item_iterator& operator++() {
        std::optional<value_type> next = items_->get();
        item_.reset();  // not assigned to: an item only has to move into a new place
        if (next) item_.emplace(*std::move(next));
        return *this;
    }
    void operator++(int) { ++*this; }
    [[nodiscard]] friend bool operator==(const item_iterator& at, std::default_sentinel_t) noexcept {
        return !at.item_.has_value();
    }

  private:
    friend Items;
    explicit item_iterator(Items& items) : items_(&items), item_(items.get()) {}

    Items* items_;
    mutable std::optional<value_type> item_;
};

}  // namespace weir::detail

#endif
