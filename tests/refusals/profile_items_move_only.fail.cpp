// expect-error: weir: a profile feeds a stage with copies of the same items
// What a stage that isn't the first takes has to be copied there.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/report/profile.hpp>

#include <memory>

int main() {
    weir::virtual_time time;
    auto pipeline = weir::source({1, 2}) | weir::pipe([](int n) { return std::make_unique<int>(n); }) |
                    weir::pipe([](std::unique_ptr<int> n) { return *n; }) | weir::sink();
    return static_cast<int>(weir::profile(pipeline, time).num_items);
}
