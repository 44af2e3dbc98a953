// lab analysis: draws random chains, and computes their principal components
#include "lab/analysis/sequences.hpp"

#include "lab/analysis/chains.hpp"
#include "lab/data/input_error.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <random>
#include <set>

namespace lab {

namespace {

// The two measured configurations with the longest chains between them: among those reached from the one with
// the fewest treatments, the one with the most treatments, then with the most chains.
chain_lattice longest(const run_table& table, const configuration_index& measured) {
    const auto applied = [&](std::size_t place) {
        const configuration& values = measured.all()[place].values;
        std::size_t count = 0;
        for (std::size_t f = 0; f < values.size(); ++f) count += values[f] != table.factors[f].base_value();
        return count;
    };
    std::vector<std::size_t> places(measured.all().size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    std::stable_sort(places.begin(), places.end(),
                     [&](std::size_t a, std::size_t b) { return applied(a) < applied(b); });
    const configuration& from = measured.all()[places.front()].values;
    chain_lattice best;
    // Each end costs configurations times factors.
    const std::size_t most_ends = std::max<std::size_t>(64, 50'000'000 / (places.size() * (from.size() + 1)));
    std::size_t looked_at = 0;
    for (std::size_t i = places.size(); i-- > 1 && looked_at < most_ends; ++looked_at) {
        if (best.num_chains() > 0 && applied(places[i]) < best.changed.size()) break;
        chain_lattice chains = chains_between(measured, from, measured.all()[places[i]].values);
        if (chains.num_chains() > 0 &&
            (best.num_chains() == 0 || chains.changed.size() > best.changed.size() ||
             (chains.changed.size() == best.changed.size() && chains.num_chains() > best.num_chains())))
            best = std::move(chains);
    }
    return best;
}

// All chains in order, until `chains` has `most`.
void walk_all(const chain_lattice& lattice, std::size_t node, std::vector<std::size_t>& so_far,
              std::set<std::vector<std::size_t>>& chains, std::size_t most) {
    if (chains.size() == most) return;
    if (node + 1 == lattice.nodes.size()) {
        chains.insert(so_far);
        return;
    }
    for (const chain_step& step : lattice.nodes[node].steps) {
        if (lattice.nodes[step.to].chains_after == 0) continue;
        so_far.push_back(step.to);
        walk_all(lattice, step.to, so_far, chains, most);
        so_far.pop_back();
    }
}

// Each chain with the same probability: the probability of a step is proportional to the number of chains that
// continue there.
std::vector<std::size_t> drawn(const chain_lattice& lattice, std::mt19937_64& random) {
    std::vector<std::size_t> chain;
    std::size_t node = 0;
    while (node + 1 < lattice.nodes.size()) {
        const chain_node& now = lattice.nodes[node];
        double left = static_cast<double>(random() >> 11) * 0x1p-53 * now.chains_after;
        std::size_t next = node;
        for (const chain_step& step : now.steps) {
            if (lattice.nodes[step.to].chains_after == 0) continue;
            next = step.to;
            left -= lattice.nodes[step.to].chains_after;
            if (left < 0) break;
        }
        node = next;
        chain.push_back(node);
    }
    return chain;
}

}  // namespace

sequence_table sequences_of(const run_table& table, std::size_t most, std::uint64_t seed) {
    const configuration_index measured(table);
    const chain_lattice lattice = longest(table, measured);
    if (lattice.num_chains() == 0) {
        throw input_error(
            table.name,
            "no chain of measured configurations leads from the base to several treatments, one treatment "
            "at a time; plan the missing ones with `lab plan --kind around`");
    }
    std::set<std::vector<std::size_t>> chains;
    if (lattice.num_chains() <= static_cast<double>(most)) {
        std::vector<std::size_t> so_far;
        walk_all(lattice, 0, so_far, chains, most);
    } else {
        std::mt19937_64 random(seed);
        // Few chains are left out if there are only few more than `most`.
        for (std::size_t tries = 0; chains.size() < most && tries < 20 * most; ++tries)
            chains.insert(drawn(lattice, random));
    }

    sequence_table result;
    const configuration& end = measured.all()[lattice.nodes.back().place].values;
    std::vector<std::size_t> column_of(table.factors.size(), 0);
    for (const std::size_t f : lattice.changed) {
        column_of[f] = result.treatments.size();
        result.treatments.push_back(table.factors[f].treatment(end[f]));
    }
    for (const std::vector<std::size_t>& chain : chains) {
        std::vector<double>& row = result.changes.emplace_back(result.treatments.size(), 0.0);
        std::size_t node = 0;
        for (const std::size_t next : chain) {
            const auto& steps = lattice.nodes[node].steps;
            const auto step =
                std::find_if(steps.begin(), steps.end(), [&](const chain_step& s) { return s.to == next; });
            row[column_of[step->factor]] = measured.all()[lattice.nodes[next].place].mean -
                                           measured.all()[lattice.nodes[node].place].mean;
            node = next;
        }
    }
    return result;
}

principal_components components_of(const sequence_table& sequences) {
    const auto rows = static_cast<Eigen::Index>(sequences.changes.size());
    const auto columns = static_cast<Eigen::Index>(sequences.treatments.size());
    if (rows < 2) {
        throw input_error("principal components need at least two different chains; there is " +
                          std::to_string(rows));
    }
    Eigen::MatrixXd values(rows, columns);
    for (Eigen::Index i = 0; i < rows; ++i)
        for (Eigen::Index j = 0; j < columns; ++j)
            values(i, j) = sequences.changes[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    values.rowwise() -= values.colwise().mean().eval();
    const Eigen::MatrixXd covariance = values.transpose() * values / static_cast<double>(rows - 1);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);

    principal_components result;
    result.treatments = sequences.treatments;
    const double sum = covariance.trace();
    for (Eigen::Index c = columns; c-- > 0;) {  // Eigen has the smallest first
        Eigen::VectorXd loading = solver.eigenvectors().col(c);
        Eigen::Index largest = 0;
        loading.cwiseAbs().maxCoeff(&largest);
        if (loading(largest) < 0) loading = -loading;
        const Eigen::VectorXd scores = values * loading;
        const double variance = std::max(0.0, solver.eigenvalues()(c));
        result.variances.push_back(variance);
        result.shares.push_back(sum > 0 ? variance / sum : 0);
        result.loadings.emplace_back(loading.begin(), loading.end());
        result.scores.emplace_back(scores.begin(), scores.end());
    }
    return result;
}

}  // namespace lab
