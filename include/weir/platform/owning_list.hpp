// weir platform, internal: objects in a row, and whose they are
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_OWNING_LIST_HPP
#define WEIR_PLATFORM_OWNING_LIST_HPP

#include <weir/platform/requirements.hpp>

#include <cstddef>  // for std::size_t
#include <memory>   // for std::unique_ptr

namespace weir::detail {

// What std::vector<std::unique_ptr<T>> is, in ten functions for each T instead of eighty,
// which every program with a pipeline would compile.
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

    // What is added up to that size is added without an exception.
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
