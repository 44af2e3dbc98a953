// lab data: the answer of a command: one JSON document, also printed as tables for people
#ifndef LAB_DATA_DOCUMENT_HPP
#define LAB_DATA_DOCUMENT_HPP

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <string>

namespace lab {

using json = nlohmann::ordered_json;

// A text unchanged, anything else as JSON.
std::string plain_text(const json& value);

// Prints a document as JSON, or for people: a list of objects as a table whose columns are their members, a list of
// plain values in one line, everything else as `name value`; numbers with five digits.
void show(const json& document, bool as_json, std::ostream& out);

}  // namespace lab

#endif
