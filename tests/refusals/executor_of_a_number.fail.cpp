// expect-error: weir: an executor is constructed with its traits, or with nothing
// How many coroutines it runs at the same time is one of several things that it may say.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/executor.hpp>

#include <coroutine>

class three_threads final : public weir::executor {
  public:
    three_threads() : executor(3) {}
    void post(std::coroutine_handle<>) noexcept override {}
    void add(weir::timer&) noexcept override {}
    void cancel(weir::timer&) noexcept override {}
    bool drive(flag&, weir::time_point) override { return false; }
};

int main() {}
