// expect-error: weir: weir/src.hpp is for a program whose files are all compiled with -DWEIR_SEPARATE_COMPILATION
// What is compiled once for a program is compiled where the other files are told so.
// SPDX-License-Identifier: BSL-1.0
#include <weir/src.hpp>
