// expect-error: co_await this, or nothing is done
// A copy begins when it is awaited.
// SPDX-License-Identifier: BSL-1.0
#include <weir/cuda/stream.hpp>

void forgets(const weir::cuda::stream& s, void* to, const void* from) { weir::cuda::copy(s, to, from, 1); }

int main() {}
