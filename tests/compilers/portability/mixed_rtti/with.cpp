// Compiled with type information: asks what was made without for its type.
// SPDX-License-Identifier: BSL-1.0
#include <weir/report/describe.hpp>

#include <cstdio>
#include <typeinfo>

#include "animal.hpp"

namespace {
struct cat final : animal {};
}  // namespace

int main() {
    using weir::detail::type_of, weir::detail::are_one_type;
    const std::unique_ptr<animal> rex = dog_without_type();
    const std::unique_ptr<animal> tom = std::make_unique<cat>();
    const std::type_info* const type = type_of(*rex);
    std::printf("the type's name: %s\n", type == nullptr ? "none" : type->name());
    return are_one_type(type, type_of(*dog_without_type())) && !are_one_type(type, type_of(*tom)) ? 0 : 1;
}
