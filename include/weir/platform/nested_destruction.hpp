// weir platform, internal: objects that own others of their kind are destroyed on a bounded stack
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_NESTED_DESTRUCTION_HPP
#define WEIR_PLATFORM_NESTED_DESTRUCTION_HPP

#include <weir/platform/config.hpp>
#include <weir/platform/platform.hpp>

#include <utility>  // for std::exchange

namespace weir::detail {

// A local variable of a destructor that may call itself recursively. Beyond a depth of `most`, the destructor
// puts off its members; the outermost call destroys these one after the other.
class nested_destruction {
  public:
    // The members of one object whose destruction was put off.
    class rest {
      public:
        rest() noexcept = default;
        rest(const rest&) = delete;
        rest& operator=(const rest&) = delete;
        virtual ~rest() = default;

      private:
        friend nested_destruction;
        rest* next_ = nullptr;
    };

    nested_destruction() noexcept : mine_(here()) { ++mine_.depth; }
    nested_destruction(const nested_destruction&) = delete;
    nested_destruction& operator=(const nested_destruction&) = delete;
    ~nested_destruction() {
        while (mine_.depth == 1 && mine_.first != nullptr) {
            rest* const it = mine_.first;
            mine_.first = it->next_;
            delete it;
        }
        --mine_.depth;
    }

    bool is_deep() const noexcept { return mine_.depth > most; }
    void put_off(rest* it) noexcept { it->next_ = std::exchange(mine_.first, it); }

  private:
    struct of_this_thread {
        unsigned depth = 0;
        rest* first = nullptr;
    };
    // Not inlined: see WEIR_NOINLINE.
    WEIR_NOINLINE static of_this_thread& here() noexcept {
        return standard_platform::of_thread<of_this_thread>();
    }

    static constexpr unsigned most = 100;
    of_this_thread& mine_;
};

}  // namespace weir::detail

#endif
