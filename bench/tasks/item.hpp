// tasks: the items.
#ifndef BENCH_TASKS_ITEM_HPP
#define BENCH_TASKS_ITEM_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tasks {

inline std::int64_t nanoseconds_now() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct item {
    item() = default;
    item(std::uint64_t n, std::size_t bytes, bool is_timed)
        : number(n), made_at(is_timed ? nanoseconds_now() : 0),
          load(bytes == 0 ? nullptr : std::make_unique_for_overwrite<std::byte[]>(bytes)) {}

    std::uint64_t number = 0;
    std::uint64_t stages = 0;  // number of passed stages
    std::int64_t made_at = 0;
    std::unique_ptr<std::byte[]> load;
};

// The items that came out at the end.
struct totals {
    std::uint64_t count = 0;
    std::uint64_t numbers = 0;
    std::uint64_t stages = 0;

    void add(const item& x) {
        ++count;
        numbers += x.number;
        stages += x.stages;
    }
};

}  // namespace tasks

#endif
