// simulate: the item of a simulated pipeline.
// Only its nesting matters.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_SIMULATE_ITEM_HPP
#define WEIR_EXAMPLES_SIMULATE_ITEM_HPP

#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace simulate {

// An item of a simulated pipeline. Only its nesting matters: it is a list of items, which are lists themselves. All
// stages use this one type, because they are known only at run time.
class item {
  public:
    item() = default;
    explicit item(std::vector<item> parts) : parts_(std::move(parts)) {}
    [[nodiscard]] auto begin() { return parts_.begin(); }
    [[nodiscard]] auto end() { return parts_.end(); }

  private:
    std::vector<item> parts_;
};

}  // namespace simulate

#endif
