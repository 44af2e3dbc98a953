// Checks of results: the figure of a wrong result would mean nothing.
#ifndef BENCH_COMMON_CHECK_HPP
#define BENCH_COMMON_CHECK_HPP

#include <cstdio>
#include <cstdlib>

namespace bench {

// Whose turn it is.
inline const char* at_work = "";

inline void check(bool ok, const char* claim) {
    if (ok) return;
    std::fprintf(stderr, "bench: wrong result of '%s': %s\n", at_work, claim);
    std::abort();
}

}  // namespace bench

#endif
