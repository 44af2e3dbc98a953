#include <weir/cuda/copy.hpp>

auto one(const weir::cuda::stream& s, void* to, const void* from) { return weir::cuda::copy(s, to, from, 1); }
auto many(const weir::cuda::stream& s, std::span<const weir::cuda::piece> pieces) {
    return weir::cuda::copy(s, pieces);
}
