// indicators contract: folders of declarations
#include "indicators/contract/registry.hpp"

#include "indicators/contract/derived_checks.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/text.hpp"

#include <algorithm>
#include <filesystem>

namespace indicators {

void registry::add_folder(const std::string& folder) {
    namespace files = std::filesystem;
    if (!files::is_directory(folder)) throw lab::input_error(folder, "is no folder of models");
    std::vector<std::string> paths;
    for (const auto& entry : files::directory_iterator(folder))
        if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    std::map<std::string, source> left;
    for (const std::string& path : paths) {
        const read_json read = read_json_text(lab::text_in(path));
        if (!read.good()) throw lab::input_error(path, joined(read.refusals));
        const auto name = read.document.is_object() ? read.document.find("name") : read.document.end();
        if (name == read.document.end() || !name->is_string())
            throw lab::input_error(path, "a model is an object with a 'name'");
        const auto [place, is_new] = left.try_emplace(name->get<std::string>(), source{read.document, path});
        if (!is_new || models_.contains(place->first))
            throw lab::input_error(path, "'" + place->first + "' is declared in " +
                                             (is_new ? files_.at(place->first) : place->second.file) +
                                             ", too");
    }
    while (!left.empty()) {
        std::vector<std::string> waiting;
        add_with_base(left.begin()->first, left, waiting);
    }
}

void registry::add_with_base(const std::string& name, std::map<std::string, source>& left,
                             std::vector<std::string>& waiting) {
    const source one = left.at(name);
    if (std::find(waiting.begin(), waiting.end(), name) != waiting.end())
        throw lab::input_error(one.file, "$.extends: '" + name + "' extends itself");
    waiting.push_back(name);
    const model* base = nullptr;
    if (const auto extends = one.declaration.find("extends"); extends != one.declaration.end()) {
        const std::string of = extends->is_string() ? extends->get<std::string>() : extends->dump();
        if (left.contains(of)) add_with_base(of, left, waiting);
        const auto found = models_.find(of);
        if (found == models_.end())
            throw lab::input_error(one.file, "$.extends: there is no model '" + of + "'");
        base = &found->second;
    }
    model m = model_of(one.declaration, base, one.file);
    agrees_with_all(m, one.file);
    insert(std::move(m), one.file);
    left.erase(name);
}

void registry::add(const json& declaration, const std::string& file) {
    model m = model_of(declaration, nullptr, file);
    if (!models_.contains(m.name)) insert(std::move(m), file);
}

void registry::add_missing(const registry& others) {
    for (const auto& [name, m] : others.models_)
        if (!models_.contains(name)) insert(m, others.files_.at(name));
}

void registry::insert(model m, const std::string& file) {
    prove_checks(m, file);
    files_[m.name] = file;
    const std::string name = m.name;
    models_.emplace(name, std::move(m));
}

void registry::agrees_with_all(const model& m, const std::string& file) const {
    for (const auto& [name, other] : models_) {
        if (other.table() == m.table())
            throw lab::input_error(file, "$.name: '" + m.name + "' and '" + name +
                                             "' would share the table " + m.table());
        for (const field& f : m.fields) {
            const field* same = other.find(f.name);
            if (same != nullptr && same->type != f.type)
                throw lab::input_error(file, "'" + f.name + "' is " + type_name(f.type) + " here, and " +
                                                 type_name(same->type) + " in " + name +
                                                 "; one name means one thing: choose another name");
        }
    }
}

const model* registry::find(const std::string& name) const {
    const auto found = models_.find(name);
    return found == models_.end() || found->second.is_abstract ? nullptr : &found->second;
}

std::vector<std::string> registry::names() const {
    std::vector<std::string> all;
    for (const auto& [name, m] : models_)
        if (!m.is_abstract) all.push_back(name);
    return all;
}

std::string own_models() { return INDICATORS_MODELS; }

}  // namespace indicators
