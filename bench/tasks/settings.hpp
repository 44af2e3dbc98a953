// tasks: the requested settings, and those that the program really has.
#ifndef BENCH_TASKS_SETTINGS_HPP
#define BENCH_TASKS_SETTINGS_HPP

#include "factors.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tasks {

// A value for each factor, as text.
class values {
  public:
    void set(const std::string& name, std::string value) { all_[name] = std::move(value); }
    void set(const std::string& name, integer value) { set(name, std::to_string(value)); }
    bool has(const std::string& name) const { return all_.contains(name); }
    // The base if nothing was set.
    std::string text(const std::string& name) const;
    integer of(const std::string& name) const;
    bool is(const std::string& name, std::string_view level) const { return text(name) == level; }

  private:
    std::map<std::string, std::string> all_;
};

struct settings {
    values asked;
    std::optional<double> seconds;  // time mode
    bool table = false;
    bool list = false;
    bool help = false;
};

// Reads the environment; arguments override it.
// Errors: refusal.
settings read_settings(int argc, char** argv);

// Errors: refusal if they contradict each other.
void check_constraints(const values& v);

// Errors: refusal if a real setting differs from the requested one; unknown ones are not checked.
void check_effective(const values& asked, const values& effective);

}  // namespace tasks

#endif
