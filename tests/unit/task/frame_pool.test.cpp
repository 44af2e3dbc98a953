#include <weir/task/frame_pool.hpp>

#include "support/catch.hpp"

#include <weir/platform/config.hpp>
#include <weir/platform/process.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

using weir::detail::frame_pool;
using weir::detail::frame_slabs;

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

namespace {

using block = frame_slabs::block;
constexpr std::size_t stride = 128;
constexpr std::size_t block_bytes = stride - frame_slabs::before_block;
constexpr std::uint32_t batch = 32;

// Takes `n` blocks and more, in batches, in the order in which the batches have them.
std::vector<block*> take(frame_slabs& slabs, std::size_t n, bool aligned = false) {
    std::vector<block*> all;
    while (all.size() < n) {
        for (block* b = slabs.take(stride, aligned, batch).first; b != nullptr; b = b->next) all.push_back(b);
    }
    return all;
}
void give(frame_slabs& slabs, const std::vector<block*>& blocks) {
    block* chain = nullptr;
    for (block* const b : blocks) {
        b->next = chain;
        chain = b;
    }
    slabs.give(chain);
}
std::ptrdiff_t distance(const block* a, const block* b) {
    return reinterpret_cast<const char*>(b) - reinterpret_cast<const char*>(a);
}

}  // namespace

TEST_CASE("blocks are aligned as asked for, and none overlaps another one or what is in front of it") {
    const bool aligned = GENERATE(false, true);
    const std::size_t alignment =
        aligned ? weir::detail::most_frame_alignment : __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    frame_slabs slabs;
    const std::vector<block*> all = take(slabs, 5'000, aligned);
    bool are_aligned = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
        are_aligned = are_aligned && reinterpret_cast<std::uintptr_t>(all[i]) % alignment == 0;
        std::memset(static_cast<void*>(all[i]), static_cast<int>(i % 251), block_bytes);
    }
    CHECK(are_aligned);
    bool whole = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto* const bytes = reinterpret_cast<const unsigned char*>(all[i]);
        for (std::size_t k = 0; k < block_bytes; ++k) whole = whole && bytes[k] == i % 251;
    }
    CHECK(whole);
    give(slabs, all);
}

TEST_CASE("the first 64 blocks come one by one, and later ones in batches as large as is asked for") {
    frame_slabs slabs;
    std::vector<block*> all;
    for (int i = 0; i < 64; ++i) {
        const frame_slabs::chain one = slabs.take(stride, false, batch);
        CHECK(one.length == 1);
        CHECK(one.first->next == nullptr);
        all.push_back(one.first);
    }
    const frame_slabs::chain few = slabs.take(stride, false, batch);
    CHECK(few.length == 4);  // a sixteenth
    for (block* b = few.first; b != nullptr; b = b->next) all.push_back(b);
    const std::vector<block*> many = take(slabs, 1'000);
    all.insert(all.end(), many.begin(), many.end());
    for (const std::uint32_t most : {1U, 7U, batch}) {
        const frame_slabs::chain some = slabs.take(stride, false, most);
        CHECK(some.length >= 1);
        CHECK(some.length <= most);
        for (block* b = some.first; b != nullptr; b = b->next) all.push_back(b);
    }
    give(slabs, all);
    const frame_slabs::chain one = slabs.take(stride, false, batch);
    CHECK(one.length == 1);
    slabs.give(one.first);
}

TEST_CASE("most new blocks lie directly behind each other, in the order in which they are taken") {
    frame_slabs slabs;
    const std::vector<block*> all = take(slabs, 10'000);
    int behind = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
        behind += distance(all[i - 1], all[i]) == std::ptrdiff_t{stride} ? 1 : 0;
    }
    CHECK(behind > 9'800);
    give(slabs, all);
}

TEST_CASE("blocks that were given back are taken again before there is memory for others") {
    frame_slabs slabs;
    const std::vector<block*> before = take(slabs, 64);  // of the heap
    std::vector<block*> all = take(slabs, 10'000);
    std::vector<block*> given;
    for (std::size_t i = 0; i < all.size(); i += 3) given.push_back(all[i]);
    std::vector<block*> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % 3 != 0) kept.push_back(all[i]);
    }
    give(slabs, given);
    // Those that the last slab had left are taken as well.
    std::vector<block*> again = take(slabs, given.size());
    const auto is_new = [&](const block* b) {
        return std::find(given.begin(), given.end(), b) == given.end();
    };
    CHECK(std::count_if(again.begin(), again.end(), is_new) < 600);
    std::vector<block*> rest = take(slabs, 600);
    again.insert(again.end(), rest.begin(), rest.end());
    const auto is_taken = [&](block* b) { return std::find(again.begin(), again.end(), b) != again.end(); };
    CHECK(std::all_of(given.begin(), given.end(), is_taken));
    give(slabs, kept);
    give(slabs, again);
    give(slabs, before);
}

TEST_CASE("an empty chain may be given back") {
    frame_slabs slabs;
    slabs.give(nullptr);
    const frame_slabs::chain one = slabs.take(stride, false, 1);
    CHECK(one.length == 1);
    slabs.give(one.first);
}

TEST_CASE("a forked process neither takes from the slabs of its parent, nor gives to them") {
    // For the leak sanitizer, as these are never freed.
    static weir::detail::no_destroy<std::vector<block*>> kept;
    std::vector<block*>& of_parent = *kept;
    frame_slabs slabs;
    const std::vector<block*> of_heap = take(slabs, 64);
    of_parent = take(slabs, 1'000);
    std::vector<block*> in_use, given;
    for (std::size_t i = 0; i < of_parent.size(); ++i) (i % 2 == 0 ? in_use : given).push_back(of_parent[i]);
    give(slabs, given);
    weir::detail::forks.fetch_add(1);  // as if this were a process that was forked by now
    slabs.forget();
    give(slabs, in_use);
    const std::vector<block*> mine = take(slabs, 2'000);
    const auto is_of_parent = [&](const block* b) {
        return std::find(of_parent.begin(), of_parent.end(), b) != of_parent.end();
    };
    CHECK(std::none_of(mine.begin(), mine.end(), is_of_parent));
    give(slabs, mine);
    give(slabs, of_heap);
    weir::detail::forks.fetch_sub(1);
}

TEST_CASE("threads take blocks and give back those of the others, and each block has one owner at a time") {
    constexpr int threads = 4;
    constexpr int rounds = 300;
    frame_slabs slabs;
    std::array<bool, threads> whole{};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
            std::vector<block*> mine;
            bool good = true;
            for (int i = 0; i < rounds; ++i) {
                const std::vector<block*> more = take(slabs, 50);
                for (block* const b : more) std::memset(static_cast<void*>(b), t + 1, block_bytes);
                mine.insert(mine.end(), more.begin(), more.end());
                if (mine.size() < 400) continue;
                for (const block* const b : mine) {
                    const auto* const bytes = reinterpret_cast<const unsigned char*>(b);
                    good = good && bytes[0] == t + 1 && bytes[block_bytes - 1] == t + 1;
                }
                give(slabs, mine);
                mine.clear();
            }
            give(slabs, mine);
            whole[static_cast<std::size_t>(t)] = good;
        });
    }
    for (std::thread& each : all) each.join();
    CHECK(std::all_of(whole.begin(), whole.end(), [](bool good) { return good; }));
    std::vector<block*> first = take(slabs, 64);
    CHECK(first.size() == 64);  // nothing is counted as in use, so they come one by one
    give(slabs, first);
}
