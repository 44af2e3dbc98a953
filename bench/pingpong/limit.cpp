#include "common/bare_coroutine.hpp"
#include "common/cache_line.hpp"
#include "scenario.hpp"

namespace {

const bench::contestants<scenario> joined([](bench::group& g, const scenario& s) {
    if (s.workers == 1) {
        g.limit("symmetric transfer there and back", bench::symmetric_round_trips);
    } else {
        g.limit("cache line there and back, two threads", bench::cache_line_round_trips);
    }
});

}  // namespace
