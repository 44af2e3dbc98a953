// indicators advice: the variance of runs, if there are few of each configuration
#ifndef INDICATORS_ADVICE_SPREADS_HPP
#define INDICATORS_ADVICE_SPREADS_HPP

#include <utility>
#include <vector>

namespace indicators {

struct spread {
    double deviation;
    double freedom;  // 0: the variance is unknown
};

// Variances of many groups with few runs each. Each variance is moderated by those of all groups: if groups
// vary alike, it is the pooled variance; otherwise it is nearly the group's own. A group that is significantly
// noisier than all others keeps its own variance. Smyth, "Linear models and empirical Bayes methods for
// assessing differential expression in microarray experiments", 2004.
class spreads {
  public:
    spreads() = default;
    // For each group the sum of squares, and its degrees of freedom.
    explicit spreads(const std::vector<std::pair<double, double>>& groups);

    [[nodiscard]] spread moderated(double squares, double freedom) const;
    // Degrees of freedom of all groups together: no variance has more.
    [[nodiscard]] double freedom() const { return pooled_freedom_; }

  private:
    double prior_variance_ = 0;
    double prior_freedom_ = 0;  // infinite if groups vary alike
    double pooled_squares_ = 0;
    double pooled_freedom_ = 0;
};

}  // namespace indicators

#endif
