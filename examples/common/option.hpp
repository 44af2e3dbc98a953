// examples: one command-line option, and how --help explains a list of them.
// A function of the option processes its value.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_COMMON_OPTION_HPP
#define WEIR_EXAMPLES_COMMON_OPTION_HPP

#include <algorithm>   // for std::max
#include <functional>  // for std::function
#include <ostream>     // for std::ostream
#include <string>      // for std::string
#include <vector>      // for std::vector

namespace examples {

/// The name of an option, and its value.
struct option {
    std::string name;
    std::string value;  // name of the value in --help; empty: takes no value
    std::string help;
    std::function<void(const std::string&)> set;
};

/// Writes the text of `--help`.
/// \param argument  the positional argument; there is none if its function is empty
inline void explain(std::ostream& out, const std::string& usage, const std::string& what,
                    const option& argument, const std::vector<option>& options) {
    out << "usage: " << usage << '\n' << what << '\n';
    std::size_t width = argument.name.size();
    for (const option& o : options) width = std::max(width, o.name.size() + 1 + o.value.size());
    const auto line = [&](const std::string& left, const std::string& help) {
        out << "  " << left << std::string(width + 2 - left.size(), ' ') << help << '\n';
    };
    if (argument.set) line(argument.name, argument.help);
    for (const option& o : options) line(o.name + " " + o.value, o.help);
    line("--help", "this text");
}

}  // namespace examples

#endif
