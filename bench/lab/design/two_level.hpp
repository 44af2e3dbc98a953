// lab design: orthogonal plans of factors with two values each
#ifndef LAB_DESIGN_TWO_LEVEL_HPP
#define LAB_DESIGN_TWO_LEVEL_HPP

#include <cstddef>
#include <random>
#include <vector>

namespace lab {

// One row per run, one column per factor, false or true. Each factor is on in half of the runs, each two in a
// quarter. The number of runs decides the kind of plan:
// - a power of two: a regular fraction of the highest resolution that a search finds (V: no pair is aliased
//   with another pair; IV: no factor is aliased with a pair; Box, Hunter & Hunter);
// - twice the size of a Paley matrix: this matrix and its opposite (Plackett & Burman, 1946, folded over: IV);
// - the size of a Paley matrix: this matrix (III).
// Columns and signs are random. Empty if there is no such plan.
std::vector<std::vector<bool>> two_level_plan(std::size_t runs, std::size_t factors, std::mt19937_64& random);

}  // namespace lab

#endif
