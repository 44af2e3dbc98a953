// expect-error: weir: which function is meant can't be told from its name
// The name of several functions has no type from which one could be chosen.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/flat_map.hpp>

#include <string>
#include <vector>

std::vector<char> letters(const std::string& word);
std::vector<char> letters(int number);

auto all = weir::flat_map(letters);

int main() {}
