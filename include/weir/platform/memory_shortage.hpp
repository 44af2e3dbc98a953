// weir platform, internal: a std::bad_alloc that says for what there was no memory
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_MEMORY_SHORTAGE_HPP
#define WEIR_PLATFORM_MEMORY_SHORTAGE_HPP

#include <weir/platform/config.hpp>

#include <new>        // for std::bad_alloc
#include <stdexcept>  // for std::runtime_error
#include <string>     // for std::string

namespace weir::detail {

// Derived from `std::bad_alloc`, as that is what handlers look for.
class memory_shortage final : public std::bad_alloc {
  public:
    // `lack`: what there was no memory for, as a sentence without "weir: ". Errors: `std::bad_alloc`.
    explicit memory_shortage(const std::string& lack) : text_("weir: " + lack) {}

    const char* what() const noexcept override { return text_.what(); }

    // Calls `make()`; of what is short there, the text begins with `whose`.
    template <class Make>
    static decltype(auto) told_of(const std::string& whose, Make make) {
        try {
            return make();
        } catch (const memory_shortage& shortage) {
            throw memory_shortage(whose + (shortage.what() + 6));
        }
    }

  private:
    std::runtime_error text_;  // whose copies share the text, so that copying can't fail
};

}  // namespace weir::detail

#endif
