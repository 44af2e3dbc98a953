// Page-locked and device memory, all of it from the heap.
// SPDX-License-Identifier: BSL-1.0
#include "machine.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

namespace stand_in::detail {

namespace {
constexpr std::align_val_t alignment{256};
// So much of what was freed is kept, so that who reads it too late finds `already_freed` in it.
constexpr std::size_t most_kept = std::size_t{64} << 20;
}  // namespace

void aligned_delete::operator()(std::byte* p) const noexcept { ::operator delete(p, alignment); }

void* machine::allocate(std::size_t size, place where, int device, const stream* on) {
    if (where != place::page_locked) {
        // What is freed in the order of a stream, what comes after that in the same stream can have.
        std::size_t used = 0;
        for (const auto& [p, b] : blocks) {
            const bool counts = b->where != place::page_locked && b->device == device && !b->freed;
            if (counts && (on == nullptr || b->freed_on != on)) used += b->size;
        }
        auto& there = device_at(device);
        need(used <= there.memory && size <= there.memory - used, cudaErrorMemoryAllocation);
        there.used += size;
        there.most_used = std::max(there.most_used, there.used);
    }
    std::unique_ptr<std::byte, aligned_delete> bytes;
    if (addresses_come_back) {
        const auto old = std::find_if(freed_.rbegin(), freed_.rend(), [&](const std::shared_ptr<block>& b) {
            return b->size == size && b->where == where && b->device == device && b->queued == 0;
        });
        if (old != freed_.rend()) {
            bytes = std::move((*old)->bytes);
            freed_bytes_ -= size;
            freed_.erase(std::next(old).base());
            blocks.erase(bytes.get());
        }
    }
    if (!bytes) bytes.reset(static_cast<std::byte*>(::operator new(size, alignment)));
    std::byte* const p = bytes.get();
    std::memset(p, std::to_integer<int>(never_written), size);
    blocks.emplace(p, std::make_shared<block>(
                          block{.bytes = std::move(bytes), .size = size, .where = where, .device = device}));
    return p;
}

std::shared_ptr<block> machine::find_block(const void* p) const {
    const auto* const byte = static_cast<const std::byte*>(p);
    auto after = blocks.upper_bound(byte);
    if (after == blocks.begin()) return nullptr;
    const auto& b = std::prev(after)->second;
    return byte - b->bytes.get() < static_cast<std::ptrdiff_t>(b->size) ? b : nullptr;
}

std::shared_ptr<block> machine::find_bytes(const void* p, std::size_t size) {
    need(p != nullptr);
    auto b = find_block(p);
    if (!b) return nullptr;
    if (!b->allocated) refuse(cudaErrorInvalidValue, "the memory was freed before");
    const auto from = static_cast<std::size_t>(static_cast<const std::byte*>(p) - b->bytes.get());
    if (size > b->size - from)
        refuse(cudaErrorInvalidValue, std::to_string(size) + " bytes are asked for from byte " +
                                          std::to_string(from) + " of an allocation of " +
                                          std::to_string(b->size) + " bytes");
    return b;
}

std::shared_ptr<block> machine::find_allocated(void* p) {
    const auto found = blocks.find(static_cast<const std::byte*>(p));
    if (found == blocks.end()) refuse(cudaErrorInvalidValue, "no allocation begins at this address");
    if (!found->second->allocated) refuse(cudaErrorInvalidValue, "the memory was freed before");
    return found->second;
}

void machine::free(block& b) {
    b.allocated = false;
    b.freed = true;
    b.freed_on = nullptr;
    if (b.where != place::page_locked) device_at(b.device).used -= b.size;
    failed_to_free.erase(b.bytes.get());
    fill_if_freed(b);
    freed_.push_back(blocks.at(b.bytes.get()));
    freed_bytes_ += b.size;
    release_old_blocks();
}

// Not while work uses it: that would be a race, and only bad luck. What a kernel uses that still runs on a device
// that broke, the stand-in doesn't know.
void machine::fill_if_freed(block& b) {
    if (b.where != place::page_locked && health(b.device) != cudaSuccess) {
        for (const auto& [handle, s] : streams)
            if (s->busy && s->device == b.device) return;
    }
    if (b.freed && b.running == 0) std::memset(b.bytes.get(), std::to_integer<int>(already_freed), b.size);
}

void machine::release_old_blocks() {
    while (freed_bytes_ > most_kept && freed_.front()->queued == 0) {
        const auto b = std::move(freed_.front());
        freed_.pop_front();
        freed_bytes_ -= b->size;
        blocks.erase(b->bytes.get());
    }
}

}  // namespace stand_in::detail
