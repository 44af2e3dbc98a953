// indicators contract: expressions that SQLite evaluates
#include "indicators/contract/derived_checks.hpp"

#include "lab/data/database.hpp"
#include "lab/data/input_error.hpp"
#include "lab/data/numbers.hpp"

#include <memory>
#include <stdexcept>

namespace indicators {

namespace {

// SELECT with expressions over one row, whose columns are all fields. Absent fields are NULL; numbers are real: 3/2 is 1.5.
class row {
  public:
    row(const model& of, const std::vector<std::string>& expressions) {
        std::string sql = "SELECT ";
        for (std::size_t i = 0; i < expressions.size(); ++i)
            sql += (i == 0 ? "(" : ", (") + expressions[i] + ")";
        sql += " FROM (SELECT ?1 AS overall_score";
        int place = 1;
        for (const field& f : of.fields)
            sql += ", ?" + std::to_string(++place) + " AS " + lab::sql_name(f.name);
        select_ = std::make_unique<lab::statement>(memory_, sql + ")");
    }
    lab::statement& with(const model& of, const json& values, const std::optional<double>& score) {
        bind(1, score ? json(*score) : json());
        int place = 1;
        for (const field& f : of.fields) bind(++place, values.contains(f.name) ? values[f.name] : json());
        select_->next();
        return *select_;
    }

  private:
    void bind(int place, const json& value) {
        if (value.is_number()) {
            select_->bind(place, value.get<double>());
        } else if (value.is_boolean()) {
            select_->bind(place, value.get<bool>() ? 1.0 : 0.0);
        } else if (value.is_string()) {
            select_->bind(place, value.get_ref<const std::string&>());
        } else {
            select_->bind_null(place);
        }
    }
    lab::database memory_{":memory:"};
    std::unique_ptr<lab::statement> select_;
};

}  // namespace

std::vector<std::pair<const derived_check*, std::string>> broken_checks(const model& of, const json& values,
                                                                        const std::optional<double>& score) {
    std::vector<std::pair<const derived_check*, std::string>> broken;
    for (const derived_check& check : of.checks) {
        std::vector<std::string> expressions{check.sql()};
        expressions.insert(expressions.end(), check.equal.begin(), check.equal.end());
        std::string why = check.because.empty() ? check.text() : check.because + " (" + check.text() + ")";
        try {
            row one(of, expressions);
            const lab::statement& found = one.with(of, values, score);
            if (found.is_null(0) || found.integer(0) != 0) continue;
            why += " doesn't hold";
            if (!check.equal.empty())
                why +=
                    ": " + lab::short_text(found.number(1)) + " is not " + lab::short_text(found.number(2));
        } catch (const std::runtime_error& wrong) {  // an overflow of whole numbers
            why += std::string(" can't be worked out: ") + wrong.what();
        }
        broken.emplace_back(&check, why);
    }
    return broken;
}

void prove_checks(const model& of, const std::string& file) {
    for (std::size_t i = 0; i < of.checks.size(); ++i) {
        try {
            const row one(of, {of.checks[i].sql()});
        } catch (const std::runtime_error& wrong) {
            throw lab::input_error(file, item_path("$.checks", i) + ": " + of.checks[i].text() + ": " +
                                             wrong.what());
        }
    }
}

}  // namespace indicators
