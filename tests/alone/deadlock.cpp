#include <weir/deadlock.hpp>

#include <stdexcept>
#include <type_traits>

static_assert(std::is_base_of_v<std::runtime_error, weir::deadlock_error>);
