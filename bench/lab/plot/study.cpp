// lab plot: the analyses of one table, each made at its first use
#include "lab/plot/study.hpp"

#include "lab/data/column_groups.hpp"
#include "lab/data/configuration_index.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace lab {

namespace {

// The number of deltas if each run is paired with each.
double num_pairs(const run_table& table) {
    const configuration_index measured(table);
    double pairs = 0;
    for (const repeated_configuration& after : measured.all()) {
        configuration values = after.values;
        for (std::size_t f = 0; f < values.size(); ++f) {
            const double base = table.factors[f].base_value();
            if (after.values[f] == base) continue;
            values[f] = base;
            if (const auto before = measured.find(values))
                pairs += static_cast<double>(after.runs.size()) *
                         static_cast<double>(measured.all()[*before].runs.size());
            values[f] = after.values[f];
        }
    }
    return pairs;
}

template <class T>
const T& once(std::optional<T>& kept, const std::function<T()>& made) {
    if (!kept) kept = made();
    return *kept;
}

// Number of chains for the components, as in the article.
constexpr std::size_t most_sequences = 550;

}  // namespace

study::study(const run_table& table, study_choice choice)
    : table_(table), choice_(std::move(choice)), words_(table) {
    constexpr double most_pairs = 2e6;  // each takes some hundred bytes
    if (num_pairs(table) > most_pairs) how_ = pairing::mean;
    if (!choice_.keep.empty()) {
        kept_ = without(choice_.keep);
        if (!kept_->value) throw input_error(kept_->reason + " (--keep)");
    }
    const auto choices = [](const auto& all) {
        std::vector<std::string> names;
        for (const auto& each : all) names.push_back(each.treatment);
        return names.empty() ? "none" : joined(names);
    };
    if (is_chosen() && subject() == nullptr)
        throw input_error("no two runs differ in " + choice_.treatment +
                          " alone (--treatment); there are such of " + choices(means()));
    if (!choice_.colour.empty() && subject() != nullptr && !partner())
        throw input_error("the changes by " + subject()->treatment + " can't be coloured by " +
                          choice_.colour + " (--colour), which is on in some of them and off in others of: " +
                          choices(splits_of(table_, deltas(), subject()->factor, subject()->value)));
}

const std::vector<delta>& study::deltas() {
    return once<std::vector<delta>>(deltas_, [&] { return deltas_of(table_, how_); });
}

std::vector<const delta*> study::deltas_of_treatment(std::size_t factor, double value) {
    std::vector<const delta*> result;
    for (const delta& d : deltas())
        if (d.factor == factor && d.value == value) result.push_back(&d);
    return result;
}

const std::vector<mean_delta>& study::means() {
    return once<std::vector<mean_delta>>(means_, [&] { return mean_deltas(table_, deltas()); });
}

const mean_delta* study::strongest() {
    const auto& all = means();
    const auto found = std::max_element(all.begin(), all.end(), [](const mean_delta& a, const mean_delta& b) {
        return std::abs(a.mean) < std::abs(b.mean);
    });
    return found == all.end() ? nullptr : &*found;
}

const mean_delta* study::subject() {
    if (!is_chosen()) return strongest();
    const auto& all = means();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const mean_delta& m) { return m.treatment == choice_.treatment; });
    return found == all.end() ? nullptr : &*found;
}

std::optional<split> study::best_split(const mean_delta& of) {
    const auto splits = splits_of(table_, deltas(), of.factor, of.value);
    return splits.empty() || splits[0].explained <= 0 ? std::nullopt : std::optional(splits[0]);
}

const std::optional<split>& study::partner() {
    return once<std::optional<split>>(partner_, [&]() -> std::optional<split> {
        const mean_delta* of = subject();
        if (of == nullptr) return std::nullopt;
        if (choice_.colour.empty()) return best_split(*of);
        for (const split& s : splits_of(table_, deltas(), of->factor, of->value))
            if (s.treatment == choice_.colour) return s;
        return std::nullopt;
    });
}

attempt<kept_out> study::without(const std::vector<std::string>& names) {
    try {
        run_table less = table_;
        for (std::size_t i = 0; i < names.size(); ++i)
            if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) ==
                names.begin() + static_cast<std::ptrdiff_t>(i))
                leave_out(less, names[i]);
        return {kept_out{names, less.runs.size(), mean_deltas(less, deltas_of(less, how_))}, {}};
    } catch (const input_error& nothing) {
        return {std::nullopt, nothing.what()};
    }
}

const attempt<kept_out>& study::kept() {
    return once<attempt<kept_out>>(kept_, [&]() -> attempt<kept_out> {
        const mean_delta* first = strongest();
        if (first == nullptr)
            return {std::nullopt, "no two runs differ in one treatment alone, so none is the strongest"};
        std::vector<std::string> names{first->treatment};
        const std::optional<split> other = best_split(*first);
        const bool strong = other && other->explained > 0.1 &&
                            std::abs(other->mean_with - other->mean_without) > std::abs(first->mean) / 4;
        if (strong) names.push_back(other->treatment);
        return without(names);
    });
}

const path& study::greedy() {
    return once<path>(greedy_, [&] { return greedy_path(table_); });
}
const path& study::nicest() {
    return once<path>(nicest_, [&] { return nicest_path(table_, greedy()); });
}
const attribution& study::shapley() {
    return once<attribution>(shapley_, [&] { return shapley_values(table_, greedy()); });
}

attempt<fit_result> study::fitted(bool pairs) {
    if (pairs && table_.factors.size() < 2)
        return {std::nullopt, "there is one factor, so there are no pairs"};
    fit_options options;
    options.pairs = pairs;
    try {
        return {fit(table_, options), {}};
    } catch (const input_error& nothing) {
        return {std::nullopt, nothing.what()};
    }
}
const attempt<fit_result>& study::main_fit() {
    return once<attempt<fit_result>>(main_fit_, [&] { return fitted(false); });
}
const attempt<fit_result>& study::pair_fit() {
    return once<attempt<fit_result>>(pair_fit_, [&] { return fitted(true); });
}

const attempt<learning_curve>& study::curve() {
    return once<attempt<learning_curve>>(curve_, [&]() -> attempt<learning_curve> {
        if (!main_fit().value) return {std::nullopt, main_fit().reason};
        return {learning_curve_of(table_, {}), {}};
    });
}

const attempt<sequence_table>& study::sequences() {
    return once<attempt<sequence_table>>(sequences_, [&]() -> attempt<sequence_table> {
        try {
            sequence_table found = sequences_of(table_, most_sequences, 1);
            if (found.treatments.size() < 2 || found.changes.size() < 2)
                return {
                    std::nullopt,
                    "fewer than two chains of measured configurations lead from the base to all treatments"};
            return {std::move(found), {}};
        } catch (const input_error& nothing) {
            return {std::nullopt, nothing.what()};
        }
    });
}
const principal_components& study::components() {
    return once<principal_components>(components_, [&] { return components_of(*sequences().value); });
}

}  // namespace lab
