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
    // Reads all *.json of a folder. Throws lab::input_error: no such folder, no JSON, no declaration, a name twice,
    // a model that extends one which isn't there, a field that another model declares with another type.
    void add_folder(const std::string& folder);
    // As it is in a store; nothing if there is one of that name.
    void add(const json& declaration, const std::string& file);
    // Those of which there is none of that name yet.
    void add_missing(const registry& others);

    // Null: there is none of that name, or it is abstract.
    [[nodiscard]] const model* find(const std::string& name) const;
    // Sorted, without those that are abstract.
    [[nodiscard]] std::vector<std::string> names() const;

  private:
    struct source {
        json declaration;
        std::string file;
    };
    void add_with_base(const std::string& name, std::map<std::string, source>& left,
                       std::vector<std::string>& waiting);
    void insert(model m, const std::string& file);
    // Two models that are declared beside each other don't disagree.
    void agrees_with_all(const model& m, const std::string& file) const;

    std::map<std::string, model> models_;
    std::map<std::string, std::string> files_;
};

// The folder of the models that come with the program.
std::string own_models();

}  // namespace indicators

#endif
