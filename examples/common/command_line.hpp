// examples: parses a command line by a list of options, and reports mistakes.
// options.hpp lets a program declare its options.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_COMMON_COMMAND_LINE_HPP
#define WEIR_EXAMPLES_COMMON_COMMAND_LINE_HPP

#include "option.hpp"

#include <cstddef>    // for std::size_t
#include <iostream>   // for std::cout, std::cerr
#include <optional>   // for std::optional
#include <stdexcept>  // for std::runtime_error
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace examples {

/// The options that a program accepts.
class command_line {
  public:
    /// \returns the exit status if the program has to end now: 0 after `--help`, 2 after a mistake, which it
    ///          has printed; nothing if the program continues.
    [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv) const {
        try {
            bool only_arguments = false;
            std::size_t count = 0;  // of arguments
            for (int i = 1; i < argc; ++i) {
                const std::string word = argv[i];
                if (only_arguments || word.size() < 2 || word.front() != '-') {
                    add_argument(word, count++);
                } else if (word == "--") {
                    only_arguments = true;
                } else if (word == "--help" || word == "-h") {
                    explain(std::cout, usage_, what_, argument_, options_);
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

    /// Prints on standard error what is wrong, and the correct usage.
    /// \returns 2, the exit status for wrong arguments.
    int wrong(const std::string& message) const {
        std::cerr << usage_.substr(0, usage_.find(' ')) << ": " << message << '\n';
        explain(std::cerr, usage_, what_, argument_, options_);
        return 2;
    }

  protected:
    command_line(std::string usage, std::string what) : usage_(std::move(usage)), what_(std::move(what)) {}

    void add(option o) { options_.push_back(std::move(o)); }
    void set_argument(option o) { argument_ = std::move(o); }
    void take_two_arguments() { most_arguments_ = 2; }

  private:
    void add_argument(const std::string& word, std::size_t before) const {
        if (!argument_.set) throw std::runtime_error("takes no argument, but got '" + word + "'");
        if (before == most_arguments_) {
            throw std::runtime_error("takes " + std::string(most_arguments_ == 1 ? "one " : "two ") +
                                     argument_.name + ", but got '" + word + "' too");
        }
        argument_.set(word);
    }

    // `--name value` or `--name=value`. Returns how many further words it used.
    int set(const std::string& word, const char* next) const {
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        for (const option& o : options_) {
            if (o.name != name) continue;
            const bool has_value = equals != std::string::npos;
            if (o.value.empty() && has_value) throw std::runtime_error(name + " takes no value");
            const bool is_whole = o.value.empty() || has_value;
            if (!is_whole && next == nullptr) throw std::runtime_error(name + " needs a value: " + o.value);
            o.set(has_value ? word.substr(equals + 1) : is_whole ? "" : next);
            return is_whole ? 0 : 1;
        }
        throw std::runtime_error("unknown option '" + name + "'");
    }

    std::string usage_;
    std::string what_;
    option argument_;
    std::size_t most_arguments_ = 1;  // 1 or 2
    std::vector<option> options_;
};

}  // namespace examples

#endif
