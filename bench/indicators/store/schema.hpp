// indicators store: the SQL tables of a model
#ifndef INDICATORS_STORE_SCHEMA_HPP
#define INDICATORS_STORE_SCHEMA_HPP

#include "indicators/contract/model.hpp"

#include <string>

namespace indicators {

// CREATE TABLE for the fields of every result: status, machine, times, resources, document.
std::string base_schema();
// CREATE TABLE for a model: its parameters and results, with their types and ranges.
std::string schema_of(const model& of);
// The documentation of a model, in Markdown.
std::string page_of(const model& of);

}  // namespace indicators

#endif
