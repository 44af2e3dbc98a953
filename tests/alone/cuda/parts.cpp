#include <weir/cuda/parts.hpp>

#include <vector>

struct sample {
    std::vector<float> pixels;
    std::vector<int> labels;
};
constexpr auto both = weir::cuda::parts(&sample::pixels, &sample::labels);
