// What the models of the channel share.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_MODELS_CHANNEL_HPP
#define WEIR_TESTS_MODELS_CHANNEL_HPP

#include <weir/channel/channel.hpp>

#include "suite.hpp"

namespace models {

struct policy {
    using platform = models::platform;
    static constexpr bool statistics = false;
    static constexpr bool histograms = false;
};
struct measuring {
    using platform = models::platform;
    static constexpr bool statistics = true;
    static constexpr bool histograms = false;
};

using channel = weir::channel<item, policy>;
using measured_channel = weir::channel<item, measuring>;

// Each of the items 0 .. Items - 1 comes once.
template <int Items>
class delivery {
  public:
    void once(int n) {
        expect(n >= 0 && n < Items, "no such item");
        expect(++seen_[n] == 1, "an item came twice");
    }
    void all() const {
        for (const int n : seen_) expect(n == 1, "an item was lost");
    }

  private:
    int seen_[Items] = {};
};

// Who gets sees the items of each producer, which has `Each` of them, in their order.
template <int Each>
class order {
  public:
    void follows(int n) {
        expect(last_[n / Each] < n % Each, "items changed their order");
        last_[n / Each] = n % Each;
    }

  private:
    int last_[most_threads] = {-1, -1, -1, -1};
};

}  // namespace models

#endif
