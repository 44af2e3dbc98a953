#include "support.hpp"

#include "support/causes.hpp"

#include <weir/task/frame_pool.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> blocks_now{0};
std::atomic<std::uint64_t> blocks_ever{0};
char trial[400] = "nothing";

void* allocate(std::size_t size, std::size_t alignment) {
    if (faults::engine::here().passes(faults::kind::allocation)) {
        throw faults::no_memory(faults::engine::here().fired() - 1);
    }
    if (size == 0) size = 1;
    void* const p = alignment == 0
                        ? std::malloc(size)
                        : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (p == nullptr) throw std::bad_alloc();
    blocks_now.fetch_add(1, std::memory_order_relaxed);
    blocks_ever.fetch_add(1, std::memory_order_relaxed);
    return p;
}

void* allocate_or_not(std::size_t size, std::size_t alignment) noexcept {
    try {
        return allocate(size, alignment);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void release(void* p) noexcept {
    if (p == nullptr) return;
    blocks_now.fetch_sub(1, std::memory_order_relaxed);
    std::free(p);
}

[[noreturn]] void die(const char* how) noexcept {
    std::fprintf(stderr, "\n%s, in: %s\n", how, trial);
    std::fflush(stderr);
    std::_Exit(3);
}

const bool terminate_handler_is_set = [] {
    std::set_terminate([] { die("std::terminate was called"); });
    return true;
}();

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 0); }
void* operator new[](std::size_t size) { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t a) {
    return allocate(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
    return allocate(size, static_cast<std::size_t>(a));
}
// These, too, as a sanitizer has others.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate_or_not(size, 0); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate_or_not(size, 0); }
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
    return allocate_or_not(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
    return allocate_or_not(size, static_cast<std::size_t>(a));
}
void operator delete(void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { release(p); }
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }

namespace faults {

thread_local int injected::alive = 0;
thread_local int fragile::alive = 0;

engine& engine::here() noexcept {
    static constinit thread_local engine e;
    return e;
}

void engine::plan(const std::vector<fault>& all) noexcept {
    planned_ = static_cast<int>(all.size());
    fired_ = 0;
    std::copy(all.begin(), all.end(), plan_);
}

bool engine::passes(kind what, const char* stage, bool is_forgiven, bool is_second) noexcept {
    if (!is_armed() || fired_ == planned_ || plan_[fired_].what != what) return false;
    if (plan_[fired_].after-- != 0) return false;
    site& at = where_[fired_++];
    at.is_forgiven = is_forgiven;
    at.is_second = is_second;
    std::strncpy(at.stage, stage, sizeof(at.stage) - 1);
    return true;
}

fragile::~fragile() {
    if (mark_ != whole) die("an item was destroyed twice, or never made");
    // Written, though nobody is to read it: that is what the test is for.
    static_cast<volatile std::uint32_t&>(mark_) = 0;
    --alive;
}

int id_of(const std::exception_ptr& error) noexcept {
    try {
        std::rethrow_exception(error);
    } catch (const injected& e) {
        return e.id();
    } catch (const no_memory& e) {
        return e.id();
    } catch (const std::exception& e) {
        try {
            causes::rethrow_cause(e);
        } catch (...) {
            return id_of(std::current_exception());
        }
        return -1;
    } catch (...) {
        return -1;
    }
}

long blocks() noexcept { return blocks_now.load(std::memory_order_relaxed); }
std::uint64_t allocations() noexcept { return blocks_ever.load(std::memory_order_relaxed); }

void empty_frame_pool() noexcept {
    if (!weir::detail::pools_frames) return;
    for (std::size_t size = 56; size <= 1024; size += 64) {
        for (const bool aligned : {false, true}) {
            bool kept = true;
            while (kept) {
                const std::uint64_t before = allocations();
                void* const p = weir::detail::frame_pool::allocate(size, aligned);
                kept = allocations() == before;
                weir::detail::frame_pool::give(p, size, aligned);
            }
        }
    }
}

void describe_trial(std::string_view text) noexcept {
    const std::size_t n = std::min(text.size(), sizeof(trial) - 1);
    std::copy_n(text.data(), n, trial);
    trial[n] = '\0';
}

}  // namespace faults
