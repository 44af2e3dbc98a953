// lab stats: a random order that is the same with each standard library
#ifndef LAB_STATS_SHUFFLE_HPP
#define LAB_STATS_SHUFFLE_HPP

#include <cstddef>
#include <iterator>
#include <random>
#include <utility>

namespace lab {

// Durstenfeld's shuffle (1964). std::shuffle gives different orders with different standard libraries.
template <class Iterator>
void shuffle(Iterator begin, Iterator end, std::mt19937_64& random) {
    for (auto left = static_cast<std::size_t>(end - begin); left > 1; --left) {
        using difference = typename std::iterator_traits<Iterator>::difference_type;
        std::swap(begin[static_cast<difference>(left - 1)], begin[static_cast<difference>(random() % left)]);
    }
}
template <class List>
void shuffle(List& values, std::mt19937_64& random) {
    shuffle(values.begin(), values.end(), random);
}

}  // namespace lab

#endif
