// indicators store: migrates stored results when a model changes
#include "indicators/record/read_record.hpp"
#include "indicators/store/result_store.hpp"
#include "indicators/store/schema.hpp"
#include "lab/data/input_error.hpp"

namespace indicators {

namespace {

// Empty: there is none.
std::string declared(lab::database& file, const std::string& name) {
    lab::statement select(file, "SELECT declaration FROM indicator_models WHERE name = ?1");
    return select.bind(1, name).next() ? select.text(0) : std::string();
}

// SQL does not distinguish them, and would give both one table.
void no_other_case(lab::database& file, const std::string& name) {
    lab::statement select(file,
                          "SELECT name FROM indicator_models WHERE lower(name) = lower(?1) AND name != ?1");
    if (select.bind(1, name).next())
        throw lab::input_error(file.path(), "has results of '" + select.text(0) + "', which differs from '" +
                                                name + "' in case alone; choose another name");
}

bool has_refused(lab::database& file, const std::string& name) {
    lab::statement select(file,
                          "SELECT 1 FROM indicator_results WHERE name = ?1 AND status = 'refused' LIMIT 1");
    return select.bind(1, name).next();
}

std::string few(const std::vector<std::string>& all) {
    std::string text;
    for (std::size_t i = 0; i < all.size() && i < 5; ++i) text += "\n    " + all[i];
    return text + (all.size() > 5 ? "\n    and " + std::to_string(all.size() - 5) + " more" : "");
}

}  // namespace

// Called within the transaction of the caller.
void result_store::declare(const model& of) {
    if (!declared(file_, of.name).empty()) file_.run("DROP TABLE " + lab::sql_name(of.table()));
    no_other_case(file_, of.name);
    file_.run(schema_of(of));
    lab::statement(file_, "INSERT OR REPLACE INTO indicator_models VALUES (?1, ?2)")
        .bind(1, of.name)
        .bind(2, of.declaration.dump())
        .run();
}

void result_store::keep_model(const model& of) {
    const std::string before = declared(file_, of.name);
    if (before.empty()) return declare(of);
    if (before == of.declaration.dump()) return;
    registry only;
    only.add(of.declaration, "the model " + of.name);
    judge_again(of, only, false, true);
}

result_store::migration result_store::judge_again(const model& of, const registry& models,
                                                  bool refuse_misfits, bool is_changed) {
    migration result{of.name, 0, 0, {}};
    if (is_changed) declare(of);
    // First collects their numbers, because rows must not be updated during a search.
    std::vector<std::int64_t> numbers;
    lab::statement select(
        file_, "SELECT number FROM indicator_results WHERE name = ?1 AND status IN ('refused', ?2)");
    select.bind(1, of.name).bind(2, is_changed ? "accepted" : "refused");
    while (select.next()) numbers.push_back(select.integer(0));
    lab::statement one(file_, "SELECT status, document, is_lenient FROM indicator_results WHERE number = ?1");
    lab::statement update(
        file_,
        "UPDATE indicator_results SET status = ?2, reasons = ?3, overall_score = ?4 WHERE number = ?1");
    for (const std::int64_t number : numbers) {
        one.bind(1, number).next();
        const bool was_accepted = one.text(0) == "accepted";
        const judged_run judged = judge(read_record(one.text(1)), models, {one.integer(2) != 0, true});
        one.next();
        const bool is_accepted = judged.status == "accepted";
        if (!is_accepted && was_accepted)
            result.misfits.push_back(judged.run.id + ": " + joined(judged.reasons));
        result.kept += is_accepted && was_accepted;
        result.accepted_now += is_accepted && !was_accepted;
        if (is_accepted) insert_values(of, number, judged.printed);
        update.bind(1, number).bind(2, judged.status).bind(3, joined(judged.reasons));
        if (judged.printed.document.score) {
            update.bind(4, *judged.printed.document.score);
        } else {
            update.bind_null(4);
        }
        update.run();
    }
    if (!result.misfits.empty() && !refuse_misfits)
        throw lab::input_error(
            file_.path(),
            of.name + " is declared otherwise than when its results were stored, and " +
                std::to_string(result.misfits.size()) + " of them don't fit:" + few(result.misfits) +
                "\nDeclare what is new as optional, or what it was before ('before', 'was'); or call "
                "`indicator migrate --refuse-misfits`, which keeps them as refused");
    return result;
}

std::vector<result_store::migration> result_store::migrate(const registry& models, bool refuse_misfits) {
    lab::transaction all(file_);
    std::vector<migration> done;
    for (const std::string& name : models.names()) {
        const model& of = *models.find(name);
        const std::string before = declared(file_, name);
        const bool any_refused = has_refused(file_, name);
        if ((before.empty() || before == of.declaration.dump()) && !any_refused) continue;
        done.push_back(judge_again(of, models, refuse_misfits, before != of.declaration.dump()));
    }
    all.commit();
    return done;
}

}  // namespace indicators
