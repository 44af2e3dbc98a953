// lab design: reads a factor file from its JSON
#include "lab/design/factor_file.hpp"

#include "lab/data/document.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"
#include "lab/data/text.hpp"
#include "lab/design/constraints.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <set>

namespace lab {

namespace {

class factor_reader {
  public:
    factor_reader(const std::string& text, const std::string& name) : text_(text), name_(name) {}

    [[nodiscard]] json document() const {
        std::vector<std::set<std::string>> keys;
        const json::parser_callback_t no_key_twice = [&](int, json::parse_event_t event, json& parsed) {
            if (event == json::parse_event_t::object_start) keys.emplace_back();
            if (event == json::parse_event_t::object_end) keys.pop_back();
            if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
                const auto key = parsed.get<std::string>();
                throw input_error(name_, line_of(key),
                                  "'" + key + "' is there twice in one object; leave one");
            }
            return true;
        };
        try {
            return json::parse(text_, no_key_twice);
        } catch (const json::parse_error& wrong) {
            const std::size_t place = std::min(text_.size(), wrong.byte > 0 ? wrong.byte - 1 : 0);
            throw input_error(name_, line_at(place), "no JSON: " + std::string(wrong.what()));
        }
    }
    // The line of the first quoted text that equals `text`; 1 if there is none.
    [[nodiscard]] std::size_t line_of(const std::string& text) const {
        const std::size_t place = text_.find(json(text).dump());
        return place == std::string::npos ? 1 : line_at(place);
    }
    [[noreturn]] void fail(const std::string& near, const std::string& message) const {
        throw input_error(name_, line_of(near), message);
    }
    void only(const json& object, std::initializer_list<const char*> known, const std::string& what) const {
        if (!object.is_object()) throw input_error(name_, what + " has to be an object, {...}");
        for (const auto& [key, value] : object.items()) {
            if (std::find(known.begin(), known.end(), key) != known.end()) continue;
            fail(key, what + " has no '" + key + "'; it may have " + joined({known.begin(), known.end()}));
        }
    }
    template <class T>
    T get(const json& object, const char* key, T otherwise, const char* type) const {
        const auto found = object.find(key);
        if (found == object.end()) return otherwise;
        try {
            return found->template get<T>();
        } catch (const json::exception&) {
            fail(key, "'" + std::string(key) + "' has to be " + type + ", and is " + found->dump());
        }
    }

