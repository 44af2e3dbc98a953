// lab design: orthogonal plans of factors with two values each
#ifndef LAB_DESIGN_TWO_LEVEL_HPP
#define LAB_DESIGN_TWO_LEVEL_HPP

#include <cstddef>
#include <random>
#include <vector>

namespace lab {

// One row a run, one column a factor, false or true; each factor is on in half of the runs, each two in a quarter.
// Of a power of two a regular fraction of as high a resolution as a search finds (V: no pair is mistaken for
// another; IV: no factor for a pair; Box, Hunter & Hunter); of twice the size of a Paley matrix that and its
// opposite (Plackett & Burman, 1946, folded over: IV); of the size of one that (III). Columns and signs are by lot.
// Empty if there is none.
std::vector<std::vector<bool>> two_level_plan(std::size_t runs, std::size_t factors, std::mt19937_64& random);

}  // namespace lab

#endif
