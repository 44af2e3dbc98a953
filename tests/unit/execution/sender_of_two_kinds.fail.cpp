// expect-error: weir: this sender completes with one of several kinds of values
// An await gives one type.
// SPDX-License-Identifier: BSL-1.0
#include <weir/execution/sender.hpp>

#include <weir/task/task.hpp>

namespace lib = weir::execution::lib;

class two_kinds {
  public:
    using sender_concept = lib::sender_t;
    using completion_signatures = lib::completion_signatures<lib::set_value_t(int), lib::set_value_t(bool)>;
    template <class Receiver>
    auto connect(Receiver) const;
};

weir::task<> awaits() { co_await two_kinds(); }
