// weir report, internal: names of types as people write them, for descriptions of pipelines
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_TYPE_NAME_HPP
#define WEIR_REPORT_TYPE_NAME_HPP

#include <weir/platform/config.hpp>

#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <typeinfo>     // for std::type_info

namespace weir::detail {

// Removes each template argument that begins with `beginning`: default arguments of standard templates.
void drop_arguments(std::string& text, std::string_view beginning);

// Unifies the names that compilers give to a type: removes default arguments of standard templates, inline
// and anonymous namespaces, and keywords.
std::string tidy_type_name(std::string text);

template <class T>
[[nodiscard]] std::string type_name() {
    return tidy_type_name(std::string(type_text<T>()));
}

// \returns the name of a type that is known at run time: `read_type_name(typeid(object).name())`.
[[nodiscard]] std::string read_type_name(const char* mangled);

// Whether two types are equal. Null stands for an unknown type, as type_of() of platform/config.hpp returns
// it without RTTI; null equals only null.
bool are_one_type(const std::type_info* a, const std::type_info* b) noexcept;

}  // namespace weir::detail

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/report/type_name.ipp>
#endif

#endif
