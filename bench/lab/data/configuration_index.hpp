// lab data: finds measured configurations by their values
#ifndef LAB_DATA_CONFIGURATION_INDEX_HPP
#define LAB_DATA_CONFIGURATION_INDEX_HPP

#include "lab/data/run_table.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace lab {

struct configuration_hash {
    std::size_t operator()(const configuration& values) const {
        std::size_t hash = values.size();
        for (const double value : values)
            hash = (hash ^ std::hash<double>{}(value)) * std::size_t{0x9e3779b97f4a7c15};
        return hash ^ (hash >> 29);
    }
};

class configuration_index {
  public:
    explicit configuration_index(const run_table& table) : all_(configurations_of(table)) {
        places_.reserve(all_.size());
        for (std::size_t i = 0; i < all_.size(); ++i) places_.emplace(all_[i].values, i);
    }

    // In the order of their first runs.
    [[nodiscard]] const std::vector<repeated_configuration>& all() const { return all_; }
    // The place of a configuration in all().
    [[nodiscard]] std::optional<std::size_t> find(const configuration& values) const {
        const auto found = places_.find(values);
        return found == places_.end() ? std::nullopt : std::optional(found->second);
    }

  private:
    std::vector<repeated_configuration> all_;
    std::unordered_map<configuration, std::size_t, configuration_hash> places_;
};

}  // namespace lab

#endif
