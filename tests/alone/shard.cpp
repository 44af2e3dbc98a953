#include <weir/shard.hpp>

unsigned second_of_two() { return weir::shard(1, 2).rank(); }
