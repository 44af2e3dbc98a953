#include <weir/cuda/pinned_pool.hpp>

weir::task<std::size_t> size_of_one(weir::cuda::pinned_pool& pool) {
    if (const auto at_once = pool.try_acquire(1)) co_return at_once->bytes().size();
    const weir::cuda::lease block = co_await pool.acquire(1);
    co_return block.bytes().size();
}
