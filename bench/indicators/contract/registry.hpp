// indicators contract: the known models
#ifndef INDICATORS_CONTRACT_REGISTRY_HPP
#define INDICATORS_CONTRACT_REGISTRY_HPP

#include "indicators/contract/model.hpp"

#include <map>
#include <string>
#include <vector>

namespace indicators {

class registry {
  public:
    // Reads all *.json of a folder. Throws lab::input_error for: no such folder, invalid JSON, no declaration,
    // a name twice, a model that extends an unknown one, a field that another model declares with another type.
    void add_folder(const std::string& folder);
    // Adds a model from a store; does nothing if there is one of this name.
    void add(const json& declaration, const std::string& file);
    // Adds the models whose names are not known yet.
    void add_missing(const registry& others);

    // Null if there is none of this name, or it is abstract.
    [[nodiscard]] const model* find(const std::string& name) const;
    // Sorted, without abstract models.
    [[nodiscard]] std::vector<std::string> names() const;

  private:
    struct source {
        json declaration;
        std::string file;
    };
    void add_with_base(const std::string& name, std::map<std::string, source>& left,
                       std::vector<std::string>& waiting);
    void insert(model m, const std::string& file);
    // Checks that two models declared together agree.
    void agrees_with_all(const model& m, const std::string& file) const;

    std::map<std::string, model> models_;
    std::map<std::string, std::string> files_;
};

// The folder of the program's own models.
std::string own_models();

}  // namespace indicators

#endif
