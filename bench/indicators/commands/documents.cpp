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

json lines_of(const refusals& all) {
    json list = json::array();
    for (const refusal& r : all) list.push_back({{"path", r.path}, {"reason", r.reason}});
    return list;
}

json told(const std::string& file, const judged_run& judged) {
    const indicator_document& document = judged.printed.document;
    return {{"file", file},
            {"status", judged.status},
            {"name", document.name.empty() ? json() : json(document.name)},
            {"component", document.component.empty() ? json() : json(document.component)},
            {"generation", document.generation.empty() ? json() : json(document.generation)},
            {"reasons", lines_of(judged.reasons)},
            {"doubts", lines_of(judged.printed.doubts)}};
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

// A document that can't be read from its file is one that is refused.
std::vector<found_record> records_of(const std::string& path) {
    if (path != "-") return read_records(path);
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    std::vector<found_record> one;
    one.push_back({"standard input", read_record(text)});
    return one;
}

// With a store: what is accepted, or failed, is stored.
void judge_files(const document_arguments& arguments, const shared_arguments& shared, bool is_import) {
    const registry models = shared.read_models();
    std::optional<result_store> store;
    json answers = json::array();
    bool all_good = true;
    for (const std::string& path : arguments.files) {
        for (found_record& found : records_of(path)) {
            judged_run judged = judge(std::move(found.run), models, arguments.how);
            json answer = told(found.file, judged);
            // A run that failed is one, with its document; what isn't an indicator, and nobody saw run, is none.
            const bool is_ours =
                judged.run.whole.is_object() && judged.run.whole.contains("indicator_result");
            if (is_import && (judged.status != "refused" || is_ours)) {
                if (!store) store.emplace(arguments.store);
                try {
                    const bool is_new = store->add(judged, arguments.how) == result_store::added::stored;
                    answer["store"] = is_new ? "stored" : "was there";
                } catch (const lab::input_error& wrong) {
                    answer["status"] = "refused";
                    answer["reasons"].push_back({{"path", "$"}, {"reason", wrong.what()}});
                }
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
                     "keeps members of @parameters and @result that no model declares");
    command.add_flag("--json", arguments.as_json, "answers in JSON");
}

void run_export(const std::string& path) {
    result_store store(path, lab::database::mode::existing);
    lab::statement rows(store.file(), "SELECT id, document FROM indicator_results ORDER BY number");
    while (rows.next()) {
        const json document = json::parse(rows.text(1));
        std::cout << document_line(
            document.contains("indicator_result")
                ? document
                : json{{"indicator_result", 1}, {"id", rows.text(0)}, {"document", document}});
    }
    if (!std::cout.flush()) throw std::runtime_error("standard output can't be written");
}

}  // namespace

void add_check(CLI::App& app, const shared_arguments& shared) {
    CLI::App& command = *app.add_subcommand(
        "check",
        "Says whether files are indicators, and if not, why not. Ends with 0 if all are, else with 1");
    auto arguments = std::make_shared<document_arguments>();
    add_documents(command, *arguments);
    command.callback([arguments, &shared] { judge_files(*arguments, shared, false); });
}

void add_import(CLI::App& app, const shared_arguments& shared) {
    CLI::App& command = *app.add_subcommand("import",
                                            "Stores documents that this or other runners made: each once, "
                                            "however often it is imported. Ends with 1 if "
                                            "not all of them were accepted");
    auto arguments = std::make_shared<document_arguments>();
    add_documents(command, *arguments);
    add_store(command, arguments->store)->capture_default_str();
    command.add_flag("--older", arguments->how.is_older,
                     "fields that documents lack are what they were before they were declared");
    command.callback([arguments, &shared] { judge_files(*arguments, shared, true); });
}

void add_export(CLI::App& app, const shared_arguments& /*shared*/) {
    CLI::App& command =
        *app.add_subcommand("export", "Prints all documents of a store, one a line, for `import`");
    auto store = std::make_shared<std::string>("indicators.sqlite");
    add_store(command, *store)->capture_default_str();
    command.callback([store] { run_export(*store); });
}

}  // namespace indicators
