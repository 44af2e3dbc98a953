// lab plot: the data of plots: the analyses of one table, each made at its first use
#ifndef LAB_PLOT_STUDY_HPP
#define LAB_PLOT_STUDY_HPP

#include "lab/analysis/deltas.hpp"
#include "lab/analysis/fit.hpp"
#include "lab/analysis/learning_curve.hpp"
#include "lab/analysis/paths.hpp"
#include "lab/analysis/sequences.hpp"
#include "lab/plot/wording.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lab {

// An analysis, or the reason why there is none.
template <class T>
struct attempt {
    std::optional<T> value;
    std::string reason;
};

// The means of runs in which none of `names` is applied.
struct kept_out {
    std::vector<std::string> names;
    std::size_t num_runs = 0;
    std::vector<mean_delta> means;
};

// The user's choice of what is shown; the default is where there is most to see.
struct study_choice {
    // The treatments that are left out: the two strongest if they depend on each other, else the strongest.
    std::vector<std::string> keep;
    std::string treatment;  // whose single deltas are shown; default: the strongest
    std::string
        colour;  // the treatment that they are coloured by: the one that best explains why they differ
};

class study {
  public:
    // Throws input_error if `choice` has an unknown name. `table` outlives the study.
    explicit study(const run_table& table, study_choice choice = {});
    study(const study&) = delete;
    study& operator=(const study&) = delete;

    [[nodiscard]] const run_table& table() const { return table_; }
    [[nodiscard]] const wording& words() const { return words_; }

    // Runs of one configuration are paired by their means if all pairs would be more than two million.
    const std::vector<delta>& deltas();
    [[nodiscard]] bool paired_by_means() const { return how_ == pairing::mean; }
    // The deltas of one treatment.
    std::vector<const delta*> deltas_of_treatment(std::size_t factor, double value);
    const std::vector<mean_delta>& means();
    // The treatment with the largest mean change; none without deltas.
    const mean_delta* strongest();
    // The treatment whose single deltas are shown; none without deltas.
    const mean_delta* subject();
    [[nodiscard]] bool is_chosen() const { return !choice_.treatment.empty(); }
    // The treatment that colours the subject's deltas; none if no treatment explains why they differ.
    const std::optional<split>& partner();
    const attempt<kept_out>& kept();
    const path& greedy();
    const path& nicest();
    const attribution& shapley();
    const attempt<fit_result>& main_fit();
    const attempt<fit_result>& pair_fit();
    const attempt<learning_curve>& curve();
    const attempt<sequence_table>& sequences();
    const principal_components& components();  // requires sequences()

  private:
    attempt<kept_out> without(const std::vector<std::string>& names);
    std::optional<split> best_split(const mean_delta& of);
    attempt<fit_result> fitted(bool pairs);

    const run_table& table_;
    study_choice choice_;
    wording words_;
    pairing how_ = pairing::all;
    std::optional<std::vector<delta>> deltas_;
    std::optional<std::vector<mean_delta>> means_;
    std::optional<std::optional<split>> partner_;
    std::optional<attempt<kept_out>> kept_;
    std::optional<path> greedy_;
    std::optional<path> nicest_;
    std::optional<attribution> shapley_;
    std::optional<attempt<fit_result>> main_fit_;
    std::optional<attempt<fit_result>> pair_fit_;
    std::optional<attempt<learning_curve>> curve_;
    std::optional<attempt<sequence_table>> sequences_;
    std::optional<principal_components> components_;
};

}  // namespace lab

#endif
