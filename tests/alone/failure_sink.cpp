#include <weir/failure_sink.hpp>

#include <string_view>

int failed = 0;

void count_failures() {
    weir::set_failure_sink([](std::string_view, const weir::pipeline_failure&) noexcept { ++failed; });
}