  private:
    [[nodiscard]] std::size_t line_at(std::size_t place) const {
        return 1 + static_cast<std::size_t>(
                       std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
    }
    const std::string& text_;
    const std::string& name_;
};

void read_levels(const factor_reader& in, const json& object, factor& f) {
    f.levels.clear();
    if (!object["levels"].is_array() || object["levels"].empty())
        in.fail(f.name, f.name + ": 'levels' has to be a list with at least one name");
    for (const json& level : object["levels"]) {
        const std::string text = plain_text(level);
        if (std::find(f.levels.begin(), f.levels.end(), text) != f.levels.end())
            in.fail(f.name, f.name + " has the level '" + text + "' twice");
        f.levels.push_back(text);
    }
    if (const auto base = object.find("base"); base != object.end()) {
        const auto found = std::find(f.levels.begin(), f.levels.end(), plain_text(*base));
        if (found == f.levels.end())
            in.fail(f.name, f.name + ": the base '" + plain_text(*base) + "' is none of its levels, " +
                                values_text(f));
        std::rotate(f.levels.begin(), found, found + 1);
    }
    static const std::set<std::vector<std::string>> switches{{"0", "1"},
                                                             {"off", "on"},
                                                             {"no", "yes"},
                                                             {"false", "true"}};
    f.kind = switches.contains(f.levels) ? factor_kind::on_off : factor_kind::levels;
}

void read_range(const factor_reader& in, const json& object, factor& f) {
    f.kind = factor_kind::number;
    f.levels.clear();
    for (const char* key : {"low", "high"})
        if (!object.contains(key) || !object[key].is_number())
            in.fail(f.name, f.name + ": a number needs 'low' and 'high', both numbers");
    f.low = object["low"].get<double>();
    f.high = object["high"].get<double>();
    f.base = in.get(object, "base", f.low, "a number");
    f.logarithmic = in.get(object, "log2", false, "true or false");
    f.integer = in.get(object, "integer", false, "true or false");
    if (!(f.low < f.high)) in.fail(f.name, f.name + ": 'low' has to be less than 'high'");
    if (f.logarithmic && !(f.low > 0))
        in.fail(f.name, f.name + ": what counts by its logarithm has to be above 0");
    if (!value_of(f, exact_text(f.base)))
        in.fail(f.name, f.name + ": the base " + exact_text(f.base) + " is not " + values_text(f));
}

void check_level_names(const factor_reader& in, const factor& f, const json& by_level, const char* what) {
    if (!by_level.is_object()) in.fail(f.name, f.name + ": '" + what + "' has to be an object: level, value");
    for (const auto& [level, value] : by_level.items())
        if (std::find(f.levels.begin(), f.levels.end(), level) == f.levels.end())
            in.fail(f.name,
                    f.name + ": '" + what + "' names the level '" + level + "'; there are " + values_text(f));
}

application read_application(const factor_reader& in, const json& object, const factor& f) {
    application result;
    const auto apply = object.find("apply");
    if (apply == object.end()) {
        result.argument = "--" + f.name + "={}";
        return result;
    }
    in.only(*apply, {"argument", "environment", "build", "wrapper", "settings"}, f.name + ": 'apply'");
    result.argument = in.get(*apply, "argument", std::string(), "a text");
    // One text for all values, with {}, or one for each level.
    const auto texts = [&](const json& values, const char* what) {
        std::map<std::string, std::string> by_level;
        if (values.is_string()) {
            by_level[""] = values.get<std::string>();
        } else {
            check_level_names(in, f, values, what);
            for (const auto& [level, value] : values.items()) by_level[level] = plain_text(value);
        }
        return by_level;
    };
    if (const auto environment = apply->find("environment"); environment != apply->end()) {
        if (!environment->is_object())
            in.fail(f.name, f.name + ": 'environment' has to be an object: variable, values");
        for (const auto& [variable, values] : environment->items())
            result.environment[variable] = texts(values, "environment");
    }
    if (const auto text = apply->find("settings"); text != apply->end())
        result.settings = texts(*text, "settings");
    if (const auto build = apply->find("build"); build != apply->end()) {
        check_level_names(in, f, *build, "build");
        for (const auto& [level, value] : build->items()) result.build[level] = plain_text(value);
    }
    if (const auto wrapper = apply->find("wrapper"); wrapper != apply->end()) {
        check_level_names(in, f, *wrapper, "wrapper");
        for (const auto& [level, value] : wrapper->items()) {
            if (!value.is_array()) in.fail(f.name, f.name + ": a wrapper is a list of words");
            for (const json& word : value) result.wrapper[level].push_back(plain_text(word));
        }
    }
    return result;
}

}  // namespace

std::optional<double> value_of(const factor& what, const std::string& text) {
    if (!what.is_number()) {
        const auto found = std::find(what.levels.begin(), what.levels.end(), text);
        if (found == what.levels.end()) return std::nullopt;
        return static_cast<double>(found - what.levels.begin());
    }
    const std::optional<double> number = number_in(text);
    if (!number || *number < what.low || *number > what.high ||
        (what.integer && *number != std::floor(*number)))
        return std::nullopt;
    return number;
}

std::string values_text(const factor& what) {
    if (what.is_number())
        return std::string(what.integer ? "a whole number" : "a number") + " from " + short_text(what.low) +
               " to " + short_text(what.high);
    return joined(what.levels);
}

const constraint* factor_file::broken_by(const configuration& values) const {
    const auto broken = std::find_if(constraints.begin(), constraints.end(),
                                     [&](const constraint& c) { return !c.holds(values); });
    return broken == constraints.end() ? nullptr : &*broken;
}

configuration factor_file::base() const {
    configuration values;
    for (const factor& f : factors) values.push_back(f.base_value());
    return values;
}

factor_file parse_factor_file(const std::string& text, const std::string& name) {
    const factor_reader in(text, name);
    const json document = in.document();
    in.only(document,
            {"name", "about", "factors", "constraints", "command", "settings", "build", "score", "also",
             "rate"},
            "a factor file");
    factor_file result;
    result.name = name;
    if (!document.contains("factors") || !document["factors"].is_array() || document["factors"].empty())
        throw input_error(name, "no factors: 'factors' has to be a list of objects with at least a name");
    std::set<std::string> names;
    for (const json& object : document["factors"]) {
        in.only(object,
                {"name", "levels", "low", "high", "log2", "integer", "base", "apply", "tier",
                 "removes_feature", "hard_to_change", "about"},
                "a factor");
        factor f;
        f.name = in.get(object, "name", std::string(), "a text");
        if (f.name.empty() || f.name.starts_with('@'))
            throw input_error(name, "a factor needs a name, and one that doesn't begin with @");
        if (!names.insert(f.name).second) in.fail(f.name, "the factor " + f.name + " is there twice");
        if (object.contains("levels")) {
            read_levels(in, object, f);
        } else if (object.contains("low") || object.contains("high")) {
            read_range(in, object, f);
        }
        f.tier = in.get(object, "tier", 1, "a number from 1 to 4");
        if (in.get(object, "removes_feature", false, "true or false")) f.tier = std::max(f.tier, 3);
        f.about = in.get(object, "about", std::string(), "a text");
        result.applications.push_back(read_application(in, object, f));
        f.hard_to_change =
            in.get(object, "hard_to_change", !result.applications.back().build.empty(), "true or false");
        result.factors.push_back(std::move(f));
    }
    for (const std::string& constraint_text :
         in.get(document, "constraints", std::vector<std::string>(), "a list of texts"))
        result.constraints.push_back(
            parse_constraint(constraint_text, result.factors, name, in.line_of(constraint_text)));
    result.command = in.get(document, "command", result.command, "a list of words");
    result.build = in.get(document, "build", result.build, "a list of words");
    result.settings = in.get(document, "settings", result.settings, "a text");
    if (!result.settings.empty() &&
        std::none_of(result.command.begin(), result.command.end(),
                     [](const auto& word) { return word.find("{settings}") != std::string::npos; }))
        in.fail("command", "'command' doesn't say where the file of settings goes: write {settings} there");
    for (std::size_t i = 0; i < result.factors.size(); ++i) {
        const std::string& factor_name = result.factors[i].name;
        application& how = result.applications[i];
        const bool is_there = result.settings.find("{" + factor_name + "}") != std::string::npos;
        if (is_there && !document["factors"][i].contains("apply")) {
            how = {};
            how.settings[""] = "{}";
        }
        if (is_there == how.settings.empty())
            in.fail(factor_name, factor_name + (is_there ? " is in 'settings', and not in its 'apply'"
                                                         : " is applied by 'settings', and the file's "
                                                           "'settings' has no {" +
                                                               factor_name + "}"));
    }
    result.score = in.get(document, "score", result.score, "a text");
    result.also = in.get(document, "also", result.also, "a list of texts");
    result.more_is_better = in.get(document, "rate", false, "true or false");
    if (const constraint* broken = result.broken_by(result.base())) {
        if (!allows_anything(result))
            throw input_error(name, broken->line,
                              "no configuration satisfies all constraints; look at '" + broken->text +
                                  "' first");
        throw input_error(name, broken->line,
                          "the base breaks the constraint '" + broken->text +
                              "'; give a factor another base");
    }
    return result;
}

factor_file read_factor_file(const std::string& path) {
    if (!std::ifstream(path)) throw input_error(path, "can't be read: is there such a file?");
    return parse_factor_file(text_in(path), path);
}

}  // namespace lab
