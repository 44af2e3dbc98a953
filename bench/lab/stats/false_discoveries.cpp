// lab stats: Benjamini and Hochberg's step-up procedure
#include "lab/stats/false_discoveries.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lab {

std::vector<double> false_discovery_rates(const std::vector<double>& probabilities) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < probabilities.size(); ++i)
        if (!std::isnan(probabilities[i])) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return probabilities[a] < probabilities[b]; });
    std::vector<double> result = probabilities;
    double least = 1;
    for (std::size_t rank = order.size(); rank > 0; --rank) {
        const std::size_t i = order[rank - 1];
        least =
            std::min(least, probabilities[i] * static_cast<double>(order.size()) / static_cast<double>(rank));
        result[i] = least;
    }
    return result;
}

}  // namespace lab
