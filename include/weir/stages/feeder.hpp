// weir stages: how the function of a traversal adds items to its own stage
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_STAGES_FEEDER_HPP
#define WEIR_STAGES_FEEDER_HPP

#include <weir/platform/requirements.hpp>

#include <utility>  // for std::move

namespace weir {

/// Takes the items that the function of a `traverse` finds. The function gets it as its second parameter:
///
///     weir::traverse([](folder f, weir::feeder<folder>& more) {
///         for (folder& sub : f.folders()) more.add(std::move(sub));
///         return f.size();
///     })
///
/// \tparam T  the type of the stage's items: what the stage before gives.
/// Threads:  any number, until the call of the function has ended, or the task that it returned.
/// Lifetime: that of the stage.
template <class T>
class feeder {
  public:
    feeder(const feeder&) = delete;
    feeder& operator=(const feeder&) = delete;

    /// Adds one item, with which the function will be called, maybe by another slot before this returns. It
    /// stays added when the function fails after that.
    ///
    /// Errors: `std::length_error` where `traverse_options::max_waiting` items wait already;
    ///         `std::logic_error` after the function has ended. The item is destroyed then, as it is where
    ///         the run was stopped, which is no error.
    /// Cost:   a short lock that the slot alone uses as a rule, and, once in a while, memory for more items.
    void add(T item) { take_in(std::move(item)); }

  protected:
    feeder() noexcept = default;
    ~feeder() = default;

  private:
    virtual void take_in(T&& item) = 0;
};

}  // namespace weir

#endif
