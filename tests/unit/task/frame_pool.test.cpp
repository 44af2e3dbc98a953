#include <weir/task/frame_pool.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

using weir::detail::frame_pool;

namespace {

void* allocate(std::size_t size, bool aligned = false) {
    void* const p = frame_pool::allocate(size, aligned);
    std::memset(p, 0xab, size);
    return p;
}
void release(void* p, std::size_t size, bool aligned = false) { frame_pool::free(p, size, aligned); }

}  // namespace

TEST_CASE("blocks of all sizes are aligned as asked for and don't overlap") {
    const bool aligned = GENERATE(false, true);
    const std::size_t alignment = aligned ? weir::detail::most_frame_alignment : alignof(std::max_align_t);
    std::vector<std::pair<unsigned char*, std::size_t>> blocks;
    for (std::size_t size = 1; size <= 3'000; size += 37) {
        auto* const p = static_cast<unsigned char*>(allocate(size, aligned));
        CHECK(reinterpret_cast<std::uintptr_t>(p) % alignment == 0);
        std::memset(p, static_cast<int>(size % 251), size);
        blocks.emplace_back(p, size);
    }
    bool whole = true;
    for (const auto& [p, size] : blocks) {
        for (std::size_t i = 0; i < size; ++i) whole = whole && p[i] == size % 251;
        release(p, size, aligned);
    }
    CHECK(whole);
}

TEST_CASE("a block that was freed is used for the next allocation of its size") {
    void* const first = allocate(200);
    release(first, 200);
    void* const second = allocate(199);
    if (weir::detail::pools_frames) CHECK(second == first);
    release(second, 199);
}

TEST_CASE("blocks for which a list has no room are freed") {
    const bool aligned = GENERATE(false, true);
    std::set<void*> all;
    for (int i = 0; i < 1'000; ++i) all.insert(allocate(128, aligned));
    CHECK(all.size() == 1'000);
    for (void* const p : all) release(p, 128, aligned);
}

TEST_CASE("a block may be freed by another thread, and a thread's blocks are freed when it ends") {
    std::vector<void*> blocks;
    std::thread([&blocks] {
        for (int i = 0; i < 100; ++i) blocks.push_back(allocate(300));
    }).join();
    std::thread([&blocks] {
        for (void* const p : blocks) release(p, 300);
        release(allocate(300), 300);
    }).join();
    CHECK(blocks.size() == 100);  // the leak sanitizer judges the rest
}
