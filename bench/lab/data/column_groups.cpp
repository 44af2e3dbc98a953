// lab data: finds columns that are one factor
#include "lab/data/column_groups.hpp"

#include "lab/data/input_error.hpp"

#include <algorithm>
#include <optional>

namespace lab {

namespace {

using column_places = std::vector<std::size_t>;

class group_search {
  public:
    explicit group_search(const run_table& table) : table_(table), ons_(table.factors.size()) {
        for (std::size_t f = 0; f < ons_.size(); ++f) {
            for (const measured_run& run : table.runs) ons_[f].push_back(run.values[f] == 1);
            counts_.push_back(static_cast<std::size_t>(std::count(ons_[f].begin(), ons_[f].end(), true)));
        }
    }

    // Two columns are no group, because two factors of a plan may be opposite by chance.
    std::optional<column_places> beginning_with(std::size_t first) {
        column_places group{first};
        steps_ = 0;
        if (extend(group, counts_[first]) && group.size() > 2) return group;
        return std::nullopt;
    }

  private:
    bool extend(column_places& group, std::size_t covered) {
        if (covered == table_.runs.size()) return true;
        if (++steps_ > 20'000) return false;  // limit for a table with many rare factors
        for (std::size_t f = group.back() + 1; f < ons_.size(); ++f) {
            if (table_.factors[f].kind != factor_kind::on_off) continue;
            if (covered + counts_[f] > table_.runs.size()) continue;
            if (std::any_of(group.begin(), group.end(), [&](std::size_t g) { return meet(g, f); })) continue;
            group.push_back(f);
            if (extend(group, covered + counts_[f])) return true;
            group.pop_back();
        }
        return false;
    }
    [[nodiscard]] bool meet(std::size_t a, std::size_t b) const {
        for (std::size_t i = 0; i < table_.runs.size(); ++i)
            if (ons_[a][i] && ons_[b][i]) return true;
        return false;
    }

    const run_table& table_;
    std::vector<std::vector<bool>> ons_;
    std::vector<std::size_t> counts_;
    std::size_t steps_ = 0;
};

// The common begin of the names, without the separator at its end; or all names.
std::string name_of(const std::vector<factor>& factors, const column_places& group) {
    std::string common = factors[group[0]].name;
    for (const std::size_t f : group) {
        const std::string& name = factors[f].name;
        std::size_t same = 0;
        while (same < std::min(common.size(), name.size()) && common[same] == name[same]) ++same;
        common.resize(same);
    }
    while (!common.empty() && std::string("_-.= ").find(common.back()) != std::string::npos)
        common.pop_back();
    const bool is_free = !common.empty() && std::none_of(factors.begin(), factors.end(),
                                                         [&](const factor& f) { return f.name == common; });
    if (is_free) return common;
    std::string all;
    for (const std::size_t f : group) all += (all.empty() ? "" : "|") + factors[f].name;
    return all;
}

void make_one(run_table& table, const column_places& group) {
    factor one;
    one.name = name_of(table.factors, group);
    one.kind = factor_kind::levels;
    one.was_columns = true;
    one.levels.clear();
    std::string names;
    for (const std::size_t f : group) {
        one.levels.push_back(table.factors[f].name);
        names += (names.empty() ? "" : ", ") + table.factors[f].name;
    }
    table.notes.push_back(names + ": exactly one of them is on in every run; taken as one factor, " +
                          one.name + ", with the base " + one.levels[0] +
                          " (--no-groups leaves the columns)");
    for (measured_run& run : table.runs) {
        double level = 0;
        for (std::size_t i = 0; i < group.size(); ++i)
            if (run.values[group[i]] == 1) level = static_cast<double>(i);
        run.values[group[0]] = level;
        for (std::size_t i = group.size(); i-- > 1;)
            run.values.erase(run.values.begin() + static_cast<std::ptrdiff_t>(group[i]));
    }
    table.factors[group[0]] = one;
    for (std::size_t i = group.size(); i-- > 1;)
        table.factors.erase(table.factors.begin() + static_cast<std::ptrdiff_t>(group[i]));
}

}  // namespace

void group_columns(run_table& table) {
    for (std::size_t f = 0; f < table.factors.size(); ++f) {
        if (table.factors[f].kind != factor_kind::on_off) continue;
        group_search search(table);
        if (const auto group = search.beginning_with(f)) make_one(table, *group);
    }
}

void leave_out(run_table& table, const std::string& treatment) {
    const std::size_t at = treatment.find('=');
    std::size_t f = table.factors.size();
    double level = -1;
    for (std::size_t i = 0; i < table.factors.size(); ++i) {  // columns that are now levels of a group
        const auto& levels = table.factors[i].levels;
        if (!table.factors[i].was_columns) continue;
        const auto found = std::find(levels.begin(), levels.end(), treatment);
        if (found != levels.end()) f = i, level = static_cast<double>(found - levels.begin());
    }
    if (level < 0) f = table.factor_of(treatment.substr(0, at));
    const factor& factor = table.factors[f];
    const auto is_on = [&](const measured_run& run) {
        if (level >= 0) return run.values[f] == level;
        return at == std::string::npos ? run.values[f] != factor.base_value()
                                       : factor.text_of(run.values[f]) == treatment.substr(at + 1);
    };
    const std::size_t before = table.runs.size();
    std::erase_if(table.runs, is_on);
    if (table.runs.empty()) {
        throw input_error(table.name, "no run is left without " + treatment);
    }
    table.notes.push_back(std::to_string(before - table.runs.size()) + " runs with " + treatment +
                          " are left out");
    const bool one_value = std::all_of(table.runs.begin(), table.runs.end(), [&](const measured_run& run) {
        return run.values[f] == table.runs[0].values[f];
    });
    if (one_value) {
        for (measured_run& run : table.runs)
            run.values.erase(run.values.begin() + static_cast<std::ptrdiff_t>(f));
        table.factors.erase(table.factors.begin() + static_cast<std::ptrdiff_t>(f));
    }
}

}  // namespace lab
