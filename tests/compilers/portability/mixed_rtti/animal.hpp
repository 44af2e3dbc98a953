// What both files have.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_MIXED_RTTI_ANIMAL_HPP
#define WEIR_TESTS_MIXED_RTTI_ANIMAL_HPP

#include <memory>

struct animal {
    virtual ~animal() = default;
};
struct dog final : animal {};

std::unique_ptr<animal> dog_without_type();

#endif
