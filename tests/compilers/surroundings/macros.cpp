// Each public header after macros of other libraries, and pipelines whose templates are made there. With -ffast-math.
// SPDX-License-Identifier: BSL-1.0
// The headers of the system and of other libraries that the library includes: what these do about macros is theirs.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cmath>
#include <concepts>
#include <coroutine>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <ios>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <ranges>
#include <ratio>
#include <set>
#include <source_location>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>
#include <version>
#if __has_include(<format>)
#include <format>
#endif
#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#include <unwind.h>
#endif
#if __has_include(<unistd.h>)
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#endif
#if __has_include(<linux/futex.h>)
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#if __has_include(<sqlite3.h>)
#include <sqlite3.h>
#endif
#if __has_include(<asio.hpp>)
#include <asio.hpp>
#endif
#if __has_include(<fmt/format.h>)
#define FMT_HEADER_ONLY
#include <fmt/format.h>
#endif
#if __has_include(<stdexec/execution.hpp>)
#include <stdexec/execution.hpp>
#endif
#if __has_include(<mpi.h>)
#include <mpi.h>
#endif

#include "macros.hpp"

#include <weir/channel.hpp>
#include <weir/executor.hpp>
#include <weir/graph.hpp>
#include <weir/insight.hpp>
#include <weir/measure.hpp>
#include <weir/report.hpp>
#include <weir/run.hpp>
#include <weir/sampling.hpp>
#include <weir/sampling/checkpoint_file.hpp>
#include <weir/simulation.hpp>
#include <weir/stages.hpp>
#include <weir/stages/batch_slots.hpp>
#include <weir/task.hpp>
#include <weir/version.hpp>
#include <weir/weir.hpp>
#if __has_include(<asio.hpp>)
#include <weir/asio.hpp>
#endif
#if __has_include(<fmt/format.h>)
#include <weir/report/fmt.hpp>
#endif
#if __has_include(<format>)
#include <weir/report/format.hpp>
#endif
#if __has_include(<sqlite3.h>)
#include <weir/report/sqlite.hpp>
#endif
#if __has_include(<stdexec/execution.hpp>)
#include <weir/execution.hpp>
#endif
#if __has_include(<mpi.h>)
#include <weir/mpi.hpp>
#endif

#include "../portability/fast_math.hpp"

int main() {
    weir::thread_pool pool(2);
    weir::channel<int> c(4);
    const auto twice = [](int i) -> weir::task<int> {
        co_await weir::yield();
        co_return 2 * i;
    };
    auto run = (weir::source(std::views::iota(0, 100)) | weir::pipe(twice, {.concurrency = 3}) |
                weir::aggregate(8) | weir::disaggregate() | weir::sink(4))
                   .start(pool);
    int sum = 0;
    for (const int i : run) sum += i;
    std::cout << run.stats();
    return sum == 9900 && c.try_put(1) == weir::channel_status::success && fast_math::run() == 0 ? 0 : 1;
}
