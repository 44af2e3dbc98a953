// indicators advice: the variance of runs, if there are few of each configuration
#ifndef INDICATORS_ADVICE_SPREADS_HPP
#define INDICATORS_ADVICE_SPREADS_HPP

#include <utility>
#include <vector>

namespace indicators {

struct spread {
    double deviation;
    double freedom;  // 0: nothing is known
};

// Variances of many groups, each of few runs: each moderated by what those of all groups are like. Where groups
// vary alike that is the pooled variance, where they don't almost each its own; one that is surely noisier than all
// others has its own. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in
// microarray experiments", 2004.
class spreads {
  public:
    spreads() = default;
    // Of each group the sum of squares, and its degrees of freedom.
    explicit spreads(const std::vector<std::pair<double, double>>& groups);

    [[nodiscard]] spread moderated(double squares, double freedom) const;
    // Of all groups together: no variance is surer than that.
    [[nodiscard]] double freedom() const { return pooled_freedom_; }

  private:
    double prior_variance_ = 0;
    double prior_freedom_ = 0;  // infinite: groups vary alike
    double pooled_squares_ = 0;
    double pooled_freedom_ = 0;
};

}  // namespace indicators

#endif
