// examples: command-line options, declared once and used for parsing, for checking and for --help
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_COMMON_OPTIONS_HPP
#define WEIR_EXAMPLES_COMMON_OPTIONS_HPP

#include <algorithm>     // for std::max
#include <charconv>      // for std::from_chars
#include <cstdint>       // for std::int64_t
#include <functional>    // for std::function
#include <iostream>      // for std::cout, std::cerr
#include <optional>      // for std::optional
#include <stdexcept>     // for std::runtime_error
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::errc
#include <utility>       // for std::move
#include <vector>        // for std::vector

namespace examples {

/// What a program understands. Each option writes into a variable of the caller, whose value before
/// parsing is the default that `--help` shows.
class options {
  public:
    options(std::string usage, std::string what) : usage_(std::move(usage)), what_(std::move(what)) {}

    /// `--name N`, a whole number from `least` to `most`.
    void number(std::string name, std::int64_t& into, std::int64_t least, std::int64_t most,
                std::string help) {
        help += " (" + std::to_string(into) + ")";
        add(name, "N", std::move(help), [name, &into, least, most](const std::string& text) {
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, into);
            if (error != std::errc() || stop != end || into < least || into > most) {
                throw std::runtime_error(name + " takes a whole number from " + std::to_string(least) +
                                         " to " + std::to_string(most) + ", not '" + text + "'");
            }
        });
    }

    /// `--name WORD`, one of `words`.
    void choice(std::string name, std::string& into, std::vector<std::string> words, std::string help) {
        std::string list;
        for (const std::string& w : words) list += (list.empty() ? "" : "|") + w;
        help += " (" + into + ")";
        add(name, list, std::move(help), [name, &into, words, list](const std::string& text) {
            for (const std::string& w : words) {
                if (w == text) {
                    into = text;
                    return;
                }
            }
            throw std::runtime_error(name + " takes " + list + ", not '" + text + "'");
        });
    }

    /// `--name`, true when given.
    void flag(std::string name, bool& into, std::string help) {
        add(std::move(name), "", std::move(help), [&into](const std::string&) { into = true; });
    }

    /// What stands alone, at most once.
    void argument(std::string name, std::string& into, std::string help) {
        argument_ =
            option{std::move(name), "", std::move(help), [&into](const std::string& text) { into = text; }};
    }

    /// \returns the exit status with which the program has to end now: 0 after `--help`, 2 after a
    ///          mistake, which it has explained; nothing if the program is to go on.
    [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv) const {
        try {
            bool only_arguments = false;
            bool have_argument = false;
            for (int i = 1; i < argc; ++i) {
                const std::string word = argv[i];
                if (only_arguments || word.size() < 2 || word.front() != '-') {
                    if (!argument_.set) throw std::runtime_error("takes no argument, but got '" + word + "'");
                    if (have_argument)
                        throw std::runtime_error("takes one " + argument_.name + ", but got '" + word +
                                                 "' too");
                    have_argument = true;
                    argument_.set(word);
                } else if (word == "--") {
                    only_arguments = true;
                } else if (word == "--help" || word == "-h") {
                    help(std::cout);
                    return 0;
                } else {
                    i += set(word, i + 1 < argc ? argv[i + 1] : nullptr);
                }
            }
            return std::nullopt;
        } catch (const std::runtime_error& e) {
            return wrong(e.what());
        }
    }

    /// Says on the standard error what is wrong and how it is right.
    /// \returns 2, the exit status for wrong arguments.
    int wrong(const std::string& message) const {
        std::cerr << usage_.substr(0, usage_.find(' ')) << ": " << message << '\n';
        help(std::cerr);
        return 2;
    }

  private:
    struct option {
        std::string name;
        std::string value;  // what to call the value in --help; empty: takes none
        std::string help;
        std::function<void(const std::string&)> set;
    };

    void add(std::string name, std::string value, std::string help,
             std::function<void(const std::string&)> set) {
        options_.push_back(option{std::move(name), std::move(value), std::move(help), std::move(set)});
    }

    // `--name value` or `--name=value`. Returns how many further words it used up.
    int set(const std::string& word, const char* next) const {
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        for (const option& o : options_) {
            if (o.name != name) continue;
            if (o.value.empty()) {
                if (equals != std::string::npos) throw std::runtime_error(name + " takes no value");
                o.set("");
                return 0;
            }
            if (equals != std::string::npos) {
                o.set(word.substr(equals + 1));
                return 0;
            }
            if (next == nullptr) throw std::runtime_error(name + " needs a value: " + o.value);
            o.set(next);
            return 1;
        }
        throw std::runtime_error("unknown option '" + name + "'");
    }

    void help(std::ostream& out) const {
        out << "usage: " << usage_ << '\n' << what_ << '\n';
        std::size_t width = argument_.name.size();
        for (const option& o : options_) width = std::max(width, o.name.size() + 1 + o.value.size());
        const auto line = [&](const std::string& left, const std::string& help) {
            out << "  " << left << std::string(width + 2 - left.size(), ' ') << help << '\n';
        };
        if (argument_.set) line(argument_.name, argument_.help);
        for (const option& o : options_) line(o.name + " " + o.value, o.help);
        line("--help", "this text");
    }

    std::string usage_;
    std::string what_;
    option argument_;
    std::vector<option> options_;
};

}  // namespace examples

#endif
