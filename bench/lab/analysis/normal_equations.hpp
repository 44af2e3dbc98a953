// lab analysis: least squares by normal equations, which also find columns that can't be distinguished
#ifndef LAB_ANALYSIS_NORMAL_EQUATIONS_HPP
#define LAB_ANALYSIS_NORMAL_EQUATIONS_HPP

#include <Eigen/Core>

#include <utility>
#include <vector>

namespace lab {

// A column that is a combination of the columns before it is left out. The others, scaled to length 1, get a Cholesky
// decomposition.
class normal_equations {
  public:
    // `gram`: the products of all columns with each other.
    explicit normal_equations(const Eigen::MatrixXd& gram);

    [[nodiscard]] const std::vector<Eigen::Index>& kept() const { return kept_; }
    [[nodiscard]] const std::vector<Eigen::Index>& left_out() const { return left_out_; }
    // For a column that was left out: the kept columns and their coefficients that equal it; empty if it is 0.
    [[nodiscard]] std::vector<std::pair<Eigen::Index, double>> made_of(Eigen::Index column) const;

    // The coefficients, 0 for columns that were left out. `products`: each column with the response.
    [[nodiscard]] Eigen::VectorXd solve(const Eigen::VectorXd& products) const;
    // The diagonal of the inverse, 0 for columns that were left out.
    [[nodiscard]] Eigen::VectorXd inverse_diagonal() const;
    // The logarithm of the determinant of the kept columns.
    [[nodiscard]] double log_determinant() const;

  private:
    const Eigen::MatrixXd& gram_;
    Eigen::VectorXd scale_;  // the length of each column
    std::vector<Eigen::Index> kept_;
    std::vector<Eigen::Index> left_out_;
    Eigen::MatrixXd lower_;
};

}  // namespace lab

#endif
