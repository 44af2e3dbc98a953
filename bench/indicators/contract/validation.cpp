// indicators contract: makes an indicator from a JSON document, or lists everything wrong with it
#include "indicators/contract/validation.hpp"

#include "indicators/contract/derived_checks.hpp"
#include "indicators/contract/field_value.hpp"
#include "lab/data/text.hpp"

#include <cmath>

namespace indicators {

namespace {

class validator {
  public:
    validator(const json& document, const registry& models, const validation_options& how,
              const std::string& at)
        : document_(document), models_(models), how_(how), at_(at) {}

    validation run() {
        if (!document_.is_object()) {
            refuse(at_, "an indicator is an object, {...}, and this is " + kind());
            return std::move(result_);
        }
        read_name();
        read_component();
        read_version_and_score();
        const json* parameters = object("@parameters");
        const json* results = object("@result");
        if (parameters != nullptr && results != nullptr) no_shared_keys(*parameters, *results);
        for (const auto& [part, is_result] : {std::pair{parameters, false}, std::pair{results, true}}) {
            if (part == nullptr) continue;
            no_reserved_keys(*part, is_result);
            if (of() != nullptr) read_part(*part, is_result);
        }
        if (of() != nullptr && result_.refusals.empty()) {
            for (const auto& [check, because] :
                 broken_checks(*of(), result_.document.values, result_.document.score))
                (check->only_a_doubt ? result_.doubts : result_.refusals).push_back({at_, because});
        }
        if (of() != nullptr && !result_.refusals.empty() && parameters != nullptr && results != nullptr)
            hint_at_another_model(*parameters, *results);
        return std::move(result_);
    }

  private:
    void refuse(const std::string& path, const std::string& reason) {
        result_.refusals.push_back({path, reason});
    }
    [[nodiscard]] const model* of() const { return result_.document.of; }
    [[nodiscard]] std::string kind() const {
        return document_.is_array() ? "a list" : shown(document_.dump());
    }
    static std::string part_name(bool is_result) { return is_result ? "@result" : "@parameters"; }

    void read_name() {
        const std::string known = "; there is " + lab::joined(models_.names());
        const auto found = document_.find("name");
        if (found == document_.end())
            return refuse(at_, "has no 'name', which has to be that of a registered indicator" + known);
        const std::string path = member_path(at_, "name");
        if (!found->is_string()) return refuse(path, "has to be a text, and is " + shown(found->dump()));
        result_.document.name = found->get<std::string>();
        result_.document.of = models_.find(result_.document.name);
        if (of() == nullptr)
            refuse(path, "no indicator " + shown(result_.document.name) + " is registered" + known);
    }

    // `framework` in the first generation of the contract, `component` since.
    void read_component() {
        for (const char* key : {"framework", "component"}) {
            const auto found = document_.find(key);
            if (found == document_.end()) continue;
            const std::string path = member_path(at_, key);
            if (!found->is_string() || found->get<std::string>().empty()) {
                refuse(path, "has to be the name of what is tested, and is " + shown(found->dump()));
                continue;
            }
            const std::string component = lab::lower(found->get<std::string>());
            if (component.find_first_of(" \t\r\n") != component.npos ||
                shown(component).find('\\') != std::string::npos) {
                refuse(path, "has to be a name without blanks, and is " + shown(component));
                continue;
            }
            std::string& known = result_.document.component;
            if (!known.empty() && known != component)
                refuse(path, "is " + shown(component) + ", and 'framework' is " + shown(known) +
                                 "; they mean the same, leave one");
            known = component;
            result_.document.generation = key;
        }
        if (!document_.contains("framework") && !document_.contains("component"))
            refuse(at_, "has no 'component' (in older documents 'framework'): the name of what is tested");
    }

    void read_version_and_score() {
        if (const auto version = document_.find("version");
            version != document_.end() && !version->is_null()) {
            if (version->is_string()) {
                result_.document.version = version->get<std::string>();
            } else {
                refuse(member_path(at_, "version"), "has to be a text, and is " + shown(version->dump()));
            }
        }
        const auto score = document_.find("overall_score");
        if (score == document_.end() || score->is_null()) return;
        if (score->is_number() && std::isfinite(score->get<double>())) {
            result_.document.score = score->get<double>();
        } else {
            refuse(member_path(at_, "overall_score"), "has to be a number, and is " + shown(score->dump()));
        }
    }

