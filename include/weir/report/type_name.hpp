// weir report, internal: the names of types, as people write them
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TYPE_NAME_HPP
#define WEIR_REPORT_TYPE_NAME_HPP

#include <weir/platform/config.hpp>

#include <cstddef>      // for std::size_t
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace weir::detail {

// The name of a type as the compiler writes it, which differs from one to the next.
template <class T>
constexpr std::string_view type_text() noexcept {
    constexpr std::string_view known = signature_with<double>();
    constexpr std::size_t before = known.find("double");
    constexpr std::size_t around = known.size() - std::string_view("double").size();
    constexpr std::string_view whole = signature_with<T>();
    return whole.substr(before, whole.size() - around);
}

// Makes one name of what compilers write for the same type: without the default arguments of the
// standard's templates, inline namespaces, anonymous ones, and keywords.
class type_reader {
  public:
    static std::string read(std::string text) {
        tidy(text);
        type_reader reader(text);
        std::string all = reader.name();
        while (reader.at_ < text.size()) {  // no list is open: it belongs to the name
            all += text[reader.at_++];
            all += reader.name();
        }
        return all;
    }

  private:
    explicit type_reader(std::string_view text) : text_(text) {}

    // Up to what ends an argument of a list.
    std::string name() {
        std::string result;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == ',' || c == '>' || c == ')') break;
            ++at_;
            if (c == '<') {
                result = with_arguments(std::move(result), list('>'));
            } else if (c == '(') {
                result += "(" + joined(list(')')) + ")";
            } else {
                result += c;
            }
        }
        return result;
    }

    std::vector<std::string> list(char end) {
        std::vector<std::string> arguments;
        while (at_ < text_.size() && text_[at_] != end) {
            arguments.push_back(trimmed(name()));
            if (at_ < text_.size() && text_[at_] != end) ++at_;
        }
        if (at_ < text_.size()) ++at_;
        return arguments;
    }

    static std::string with_arguments(std::string name, std::vector<std::string> arguments) {
        if (name.starts_with("std::") || name.find(" std::") != std::string::npos) {
            while (arguments.size() > 1 && is_default(arguments.back(), arguments.front())) {
                arguments.pop_back();
            }
            constexpr std::string_view basic = "std::basic_string";
            const std::size_t place = name.find(basic);
            if (place != std::string::npos && arguments == std::vector<std::string>{"char"}) {
                return name.replace(place, basic.size(), "std::string");
            }
        }
        return name + "<" + joined(arguments) + ">";
    }

    static bool is_default(const std::string& argument, const std::string& first) {
        if (argument.starts_with("std::allocator<") || argument.starts_with("std::char_traits<")) {
            return true;
        }
        for (const char* const each : {"less", "hash", "equal_to", "default_delete"}) {
            if (argument == "std::" + std::string(each) + "<" + first + ">") return true;
        }
        return false;
    }

    static std::string joined(const std::vector<std::string>& parts) {
        std::string text;
        for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
        return text;
    }

    static std::string trimmed(const std::string& text) {
        const std::size_t first = text.find_first_not_of(' ');
        if (first == std::string::npos) return {};
        return text.substr(first, text.find_last_not_of(' ') - first + 1);
    }

    static void tidy(std::string& text) {
        static constexpr struct {
            std::string_view from;
            std::string_view to;
        } rules[] = {
            {"{anonymous}::", ""},
            {"(anonymous namespace)::", ""},
            {"`anonymous-namespace'::", ""},
            {"`anonymous namespace'::", ""},
            {"std::__cxx11::", "std::"},
            {"std::__1::", "std::"},
            {"class ", ""},
            {"struct ", ""},
            {"enum ", ""},
            {"long long unsigned int", "unsigned long long"},
            {"long unsigned int", "unsigned long"},
            {"short unsigned int", "unsigned short"},
            {"long long int", "long long"},
            {"long int", "long"},
            {"short int", "short"},
            {" *", "*"},
            {" &", "&"},
            {" [", "["},
            {" (", "("},
        };
        for (const auto& rule : rules) {
            std::size_t at = 0;
            while ((at = text.find(rule.from, at)) != std::string::npos) {
                const bool inside = at > 0 && is_word(text[at]) && is_word(text[at - 1]);
                if (!inside) text.replace(at, rule.from.size(), rule.to);
                at += inside ? 1 : rule.to.size();
            }
        }
    }

    static bool is_word(char c) noexcept {
        return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// Gives such as `std::vector<std::string>`, alike from all compilers as far as they name it alike.
template <class T>
[[nodiscard]] std::string type_name() {
    return type_reader::read(std::string(type_text<T>()));
}

// The same for what is known only when the program runs: `read_type_name(typeid(object).name())`.
[[nodiscard]] inline std::string read_type_name(const char* mangled) {
    return type_reader::read(demangled(mangled));
}

}  // namespace weir::detail

#endif
