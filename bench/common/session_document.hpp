// The output of a benchmark program with --json: one performance indicator with all figures.
#ifndef BENCH_COMMON_SESSION_DOCUMENT_HPP
#define BENCH_COMMON_SESSION_DOCUMENT_HPP

#include "indicators/emit/indicator.hpp"
#include "process_times.hpp"
#include "weir_buildinfo.hpp"

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace bench {

enum class contestant_kind { ours, peer, limit };

inline const char* name_of(contestant_kind kind) {
    const char* const names[] = {"ours", "peer", "limit"};
    return names[static_cast<int>(kind)];
}

// Times are in nanoseconds.
struct contestant_figures {
    std::string name;
    contestant_kind kind;
    double median;
    double min;
    double max;
    double cores;  // cores in use
    std::size_t repetitions;
    std::uint64_t n;  // operations in each repetition
};

// The smallest median of a kind; 0: there is none.
inline double fastest(const std::vector<contestant_figures>& all, contestant_kind kind) {
    double best = 0;
    for (const contestant_figures& c : all) {
        if (c.kind == kind && (best == 0 || c.median < best)) best = c.median;
    }
    return best;
}

// Leaves out numbers that are not finite, which JSON does not have.
class json_object {
  public:
    json_object& add(const std::string& key, indicators::value of) {
        members_.emplace_back(key, std::move(of));
        return *this;
    }
    json_object& add(const std::string& key, std::same_as<double> auto number) {
        return std::isfinite(number) ? add(key, indicators::value(number)) : *this;
    }
    // Reads a number from a text of the system; other texts are left out.
    json_object& add_number(const std::string& key, const std::string& text) {
        std::istringstream in(text);
        double number = 0;
        return in >> number ? add(key, number) : *this;
    }
    indicators::value value() const { return indicators::value::object(members_); }

  private:
    indicators::value::members members_;
};

class session_document {
    using list = std::vector<indicators::value>;

  public:
    // \param load  of the machine, from its system.
    void add_group(const std::string& title, const std::string& unit, const std::string& load,
                   const std::vector<contestant_figures>& all) {
        list contestants;
        for (const contestant_figures& c : all) {
            json_object one;
            one.add("name", c.name).add("kind", name_of(c.kind));
            one.add("median", c.median).add("min", c.min).add("max", c.max).add("cores", c.cores);
            one.add("repetitions", c.repetitions).add("n", c.n).add_number("load", load);
            contestants.push_back(one.value());
        }
        json_object group;
        group.add("title", title).add("unit", unit).add("contestants", indicators::value::list(contestants));
        groups_.push_back(group.value());
        contestants_ += all.size();
        const double ours = fastest(all, contestant_kind::ours);
        const double peer = fastest(all, contestant_kind::peer);
        ours_ns_.add(ours);
        if (ours > 0 && peer > 0) to_peer_.add(ours / peer);
    }

    void add_value(const std::string& what, double amount, const std::string& unit) {
        values_.push_back(json_object().add("what", what).add("amount", amount).add("unit", unit).value());
    }

    // The last value of a key counts.
    void set_result(const std::string& key, double amount) { results_[key] = amount; }

    void add_line(const std::string& table, const json_object& line) {
        if (tables_.empty() || tables_.back().first != table) tables_.emplace_back(table, list());
        tables_.back().second.push_back(line.value());
    }

    void add_note(const std::string& sentence) { notes_.emplace_back(sentence); }

    // \param to  already has the parameters.
    void tell(indicators::indicator& to, const std::string& machine) const {
        const cpu_times self = cpu_times_of(RUSAGE_SELF);
        const cpu_times children = cpu_times_of(RUSAGE_CHILDREN);  // compilers
        to.result("groups", groups_.size()).result("contestants", contestants_);
        to.result("figures", values_.size()).result("elapsed_s", seconds_now() - process_began);
        to.result("user_cpu_s", self.user + children.user);
        to.result("system_cpu_s", self.system + children.system);
        if (const double ns = ours_ns_.mean(); std::isfinite(1e9 / ns)) {
            to.result("ours_ns", ns).result("operations_per_second", 1e9 / ns).score(1e9 / ns);
        }
        if (std::isfinite(to_peer_.mean())) to.result("ratio_to_peer", to_peer_.mean());
        for (const auto& [key, amount] : results_) {
            if (std::isfinite(amount)) to.result(key, amount);
        }
        tell_lists(to);
        to.extra("machine", machine);
        to.extra("weir_buildinfo", weir_buildinfo());
    }

  private:
    class geometric_mean {
      public:
        void add(double number) {
            if (!(number > 0) || !std::isfinite(number)) return;
            logarithms_ += std::log(number);
            ++count_;
        }
        // NaN if there is none.
        double mean() const {
            if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
            return std::exp(logarithms_ / static_cast<double>(count_));
        }

      private:
        double logarithms_ = 0;
        std::size_t count_ = 0;
    };

    void tell_lists(indicators::indicator& to) const {
        list tables;
        for (const auto& [title, lines] : tables_) {
            json_object table;
            tables.push_back(table.add("title", title).add("lines", indicators::value::list(lines)).value());
        }
        const auto tell_list = [&to](const char* key, const list& all) {
            if (!all.empty()) to.extra(key, indicators::value::list(all));
        };
        tell_list("groups", groups_);
        tell_list("values", values_);
        tell_list("tables", tables);
        tell_list("notes", notes_);
    }

    list groups_;
    list values_;
    std::vector<std::pair<std::string, list>> tables_;
    list notes_;
    std::map<std::string, double> results_;
    std::size_t contestants_ = 0;
    geometric_mean ours_ns_;
    geometric_mean to_peer_;
};

}  // namespace bench

#endif
