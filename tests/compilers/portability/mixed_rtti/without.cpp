// Compiled with -fno-rtti: what is made here has no type information.
// SPDX-License-Identifier: BSL-1.0
#include "animal.hpp"

std::unique_ptr<animal> dog_without_type() { return std::make_unique<dog>(); }
