// weir platform, internal: a vector of owning pointers for runs, which compiles faster than std::vector
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_OWNING_LIST_HPP
#define WEIR_PLATFORM_OWNING_LIST_HPP

#include <weir/platform/config.hpp>

#include <cstddef>  // for std::size_t
#include <memory>   // for std::unique_ptr

namespace weir::detail {

// Like std::vector<std::unique_ptr<T>>, but with ten functions for each T instead of eighty. Every program
// with a pipeline compiles these.
template <class T>
class owning_list {
    T** all_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;

  public:
    owning_list() noexcept = default;
    owning_list(const owning_list&) = delete;
    owning_list& operator=(const owning_list&) = delete;
    ~owning_list() {
        for (T* const each : *this) delete each;
        delete[] all_;
    }

    // push_back does not throw up to this size.
    void reserve(std::size_t size) {
        if (size <= room_) return;
        T** const more = new T*[size];
        for (std::size_t i = 0; i < size_; ++i) more[i] = all_[i];
        delete[] all_;
        all_ = more;
        room_ = size;
    }

    void push_back(std::unique_ptr<T> one) {
        if (size_ == room_) reserve(room_ == 0 ? 1 : 2 * room_);
        all_[size_++] = one.release();
    }
    void pop_back() noexcept { delete all_[--size_]; }

    std::size_t size() const noexcept { return size_; }
    T* operator[](std::size_t i) const noexcept { return all_[i]; }
    T* const* begin() const noexcept { return all_; }
    T* const* end() const noexcept { return all_ + size_; }
};

}  // namespace weir::detail

#endif
