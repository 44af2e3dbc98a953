#include <weir/permutation.hpp>

#include <cstdint>

std::uint64_t first_of(std::uint64_t size) { return weir::permutation(size, 1).at(0); }
