// indicators store: stores results in SQLite, each once, with its whole document
#ifndef INDICATORS_STORE_RESULT_STORE_HPP
#define INDICATORS_STORE_RESULT_STORE_HPP

#include "indicators/record/run_record.hpp"
#include "lab/data/database.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace indicators {

// May be a file that has other tables, as the lab's runs.sqlite. Several processes may use one file at a time: a
// result is on the disk when add() returns, and is there whole or not at all, whenever who is killed. Errors of
// SQLite's are std::runtime_error.
class result_store {
  public:
    // Throws lab::input_error: no such file, where it is to exist; no database. What is only read is not changed,
    // and may be a file without results.
    explicit result_store(const std::string& path, lab::database::mode how = lab::database::mode::create);

    [[nodiscard]] bool has_results();

    // Before its first run, so that a batch of which nothing was stored is known, too.
    void add_batch(const std::string& id, std::int64_t size);
    enum class added { stored, was_there };
    // Throws lab::input_error, and stores nothing: another result has this id, or this place in a batch; the model
    // of an accepted result isn't what it was, and stored results don't fit it.
    added add(const judged_run& result, const validation_options& how);

    struct migration {
        std::string name;
        std::size_t kept = 0;
        std::size_t accepted_now = 0;      // refused before
        std::vector<std::string> misfits;  // accepted before, and why they are refused now
    };
    // Judges all results of the models that were declared otherwise when they were stored, and those that were
    // refused, by `models`, and makes their tables anew. Misfits are an error unless they are to be refused; they
    // stay, with their documents. All of it or nothing.
    std::vector<migration> migrate(const registry& models, bool refuse_misfits);

    // What its results were declared as when they were stored; models that are in `models`, too, stay what they are
    // there.
    void add_models_to(registry& models);
    [[nodiscard]] lab::database& file() { return file_; }

  private:
    void insert(const judged_run& result, const validation_options& how);
    void insert_values(const model& of, std::int64_t number, const validation& printed);
    void declare(const model& of);  // with an empty table
    void keep_model(const model& of);
    migration judge_again(const model& of, const registry& models, bool refuse_misfits, bool is_changed);

    lab::database file_;
};

}  // namespace indicators

#endif