    const json* object(const char* key) {
        constexpr std::size_t most_members = 1000;  // more than any model needs
        const auto found = document_.find(key);
        if (found == document_.end()) {
            refuse(at_, "has no '" + std::string(key) + "', which has to be an object; it may be empty");
            return nullptr;
        }
        const std::string path = member_path(at_, key);
        if (found->is_object() && found->size() <= most_members) return &*found;
        refuse(path, found->is_object() ? "has more than " + std::to_string(most_members) + " members"
                                        : "has to be an object, {...}, and is " + shown(found->dump()));
        return nullptr;
    }

    void no_shared_keys(const json& parameters, const json& results) {
        for (const auto& [key, value] : results.items())
            if (parameters.contains(key))
                refuse(member_path(member_path(at_, "@result"), key),
                       "is in @parameters, too; the keys of both have to differ");
    }
    void no_reserved_keys(const json& part, bool is_result) {
        for (const auto& [key, value] : part.items())
            if (is_reserved(key))
                refuse(member_path(member_path(at_, part_name(is_result)), key),
                       "is a name that the runner gives a meaning; a document can't set it here");
    }

    // Scripts are copied from each other, so the name of another one may remain in them.
    void hint_at_another_model(const json& parameters, const json& results) {
        const auto has_members_of = [&](const model& m) {
            std::size_t known = 0;
            for (const field& f : m.fields) {
                const bool is_there = (f.is_result ? results : parameters).contains(f.name);
                if (!is_there && !f.optional) return false;
                known += is_there;
            }
            return known == parameters.size() + results.size();
        };
        if (has_members_of(*of())) return;
        for (const std::string& name : models_.names())
            if (has_members_of(*models_.find(name)))
                refuse(member_path(at_, "name"),
                       "is " + shown(of()->name) + ", but the members are those of " + name);
    }

    void read_part(const json& part, bool is_result) {
        const std::string path = member_path(at_, part_name(is_result));
        const bool is_first = result_.document.generation == "framework";
        std::vector<std::string> declared;
        for (const field& f : of()->fields) {
            if (f.is_result != is_result) continue;
            declared.push_back(f.name);
            auto found = part.find(f.name);
            const auto older = f.was.empty() ? part.end() : part.find(f.was);
            if (found != part.end() && older != part.end())
                refuse(member_path(path, f.was),
                       "is what " + f.name + " was called before, and both are there");
            if (found == part.end()) found = older;
            if (found == part.end() && how_.is_older && !f.before.is_null()) {
                result_.document.values[f.name] = f.before;
                continue;
            }
            if (found == part.end() || (f.optional && found->is_null())) {
                if (!f.optional)
                    refuse(member_path(path, f.name), "is missing; " + of()->name + " has it as " +
                                                          type_name(f.type) +
                                                          (f.unit.empty() ? "" : ", in " + f.unit));
                continue;
            }
            json taken;
            const std::string why = take(f, is_first ? f.type_of_framework : f.type, *found, taken);
            if (!why.empty()) {
                refuse(member_path(path, f.name), why);
            } else {
                result_.document.values[f.name] = std::move(taken);
            }
        }
        for (const auto& [key, value] : part.items()) {
            const field* f = of()->find(key);
            if (f == nullptr) f = of()->find_older(key);
            if (is_reserved(key) || (f != nullptr && f->is_result == is_result)) continue;
            const std::string known = (declared.empty() ? "nothing" : lab::joined(declared));
            if (value.is_object() || value.is_array()) {
                refuse(member_path(path, key),
                       "is nested, and " + part_name(is_result) +
                           " has plain values alone; put it beside, as a member of the document");
            } else if (f != nullptr) {
                refuse(member_path(path, key), "belongs to " + part_name(f->is_result));
            } else if (how_.keep_extra) {
                result_.document.extra[key] = value;
            } else {
                refuse(member_path(path, key),
                       of()->name + " has no such member of " + part_name(is_result) + "; it has " + known);
            }
        }
    }

    const json& document_;
    const registry& models_;
    const validation_options& how_;
    const std::string& at_;
    validation result_;
};

}  // namespace

validation validate(const json& document, const registry& models, const validation_options& how,
                    const std::string& at) {
    return validator(document, models, how, at).run();
}

}  // namespace indicators
