// indicators contract: reads the declaration of a model
#include "indicators/contract/model.hpp"

#include "indicators/contract/field_value.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/text.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace indicators {

namespace {

constexpr std::array<std::pair<const char*, field_type>, 5> types{{{"text", field_type::text},
                                                                   {"int", field_type::integer},
                                                                   {"float", field_type::real},
                                                                   {"bool", field_type::boolean},
                                                                   {"datetime", field_type::datetime}}};

class model_reader {
  public:
    explicit model_reader(const std::string& file) : file_(file) {}

    [[noreturn]] void fail(const std::string& path, const std::string& reason) const {
        throw lab::input_error(file_, path + ": " + reason);
    }
    void only(const json& object, const std::string& path, std::initializer_list<const char*> known) const {
        if (!object.is_object()) fail(path, "has to be an object, {...}");
        for (const auto& [key, value] : object.items()) {
            if (std::find(known.begin(), known.end(), key) == known.end())
                fail(member_path(path, key),
                     "is unknown; there may be " + lab::joined({known.begin(), known.end()}));
        }
    }
    [[nodiscard]] std::string text(const json& object, const std::string& path, const char* key,
                                   const std::string& otherwise) const {
        const auto found = object.find(key);
        if (found == object.end()) return otherwise;
        if (!found->is_string()) fail(member_path(path, key), "has to be a text, and is " + found->dump());
        return found->get<std::string>();
    }
    [[nodiscard]] bool yes(const json& object, const std::string& path, const char* key) const {
        const auto found = object.find(key);
        if (found == object.end()) return false;
        if (!found->is_boolean())
            fail(member_path(path, key), "has to be true or false, and is " + found->dump());
        return found->get<bool>();
    }
    [[nodiscard]] std::optional<double> number(const json& object, const std::string& path,
                                               const char* key) const {
        const auto found = object.find(key);
        if (found == object.end()) return std::nullopt;
        if (!found->is_number()) fail(member_path(path, key), "has to be a number, and is " + found->dump());
        return found->get<double>();
    }
    [[nodiscard]] std::string one_of(const std::string& value, const std::string& path, const char* key,
                                     std::initializer_list<const char*> known) const {
        if (std::find(known.begin(), known.end(), value) == known.end())
            fail(member_path(path, key),
                 "is " + shown(value) + "; it has to be one of " + lab::joined({known.begin(), known.end()}));
        return value;
    }

  private:
    const std::string& file_;
};

field_type type_of(const std::string& name) {
    return std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.first == name; })->second;
}

field field_of(const model_reader& in, const std::string& name, const json& object, const std::string& path,
               bool is_result) {
    in.only(object, path,
            {"type", "type_of_framework", "optional", "unit", "role", "at_least", "at_most", "above", "below",
             "one_of", "was", "before", "about"});
    field f;
    f.name = name;
    f.is_result = is_result;
    if (!object.contains("type")) in.fail(path, "has no 'type'");
    const auto type = [&](const char* key, const std::string& otherwise) {
        return in.one_of(in.text(object, path, key, otherwise), path, key,
                         {"text", "int", "float", "bool", "datetime"});
    };
    f.type = type_of(type("type", ""));
    f.type_of_framework = type_of(type("type_of_framework", type("type", "")));
    f.optional = in.yes(object, path, "optional");
    f.unit = in.text(object, path, "unit", "");
    f.about = in.text(object, path, "about", "");
    f.was = in.text(object, path, "was", "");
    f.before = object.value("before", json());
    if (name.find('\0') != name.npos || name.empty()) in.fail(path, "has to have a name without zeros");
    f.role = in.one_of(in.text(object, path, "role", f.role), path, "role", {"workload", "choice", "effort"});
    if (is_result && object.contains("role")) in.fail(member_path(path, "role"), "is of parameters alone");
    f.at_least = in.number(object, path, "at_least");
    f.at_most = in.number(object, path, "at_most");
    f.above = in.number(object, path, "above");
    f.below = in.number(object, path, "below");
    const bool has_range = f.at_least || f.at_most || f.above || f.below;
    if ((f.at_least && f.at_most && *f.at_least > *f.at_most) || (f.above && f.below && *f.above >= *f.below))
        in.fail(path, "has a range in which nothing is");
    if (has_range && f.type != field_type::integer && f.type != field_type::real)
        in.fail(path, "has a range, and is no number");
    if (const auto list = object.find("one_of"); list != object.end()) {
        if (!list->is_array() || list->empty())
            in.fail(member_path(path, "one_of"), "has to be a list of values");
        f.one_of.assign(list->begin(), list->end());
    }
    json taken;
    for (const json& one : f.one_of)
        if (const std::string why = take(f, f.type, one, taken); !why.empty())
            in.fail(member_path(path, "one_of"), why);
    if (!f.before.is_null())
        if (const std::string why = take(f, f.type, f.before, taken); !why.empty())
            in.fail(member_path(path, "before"), why);
    return f;
}

