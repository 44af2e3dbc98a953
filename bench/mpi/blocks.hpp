// Items of a channel between ranks that reuse their memory, as the buffers of a plain loop do.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_BENCH_MPI_BLOCKS_HPP
#define WEIR_BENCH_MPI_BLOCKS_HPP

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace bench {

class block {
    using memory = std::unique_ptr<std::byte[]>;
    struct pool {
        std::mutex lock;
        std::vector<memory> free;
    };
    static pool& of_size(std::size_t n) {
        static pool pools[64];
        return pools[static_cast<std::size_t>(__builtin_ctzll(n))];
    }

  public:
    using value_type = std::byte;

    block() = default;
    block(block&& other) noexcept : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
    block& operator=(block&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~block() {
        if (memory_ == nullptr) return;
        pool& p = of_size(size_);
        const std::scoped_lock held(p.lock);
        p.free.push_back(std::move(memory_));
    }

    // To a power of two, once.
    void resize(std::size_t n) {
        size_ = n;
        {
            pool& p = of_size(n);
            const std::scoped_lock held(p.lock);
            if (!p.free.empty()) {
                memory_ = std::move(p.free.back());
                p.free.pop_back();
                return;
            }
        }
        memory_ = memory(new std::byte[n]);
    }
    std::byte* data() noexcept { return memory_.get(); }
    std::size_t size() const noexcept { return size_; }

  private:
    memory memory_;
    std::size_t size_ = 0;
};

}  // namespace bench

#endif
