// examples: command-line options, declared once and used for parsing, for checking and for --help.
// Each kind of value has a function that declares one.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_COMMON_OPTIONS_HPP
#define WEIR_EXAMPLES_COMMON_OPTIONS_HPP

#include "command_line.hpp"

#include <charconv>      // for std::from_chars
#include <cstdint>       // for std::int64_t
#include <stdexcept>     // for std::runtime_error
#include <string>        // for std::string
#include <system_error>  // for std::errc
#include <utility>       // for std::move
#include <vector>        // for std::vector

namespace examples {

/// The options of a program. Each option writes into a variable of the caller, whose value before parsing is
/// the default that `--help` shows.
class options : public command_line {
  public:
    options(std::string usage, std::string what) : command_line(std::move(usage), std::move(what)) {}

    /// `--name N`, a whole number from `least` to `most`.
    void number(std::string name, std::int64_t& into, std::int64_t least, std::int64_t most,
                std::string help) {
        help += " (" + std::to_string(into) + ")";
        add({name, "N", std::move(help), [name, &into, least, most](const std::string& text) {
                 const char* const end = text.data() + text.size();
                 const auto [stop, error] = std::from_chars(text.data(), end, into);
                 if (error != std::errc() || stop != end || into < least || into > most) {
                     throw std::runtime_error(name + " takes a whole number from " + std::to_string(least) +
                                              " to " + std::to_string(most) + ", not '" + text + "'");
                 }
             }});
    }

    /// `--name WORD`, one of `words`.
    void choice(std::string name, std::string& into, std::vector<std::string> words, std::string help) {
        std::string list;
        for (const std::string& w : words) list += (list.empty() ? "" : "|") + w;
        help += " (" + into + ")";
        add({name, list, std::move(help), [name, &into, words, list](const std::string& text) {
                 for (const std::string& w : words) {
                     if (w == text) {
                         into = text;
                         return;
                     }
                 }
                 throw std::runtime_error(name + " takes " + list + ", not '" + text + "'");
             }});
    }

    /// `--name`, true when given.
    void flag(std::string name, bool& into, std::string help) {
        add({std::move(name), "", std::move(help), [&into](const std::string&) { into = true; }});
    }

    /// `--name TEXT`; `value` is what `--help` calls the text.
    void text(std::string name, std::string value, std::string& into, std::string help) {
        add({std::move(name), std::move(value), std::move(help),
             [&into](const std::string& text) { into = text; }});
    }

    /// Two positional arguments of one kind, which are appended to `into`.
    void two_arguments(std::string name, std::vector<std::string>& into, std::string help) {
        set_argument(option{std::move(name), "", std::move(help),
                            [&into](const std::string& text) { into.push_back(text); }});
        take_two_arguments();
    }

    /// A positional argument, at most one.
    void argument(std::string name, std::string& into, std::string help) {
        set_argument(
            option{std::move(name), "", std::move(help), [&into](const std::string& text) { into = text; }});
    }
};

}  // namespace examples

#endif
