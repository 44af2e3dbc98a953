// diff: compares two runs of a pipeline, before and after a change: which stage takes longer, and what that
// changes. Each file has a stored run, a spec, or as many of these as the other file.
// SPDX-License-Identifier: BSL-1.0
#include "../simulate/comparing_program.hpp"

int main(int argc, char** argv) { return simulate::comparing_program(argc, argv); }
