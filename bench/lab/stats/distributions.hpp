// lab stats: Student's t and the normal distribution
#ifndef LAB_STATS_DISTRIBUTIONS_HPP
#define LAB_STATS_DISTRIBUTIONS_HPP

namespace lab {

// The regularised incomplete beta function I_x(a, b), by Lentz's continued fraction (Press et al., "Numerical
// Recipes", 2007, 6.4), to about 1e-14.
double incomplete_beta(double a, double b, double x);

// P(T <= t) of Student's t, and its inverse. `freedom` > 0 may be fractional.
double t_probability(double t, double freedom);
double t_quantile(double probability, double freedom);
// P(|T| >= |t|).
double t_two_sided(double t, double freedom);

double normal_probability(double z);

}  // namespace lab

#endif
