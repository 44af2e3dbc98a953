#include <weir/stage_options.hpp>

weir::stage_options decode = {.name = "decode",
                              .concurrency = 4,
                              .output_order = weir::output_order::input,
                              .max_failures = 3};
weir::run_options tolerant = {.max_failures = weir::unlimited, .on_failure = [](const weir::failure&) {}};
