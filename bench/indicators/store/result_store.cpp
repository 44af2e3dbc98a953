// indicators store: adds results to the store
#include "indicators/store/result_store.hpp"

#include "indicators/store/schema.hpp"
#include "lab/data/input_error.hpp"

#include <filesystem>

namespace indicators {

namespace {

std::string existing(const std::string& path, lab::database::mode how) {
    if (how != lab::database::mode::create && !std::filesystem::exists(path))
        throw lab::input_error(path, "there is no store; `run --store` and `import --store` make one");
    return path;
}

void bind_text(lab::statement& to, int place, const std::string& text) {
    if (text.empty()) {
        to.bind_null(place);
    } else {
        to.bind(place, text);
    }
}
void bind_usage(lab::statement& to, int place, const run_record& run, const char* key, bool is_whole) {
    const auto found = run.usage.find(key);
    if (found == run.usage.end()) {
        to.bind_null(place);
    } else if (is_whole) {
        to.bind(place, static_cast<std::int64_t>(found->second));
    } else {
        to.bind(place, found->second);
    }
}
void bind_json(lab::statement& to, int place, const json& value) {
    if (value.is_null()) {
        to.bind_null(place);
    } else if (value.is_boolean()) {
        to.bind(place, std::int64_t{value.get<bool>()});
    } else if (value.is_number_integer()) {
        to.bind(place, value.get<std::int64_t>());
    } else if (value.is_number()) {
        to.bind(place, value.get<double>());
    } else {
        to.bind(place, lab::plain_text(value));
    }
}

// A document of another runner is identified by its content.
bool is_hash(const std::string& id) { return id.size() == 64 && id.find('.') == id.npos; }

}  // namespace

result_store::result_store(const std::string& path, lab::database::mode how)
    : file_(existing(path, how), how) {
    if (how == lab::database::mode::reading) return;
    lab::transaction all(file_);
    file_.run(base_schema());
    all.commit();
}

bool result_store::has_results() {
    lab::statement table(file_,
                         "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'indicator_results'");
    return table.next();
}

// If a batch was smaller at first, because its folder was incomplete, the larger size counts.
void result_store::add_batch(const std::string& id, std::int64_t size) {
    lab::statement(file_,
                   "INSERT INTO indicator_batches VALUES (?1, ?2)"
                   " ON CONFLICT (id) DO UPDATE SET size = max(size, excluded.size)")
        .bind(1, id)
        .bind(2, size)
        .run();
}

result_store::added result_store::add(const judged_run& result, const validation_options& how) {
    lab::transaction all(file_);
    const run_record& run = result.run;
    if (run.batch) add_batch(run.batch->id, run.batch->size);
    bool is_there = false;
    {
        lab::statement same(file_, "SELECT document FROM indicator_results WHERE id = ?1");
        is_there = same.bind(1, run.id).next();
        // Independent of the order of its members.
        if (is_there && !is_hash(run.id) &&
            nlohmann::json::parse(same.text(0)) != nlohmann::json::parse(text_of_json(run.whole)))
            throw lab::input_error(file_.path(), "another result has the id '" + run.id + "'");
    }
    if (!is_there && run.batch) {
        lab::statement place(file_, "SELECT id FROM indicator_results WHERE batch = ?1 AND place = ?2");
        if (place.bind(1, run.batch->id).bind(2, run.batch->place).next())
            throw lab::input_error(file_.path(), "place " + std::to_string(run.batch->place) + " of batch '" +
                                                     run.batch->id + "' has another result, '" +
                                                     place.text(0) + "'");
    }
    if (!is_there) insert(result, how);
    all.commit();
    return is_there ? added::was_there : added::stored;
}

void result_store::insert(const judged_run& result, const validation_options& how) {
    if (result.status == "accepted") keep_model(*result.printed.document.of);
    const run_record& run = result.run;
    const indicator_document& document = result.printed.document;
    lab::statement to(
        file_,
        "INSERT INTO indicator_results (id, status, reasons, name, component, generation, version, origin,"
        " batch, place, machine, host, started, started_unix, ended, duration_s, \"end\", exit_code, signal,"
        " ru_utime, ru_stime, ru_maxrss, ru_minflt, ru_majflt, ru_inblock, ru_oublock, ru_nvcsw, ru_nivcsw,"
        " overall_score, stack, document, is_lenient) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
        " ?12, ?13, (julianday(?13) - 2440587.5) * 86400.0, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,"
        " ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)");
    to.bind(1, run.id).bind(2, result.status).bind(3, joined(result.reasons));
    bind_text(to, 4, document.name);
    bind_text(to, 5, document.component);
    bind_text(to, 6, document.generation);
    bind_text(to, 7, run.version);
    bind_text(to, 8, run.origin);
    if (run.batch) to.bind(9, run.batch->id).bind(10, run.batch->place);
    bind_text(to, 11, run.machine);
    bind_text(to, 12, run.host);
    bind_text(to, 13, run.started);
    bind_text(to, 14, run.ended);
    if (run.duration_s) to.bind(15, *run.duration_s);
    bind_text(to, 16, run.end);
    if (run.exit_code) to.bind(17, *run.exit_code);
    bind_text(to, 18, run.signal);
    int place = 19;
    for (const char* key : {"ru_utime", "ru_stime"}) bind_usage(to, place++, run, key, false);
    for (const char* key :
         {"ru_maxrss", "ru_minflt", "ru_majflt", "ru_inblock", "ru_oublock", "ru_nvcsw", "ru_nivcsw"})
        bind_usage(to, place++, run, key, true);
    if (document.score) to.bind(28, *document.score);
    to.bind(29, text_of_json(json(run.stack)))
        .bind(30, text_of_json(run.whole))
        .bind(31, std::int64_t{how.keep_extra});
    to.run();
    if (result.status != "accepted") return;
    lab::statement number(file_, "SELECT last_insert_rowid()");
    number.next();
    insert_values(*document.of, number.integer(0), result.printed);
}

void result_store::insert_values(const model& of, std::int64_t number, const validation& printed) {
    std::string places = "?1";
    for (std::size_t i = 0; i < of.fields.size() + 1; ++i) places += ", ?" + std::to_string(i + 2);
    lab::statement to(file_, "INSERT INTO " + lab::sql_name(of.table()) + " VALUES (" + places + ")");
    to.bind(1, number);
    int place = 2;
    for (const field& f : of.fields) bind_json(to, place++, printed.document.values.value(f.name, json()));
    if (!printed.document.extra.empty()) to.bind(place, printed.document.extra.dump());
    to.run();
}

void result_store::add_models_to(registry& models) {
    lab::statement all(file_, "SELECT declaration FROM indicator_models ORDER BY name");
    while (all.next()) models.add(json::parse(all.text(0)), file_.path());
}

}  // namespace indicators
