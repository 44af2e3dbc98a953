#include <weir/epochs.hpp>

#include <cstdint>
#include <vector>

auto passes = weir::epochs([](std::uint64_t epoch) { return std::vector<std::uint64_t>(3, epoch); });
