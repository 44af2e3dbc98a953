// indicators commands: check, import and export: documents in files
#include "indicators/commands/command.hpp"
#include "indicators/record/read_record.hpp"
#include "lab/data/input_error.hpp"

#include <iostream>

namespace indicators {

namespace {

struct document_arguments {
    std::vector<std::string> files;
    std::string store = "indicators.sqlite";
    validation_options how;
    bool as_json = false;
};

json told(const std::string& file, const judged_run& judged) {
    const indicator_document& document = judged.printed.document;
    return {{"file", file},
            {"status", judged.status},
            {"name", document.name.empty() ? json() : json(document.name)},
            {"component", document.component.empty() ? json() : json(document.component)},
            {"generation", document.generation.empty() ? json() : json(document.generation)},
            {"reasons", list_of(judged.reasons)},
            {"doubts", list_of(judged.printed.doubts)}};
}

void print(const json& answer) {
    std::cout << answer["file"].get<std::string>() << ": " << answer["status"].get<std::string>();
    if (answer["status"] == "accepted")
        std::cout << ": " << answer["name"].get<std::string>() << " of "
                  << answer["component"].get<std::string>() << " (" << answer["generation"].get<std::string>()
                  << " generation)";
    if (answer.contains("store")) std::cout << ", " << answer["store"].get<std::string>();
    std::cout << '\n';
    for (const json& r : answer["reasons"])
        std::cout << "    " << r["path"].get<std::string>() << ": " << r["reason"].get<std::string>() << '\n';
    for (const json& r : answer["doubts"])
        std::cout << "    doubtful: " << r["path"].get<std::string>() << ": "
                  << r["reason"].get<std::string>() << '\n';
}

// A file that can't be read counts as a refused document.
std::vector<found_record> records_of(const std::string& path) {
    try {
        if (path == "-") return records_in({std::istreambuf_iterator<char>(std::cin), {}}, "standard input");
        return read_records(path);
    } catch (const lab::input_error& wrong) {
        std::vector<found_record> one(1);
        one[0].file = path;
        one[0].run.printed_path = "$";
        one[0].run.printed.refusals.push_back({"$", wrong.what()});
        return one;
    }
}

void store_it(result_store& store, const judged_run& judged, const validation_options& how, json& answer) {
    try {
        const bool is_new = store.add(judged, how) == result_store::added::stored;
        answer["store"] = is_new ? "stored" : "was there";
    } catch (const lab::input_error& wrong) {
        answer["status"] = "refused";
        answer["reasons"].push_back({{"path", "$"}, {"reason", wrong.what()}});
    }
}

// Whether a line of an export is a batch without results.
bool add_batch(result_store& store, const json& batch) {
    const json id = batch.is_object() ? batch.value("id", json()) : json();
    const json size = batch.is_object() ? batch.value("size", json()) : json();
    if (!id.is_string() || id == "" || !size.is_number_integer() || size < 1 || size > most_runs)
        return false;
    store.add_batch(id.get<std::string>(), size.get<std::int64_t>());
    return true;
}

void judge_files(const document_arguments& arguments, const shared_arguments& shared, bool is_import) {
    const registry models = shared.read_models();
    std::optional<result_store> store;
    json answers = json::array();
    bool all_good = true;
    for (const std::string& path : arguments.files) {
        for (found_record& found : records_of(path)) {
            const json& whole = found.run.whole;
            if (is_import && whole.is_object() && whole.contains("indicator_batch")) {
                if (!store) store.emplace(arguments.store);
                if (add_batch(*store, whole["indicator_batch"])) continue;
            }
            validation_options how = arguments.how;
            how.keep_extra = how.keep_extra || (whole.is_object() && whole.value("lenient", json()) == true);
            const judged_run judged = judge(std::move(found.run), models, how);
            json answer = told(found.file, judged);
            // Documents of this runner are always kept; of others, failed runs are kept, but refused documents are not.
            const bool is_ours = judged.run.wrong.empty() && judged.run.whole.contains("end");
            if (is_import && (judged.status != "refused" || is_ours)) {
                if (!store) store.emplace(arguments.store);
                store_it(*store, judged, how, answer);
            }
            all_good = all_good && answer["status"] == "accepted";
            if (arguments.as_json) {
                answers.push_back(std::move(answer));
            } else {
                print(answer);
            }
        }
    }
    if (arguments.as_json) std::cout << answers.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
    if (!all_good) throw CLI::RuntimeError(1);
}

void add_documents(CLI::App& command, document_arguments& arguments) {
    command.add_option("FILE", arguments.files, "a document; - is standard input")->required();
    command.add_flag("--lenient", arguments.how.keep_extra,
                     "keeps undeclared members of @parameters and @result");
    command.add_flag("--json", arguments.as_json, "answers in JSON");
}

void run_export(const std::string& path) {
    result_store store(path, lab::database::mode::reading);
    if (!store.has_results()) throw lab::input_error(path, "has no indicators in it");
    lab::statement rows(store.file(), "SELECT document, is_lenient FROM indicator_results ORDER BY number");
    lab::statement empty(store.file(),
                         "SELECT id, size FROM indicator_batches WHERE id NOT IN"
                         " (SELECT batch FROM indicator_results WHERE batch IS NOT NULL) ORDER BY id");
    while (empty.next())  // batches whose runs are all missing
        std::cout << text_of_json({{"indicator_batch", {{"id", empty.text(0)}, {"size", empty.integer(1)}}}})
                  << '\n';
    while (rows.next()) {
        json document = json::parse(rows.text(0));
        if (!document.contains("indicator_result"))
            document = {{"indicator_result", 1}, {"document", document}};
        if (rows.integer(1) != 0) document["lenient"] = true;
        std::cout << text_of_json(document) << '\n';
    }
}

}  // namespace

void add_check(CLI::App& app, const shared_arguments& shared) {
    CLI::App& command = *app.add_subcommand(
        "check",
        "Checks whether files are indicators, and prints reasons. Exits with 0 if all are, else with 1");
    auto arguments = std::make_shared<document_arguments>();
    add_documents(command, *arguments);
    command.callback([arguments, &shared] { judge_files(*arguments, shared, false); });
}

void add_import(CLI::App& app, const shared_arguments& shared) {
    CLI::App& command = *app.add_subcommand("import",
                                            "Stores documents of this or other runners: each once, "
                                            "however often it is imported. Exits with 1 if "
                                            "not all of them were accepted");
    auto arguments = std::make_shared<document_arguments>();
    add_documents(command, *arguments);
    add_store(command, arguments->store)->capture_default_str();
    command.add_flag("--older", arguments->how.is_older,
                     "missing fields get the values that models give for older documents");
    command.callback([arguments, &shared] { judge_files(*arguments, shared, true); });
}

void add_export(CLI::App& app, const shared_arguments& /*shared*/) {
    CLI::App& command =
        *app.add_subcommand("export", "Prints all documents of a store, one per line, for `import`");
    auto store = std::make_shared<std::string>("indicators.sqlite");
    add_store(command, *store)->capture_default_str();
    command.callback([store] { run_export(*store); });
}

}  // namespace indicators
