// indicators store: stores results in SQLite, each once, with its whole document
#ifndef INDICATORS_STORE_RESULT_STORE_HPP
#define INDICATORS_STORE_RESULT_STORE_HPP

#include "indicators/record/run_record.hpp"
#include "lab/data/database.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace indicators {

// A file of results, which may have other tables, as the lab's runs.sqlite. Several processes may use one file
// at a time. A result is on the disk when add() returns, completely or not at all, whichever process is killed.
// Errors of SQLite are std::runtime_error.
class result_store {
  public:
    // Throws lab::input_error if the file must exist and does not, or is no database. A file that is only read
    // is not changed, and may have no results.
    explicit result_store(const std::string& path, lab::database::mode how = lab::database::mode::create);

    [[nodiscard]] bool has_results();

    // Records a batch before its first run, so that batches without stored results are known, too.
    void add_batch(const std::string& id, std::int64_t size);
    enum class added { stored, was_there };
    // Throws lab::input_error and stores nothing if another result has this id, or this place in a batch; or if
    // the model of an accepted result has changed, and stored results do not fit it.
    added add(const judged_run& result, const validation_options& how);

    struct migration {
        std::string name;
        std::size_t kept = 0;
        std::size_t accepted_now = 0;      // previously refused
        std::vector<std::string> misfits;  // previously accepted, with the reason why they are refused now
    };
    // Checks again, by `models`, all results whose models have changed since they were stored, and all refused
    // results, and rebuilds the tables. Misfits are an error unless they are to be refused; their documents are
    // kept. All of this happens, or nothing.
    std::vector<migration> migrate(const registry& models, bool refuse_misfits);

    // The declarations of its results at the time when they were stored. Models in `models` are not changed.
    void add_models_to(registry& models);
    [[nodiscard]] lab::database& file() { return file_; }

  private:
    void insert(const judged_run& result, const validation_options& how);
    void insert_values(const model& of, std::int64_t number, const validation& printed);
    void declare(const model& of);  // makes an empty table
    void keep_model(const model& of);
    migration judge_again(const model& of, const registry& models, bool refuse_misfits, bool is_changed);

    lab::database file_;
};

}  // namespace indicators

#endif
