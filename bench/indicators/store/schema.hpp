// indicators store: the SQL tables of a model
#ifndef INDICATORS_STORE_SCHEMA_HPP
#define INDICATORS_STORE_SCHEMA_HPP

#include "indicators/contract/model.hpp"

#include <string>

namespace indicators {

// CREATE TABLE for what every result has: status, machine, times, resources, its document.
std::string base_schema();
// CREATE TABLE of a model's own: its parameters and results, with their types and ranges.
std::string schema_of(const model& of);
// Its documentation, Markdown.
std::string page_of(const model& of);

}  // namespace indicators

#endif