void read_fields(const model_reader& in, const json& declaration, const char* key, bool is_result, model& m) {
    const auto found = declaration.find(key);
    if (found == declaration.end()) return;
    const std::string path = member_path("$", key);
    if (!found->is_object()) in.fail(path, "has to be an object of fields");
    for (const auto& [name, object] : found->items()) {
        const std::string at = member_path(path, name);
        if (is_reserved(name)) in.fail(at, "is a name that the runner gives a meaning; choose another");
        const auto same = std::find_if(m.fields.begin(), m.fields.end(), [&](const field& f) {
            return lab::lower(f.name) == lab::lower(name);  // SQL does not distinguish case
        });
        if (same != m.fields.end() && (same->name != name || same->is_result != is_result))
            in.fail(at, "there is the " + std::string(same->is_result ? "result" : "parameter") + " '" +
                            same->name + "'; a name means one thing, whatever its case");
        field f = field_of(in, name, object, at, is_result);
        if (same != m.fields.end()) {
            *same = std::move(f);  // replaces the field of the extended model
        } else {
            m.fields.push_back(std::move(f));
        }
    }
}

derived_check check_of(const model_reader& in, const json& object, const std::string& path) {
    in.only(object, path, {"holds", "equal", "within", "because", "doubt"});
    derived_check c;
    c.holds = in.text(object, path, "holds", "");
    if (const auto equal = object.find("equal"); equal != object.end()) {
        const bool two =
            equal->is_array() && equal->size() == 2 && (*equal)[0].is_string() && (*equal)[1].is_string();
        if (!two) in.fail(member_path(path, "equal"), "has to be two texts, which are SQL expressions");
        c.equal = equal->get<std::vector<std::string>>();
    }
    if (c.holds.empty() == c.equal.empty()) in.fail(path, "has to have either 'holds' or 'equal'");
    c.within = in.number(object, path, "within").value_or(c.within);
    c.because = in.text(object, path, "because", "");
    c.only_a_doubt = in.yes(object, path, "doubt");
    return c;
}

}  // namespace

std::string derived_check::sql() const {
    if (!holds.empty()) return "(" + holds + ")";
    const std::string a = "(" + equal[0] + ")";
    const std::string b = "(" + equal[1] + ")";
    const std::string larger = "max(abs(" + a + "), abs(" + b + "))";
    return "(abs(" + a + " - " + b + ") <= " + json(within).dump() + " * " + larger + " AND " + larger +
           " <= 1.7976931348623157e308)";  // infinities differ
}
std::string derived_check::text() const { return !holds.empty() ? holds : equal[0] + " = " + equal[1]; }

const field* model::find(const std::string& field_name) const {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const field& f) { return f.name == field_name; });
    return found == fields.end() ? nullptr : &*found;
}

const field* model::find_older(const std::string& field_name) const {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const field& f) { return f.was == field_name; });
    return found == fields.end() ? nullptr : &*found;
}

