// examples: parses a command line by a list of options, and reports mistakes.
// options.hpp lets a program declare its options.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_COMMON_COMMAND_LINE_HPP
#define WEIR_EXAMPLES_COMMON_COMMAND_LINE_HPP

#include "option.hpp"

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
    /// \returns the exit status if the program has to end now: 0 after `--help`, 2 after a mistake, which has been
    ///          printed; nothing if the program continues.
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

  private:
    // `--name value` or `--name=value`. Returns how many further words it used.
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

    std::string usage_;
    std::string what_;
    option argument_;
    std::vector<option> options_;
};

}  // namespace examples

#endif
