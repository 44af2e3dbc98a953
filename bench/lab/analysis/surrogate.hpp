// lab analysis: predicts the cost of configurations that were not run
#ifndef LAB_ANALYSIS_SURROGATE_HPP
#define LAB_ANALYSIS_SURROGATE_HPP

#include "lab/data/factor.hpp"

#include <Eigen/Core>

#include <cstddef>
#include <vector>

namespace lab {

// A Gaussian process over configurations. The covariance of two configurations decreases by a weight for each
// factor in which they differ; for numbers, with their distance. The weights maximise the likelihood of the
// measured costs with a prior (Rasmussen & Williams, "Gaussian Processes for Machine Learning", 2006, ch. 5).
class surrogate {
  public:
    surrogate(const std::vector<factor>& factors, const std::vector<configuration>& candidates);

    // Costs of candidates on any scale; less is better.
    void learn(const std::vector<std::size_t>& places, const std::vector<double>& costs);

    struct expectation {
        double mean = 0;
        double deviation = 0;
    };
    // Predictions for these candidates, on the scale of the costs.
    [[nodiscard]] std::vector<expectation> expectations(const std::vector<std::size_t>& asked) const;

  private:
    [[nodiscard]] double distance(std::size_t factor, std::size_t a, std::size_t b) const;
    [[nodiscard]] Eigen::MatrixXd likeness(const Eigen::VectorXd& weights) const;
    [[nodiscard]] double log_likelihood(const Eigen::VectorXd& weights) const;
    void choose_weights();

    const std::vector<factor>& factors_;
    const std::vector<configuration>& candidates_;
    std::vector<std::size_t> places_;
    Eigen::VectorXd costs_;  // standardised
    double mean_ = 0;
    double scale_ = 1;
    Eigen::VectorXd weights_;  // logarithms of the weight of each factor, and of the noise
    std::size_t chosen_for_ = 0;
};

}  // namespace lab

#endif
