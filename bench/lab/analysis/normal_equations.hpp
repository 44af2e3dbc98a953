// lab analysis: least squares by normal equations, which also find columns that can't be distinguished
#ifndef LAB_ANALYSIS_NORMAL_EQUATIONS_HPP
#define LAB_ANALYSIS_NORMAL_EQUATIONS_HPP

#include <Eigen/Core>

#include <utility>
#include <vector>

namespace lab {

// Columns in order: one that those before it make up is left out. Cholesky's decomposition of the others, of columns
// scaled to length 1.
class normal_equations {
  public:
    // `gram`: the products of all columns with each other.
    explicit normal_equations(const Eigen::MatrixXd& gram);

    [[nodiscard]] const std::vector<Eigen::Index>& kept() const { return kept_; }
    [[nodiscard]] const std::vector<Eigen::Index>& left_out() const { return left_out_; }
    // Of a column left out: what it is made of, as kept columns and their coefficients; nothing if it is 0 throughout.
    [[nodiscard]] std::vector<std::pair<Eigen::Index, double>> made_of(Eigen::Index column) const;

    // The coefficients, 0 for what is left out. `products`: of each column with the response.
    [[nodiscard]] Eigen::VectorXd solve(const Eigen::VectorXd& products) const;
    // The diagonal of the inverse, 0 for what is left out.
    [[nodiscard]] Eigen::VectorXd inverse_diagonal() const;
    // The logarithm of the determinant of what is kept.
    [[nodiscard]] double log_determinant() const;

  private:
    const Eigen::MatrixXd& gram_;
    Eigen::VectorXd scale_;  // of each column its length
    std::vector<Eigen::Index> kept_;
    std::vector<Eigen::Index> left_out_;
    Eigen::MatrixXd lower_;
};

}  // namespace lab

#endif
