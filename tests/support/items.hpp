// Items that know whether they were destroyed exactly once, and the shortest ways to take them from a
// run: what the tests of pipelines share.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_SUPPORT_ITEMS_HPP
#define WEIR_TESTS_SUPPORT_ITEMS_HPP

#include "support/causes.hpp"

#include <weir/run/failure.hpp>
#include <weir/task/task.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace items {

// Books the births and deaths of numbered items, from any thread.
class ledger {
  public:
    explicit ledger(std::size_t most) : deaths_(most) {}

    std::size_t add() noexcept { return born_.fetch_add(1); }
    void strike(std::size_t number) noexcept { deaths_[number].fetch_add(1); }

    std::size_t born() const noexcept { return born_; }
    std::size_t alive() const noexcept { return born_ - count(1); }
    std::size_t died_twice() const noexcept { return count(2); }

  private:
    std::size_t count(int times) const noexcept {
        std::size_t n = 0;
        for (std::size_t i = 0; i < born_; ++i) n += deaths_[i] >= times ? 1U : 0U;
        return n;
    }

    std::atomic<std::size_t> born_{0};
    std::vector<std::atomic<int>> deaths_;
};

// Moves only; what was moved from is no item any more.
class counted {
  public:
    explicit counted(ledger& book) noexcept : book_(&book), number_(book.add()) {}
    counted(counted&& other) noexcept : book_(std::exchange(other.book_, nullptr)), number_(other.number_) {}
    counted& operator=(counted&& other) noexcept {
        if (this != &other) {
            strike();
            book_ = std::exchange(other.book_, nullptr);
            number_ = other.number_;
        }
        return *this;
    }
    ~counted() { strike(); }

    std::size_t number() const noexcept { return number_; }

  private:
    void strike() noexcept {
        if (book_ != nullptr) book_->strike(number_);
    }

    ledger* book_;
    std::size_t number_;
};

inline std::vector<int> counted_from_1(int n) {
    std::vector<int> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 1);
    return all;
}
inline std::vector<int> sorted(std::vector<int> all) {
    std::sort(all.begin(), all.end());
    return all;
}

// All items of a run, taken by this thread.
template <class Run>
auto take_all(Run& run) {
    std::vector<typename Run::value_type> all;
    for (auto& item : run) all.push_back(std::move(item));
    return all;
}
template <class Run>
auto take_all(Run&& run) {
    return take_all(run);
}

// What a function threw, as text; empty if nothing.
template <class Function>
std::string message_of(Function&& function) {
    try {
        std::forward<Function>(function)();
    } catch (const std::exception& e) {
        return e.what();
    }
    return {};
}

// The same for the exception inside of a failure.
inline std::string message_inside(const std::exception& outer) {
    return message_of([&outer] { causes::rethrow_cause(outer); });
}

// Takes items until the end; `failed` is what it ended with, if it was a failure.
template <class Item>
struct outcome {
    std::vector<Item> taken;
    std::unique_ptr<weir::pipeline_failure> failed;
    std::string inside;  // what the failure nests
};

template <class Run>
auto take_until_failure(Run& run) {
    outcome<typename Run::value_type> result;
    try {
        while (auto item = run.get()) result.taken.push_back(std::move(*item));
    } catch (const weir::pipeline_failure& e) {
        result.failed = std::make_unique<weir::pipeline_failure>(e);
        result.inside = message_inside(e);
    }
    return result;
}
template <class Run>
auto take_until_failure(Run&& run) {
    return take_until_failure(run);
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace items

#endif