std::string model::table() const {
    std::string result = "indicator_of_";
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool upper = name[i] >= 'A' && name[i] <= 'Z';
        const bool after_lower = i > 0 && name[i - 1] >= 'a' && name[i - 1] <= 'z';
        if (upper && after_lower) result += '_';
        result += name[i];
    }
    return lab::lower(result);
}

std::vector<std::string> model::names() const {
    std::vector<std::string> all;
    for (const field& f : fields) all.push_back(f.name);
    return all;
}

model model_of(const json& declaration, const model* base, const std::string& file) {
    const model_reader in(file);
    in.only(declaration, "$",
            {"name", "about", "abstract", "extends", "parameters", "results", "checks", "score"});
    model m;
    if (base != nullptr) m = *base;
    m.is_abstract = in.yes(declaration, "$", "abstract");
    m.name = in.text(declaration, "$", "name", "");
    const bool is_name = !m.name.empty() && std::all_of(m.name.begin(), m.name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
    if (!is_name) in.fail("$.name", "has to be a name of letters, digits and '_'");
    m.about = in.text(declaration, "$", "about", "");
    read_fields(in, declaration, "parameters", false, m);
    read_fields(in, declaration, "results", true, m);
    constexpr std::size_t most_fields = 1000;  // SQLite supports twice as many columns
    if (m.fields.size() > most_fields)
        in.fail("$", "has more than " + std::to_string(most_fields) + " fields");
    for (const field& f : m.fields)
        if (!f.was.empty() && (m.find(f.was) != nullptr || m.find_older(f.was) != &f))
            in.fail("$", "two fields are, or were, called '" + f.was + "'");
    std::stable_partition(m.fields.begin(), m.fields.end(), [](const field& f) { return !f.is_result; });
    if (const auto checks = declaration.find("checks"); checks != declaration.end()) {
        if (!checks->is_array()) in.fail("$.checks", "has to be a list");
        for (std::size_t i = 0; i < checks->size(); ++i)
            m.checks.push_back(check_of(in, (*checks)[i], item_path("$.checks", i)));
    }
    if (const auto score = declaration.find("score"); score != declaration.end()) {
        in.only(*score, "$.score", {"field", "better"});
        m.score_field = in.text(*score, "$.score", "field", m.score_field);
        m.more_is_better = in.one_of(in.text(*score, "$.score", "better", "more"), "$.score", "better",
                                     {"more", "less"}) == "more";
        const field* f = m.find(m.score_field);
        if (m.score_field != "overall_score" &&
            (f == nullptr || !f->is_result ||
             (f->type != field_type::real && f->type != field_type::integer)))
            in.fail("$.score.field", "'" + m.score_field + "' is no result that is a number");
    }
    json whole = base != nullptr ? base->declaration : json::object();
    whole.merge_patch(declaration);
    whole.erase("extends");
    if (!m.is_abstract) whole.erase("abstract");
    if (base != nullptr && base->declaration.contains("checks") && declaration.contains("checks")) {
        whole["checks"] = base->declaration["checks"];
        for (const json& check : declaration["checks"]) whole["checks"].push_back(check);
    }
    m.declaration = std::move(whole);
    return m;
}

bool is_reserved(const std::string& key) {
    // Fields that a runner sets itself, in this store and in Thoth's (its PerformanceIndicatorBase).
    static const std::set<std::string> names{
        "id",      "name",      "component", "framework",     "origin",
        "version", "exit_code", "signal",    "overall_score", "inspection_run_id"};
    const std::string lower = lab::lower(key);
    return names.contains(lower) || lower.starts_with("ru_") || lower.starts_with('@');
}

std::string type_name(field_type type) {
    switch (type) {
        case field_type::text:
            return "a text";
        case field_type::integer:
            return "a whole number";
        case field_type::real:
            return "a number";
        case field_type::boolean:
            return "true or false";
        case field_type::datetime:
            return "a time as 2026-11-25T02:54:16Z";
    }
    return "";
}

}  // namespace indicators
