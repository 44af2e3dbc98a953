// lab design: fractions by generators, and Plackett-Burman plans
#include "lab/design/two_level.hpp"
#include "lab/stats/shuffle.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <set>

namespace lab {

namespace {

// The degree of aliasing: words of four and of five columns, in this order ("aberration"; Fries & Hunter,
// 1980).
std::pair<std::size_t, std::size_t> short_words(const std::vector<std::size_t>& columns, std::size_t bits) {
    std::vector<std::size_t> pairs(std::size_t{1} << bits, 0);
    for (std::size_t a = 0; a < columns.size(); ++a)
        for (std::size_t b = a + 1; b < columns.size(); ++b) ++pairs[columns[a] ^ columns[b]];
    std::size_t four = 0;  // each counted three times
    for (const std::size_t count : pairs) four += count * (count - std::min<std::size_t>(count, 1)) / 2;
    std::size_t five = 0;  // each counted ten times
    for (std::size_t a = 0; a < columns.size(); ++a)
        for (std::size_t b = a + 1; b < columns.size(); ++b)
            for (std::size_t c = b + 1; c < columns.size(); ++c)
                five += pairs[columns[a] ^ columns[b] ^ columns[c]];
    return {four, five};
}

// Generators as sets of basic columns. Products of up to `order` columns are excluded, so that no word is
// shorter than order + 2. Of `tries` random orders, the one with the least aberration; empty if none has enough
// factors.
std::vector<std::size_t> generators(std::size_t bits, std::size_t factors, int order, int tries,
                                    std::mt19937_64& random) {
    std::vector<std::size_t> candidates((std::size_t{1} << bits) - 1);
    std::iota(candidates.begin(), candidates.end(), std::size_t{1});
    std::vector<std::size_t> best;
    for (int i = 0; i < tries; ++i) {
        shuffle(candidates, random);
        // The basic columns come first, so that all runs of a plan differ.
        std::stable_partition(candidates.begin(), candidates.end(),
                              [](std::size_t c) { return std::has_single_bit(c); });
        std::vector<std::size_t> chosen;
        std::vector<bool> taken(std::size_t{1} << bits, false);
        for (const std::size_t candidate : candidates) {
            if (taken[candidate]) continue;
            const std::vector<std::size_t> before = chosen;
            chosen.push_back(candidate);
            if (chosen.size() == factors) break;
            taken[candidate] = true;
            for (std::size_t a = 0; order >= 2 && a < before.size(); ++a) {
                taken[candidate ^ before[a]] = true;
                for (std::size_t b = a + 1; order >= 3 && b < before.size(); ++b)
                    taken[candidate ^ before[a] ^ before[b]] = true;
            }
        }
        if (chosen.size() == factors && (best.empty() || short_words(chosen, bits) < short_words(best, bits)))
            best = chosen;
    }
    return best;
}

std::vector<std::vector<bool>> regular_fraction(std::size_t runs, std::size_t factors,
                                                std::mt19937_64& random) {
    const auto bits = static_cast<std::size_t>(std::countr_zero(runs));
    std::vector<std::size_t> columns;
    for (const int order : {3, 2, 1}) {
        columns = generators(bits, factors, order, order == 1 ? 1 : 40, random);
        if (!columns.empty()) break;
    }
    std::vector<std::vector<bool>> rows;
    for (std::size_t run = 0; !columns.empty() && run < runs; ++run) {
        std::vector<bool>& row = rows.emplace_back();
        for (const std::size_t column : columns) row.push_back(std::popcount(run & column) % 2 != 0);
    }
    return rows;
}

bool is_prime(std::size_t number) {
    if (number < 2) return false;
    for (std::size_t i = 2; i * i <= number; ++i)
        if (number % i == 0) return false;
    return true;
}

// Paley's construction (1933) of q + 1 rows, for a prime q with q mod 4 = 3: the squares modulo q, cyclically.
std::vector<std::vector<bool>> paley(std::size_t rows, std::size_t factors) {
    const std::size_t q = rows - 1;
    if (q % 4 != 3 || !is_prime(q) || factors > q) return {};
    std::set<std::size_t> squares;
    for (std::size_t i = 1; i < q; ++i) squares.insert(i * i % q);
    std::vector<std::vector<bool>> result;
    for (std::size_t row = 0; row < q; ++row) {
        std::vector<bool>& made = result.emplace_back();
        for (std::size_t column = 0; column < factors; ++column)
            made.push_back(row == column || squares.contains((column + q - row) % q));
    }
    result.emplace_back(factors, false);
    return result;
}

}  // namespace

std::vector<std::vector<bool>> two_level_plan(std::size_t runs, std::size_t factors,
                                              std::mt19937_64& random) {
    std::vector<std::vector<bool>> rows;
    if (factors == 0 || runs < 4) return rows;
    if (std::has_single_bit(runs)) {
        // All combinations, some of them twice if there are more runs than combinations.
        const std::size_t full = factors < 20 ? std::size_t{1} << factors : runs;
        rows = regular_fraction(std::min(runs, full), factors, random);
        while (!rows.empty() && rows.size() < runs)
            rows.insert(rows.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(full));
    } else if (runs % 8 == 0 && !(rows = paley(runs / 2, factors)).empty()) {
        for (std::size_t i = 0; i < runs / 2; ++i) {
            rows.push_back(rows[i]);
            rows.back().flip();
        }
    } else if (runs % 4 == 0) {
        rows = paley(runs, factors);
    }
    if (rows.empty()) return rows;
    std::vector<std::size_t> columns(factors);
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    shuffle(columns, random);
    for (std::size_t f = 0; f < factors; ++f) {
        const bool opposite = (random() & 1) != 0;
        std::vector<bool> column;
        for (const std::vector<bool>& row : rows) column.push_back(row[columns[f]] != opposite);
        // Appended to the columns, which are removed below.
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(column[i]);
    }
    for (std::vector<bool>& row : rows)
        row.erase(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(factors));
    return rows;
}

}  // namespace lab
