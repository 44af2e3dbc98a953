// lab commands: plot: writes each plot as SVG, and all of them in one page with a sentence under each
#include "lab/commands/command.hpp"
#include "lab/data/input_error.hpp"
#include "lab/plot/page.hpp"
#include "lab/plot/plots.hpp"

#include <weir/platform/output_file.hpp>

#include <filesystem>
#include <memory>
#include <system_error>

namespace lab {

namespace {

struct plot_arguments : data_arguments {
    study_choice choice;
    std::string out = "plots";
    std::vector<std::string> only;
};

void run_plot(const plot_arguments& arguments) {
    const run_table table = read_data(arguments);
    study analyses(table, arguments.choice);
    const std::vector<plot> plots = plots_of(analyses, arguments.only);
    const std::filesystem::path folder(arguments.out);
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure)
        throw input_error(arguments.out,
                          "no folder can be made there: " + failure.message() + "; name another with --out");
    const std::string page = (folder / "index.html").string();
    json document{{"data", data_summary(table)}, {"page", page}};
    document["plots"] = json::array();
    for (const plot& p : plots) {
        const std::string file = (folder / (p.name + ".svg")).string();
        weir::detail::output_file::replace(file, svg_file(p));
        document["plots"].push_back({{"name", p.name},
                                     {"title", p.title},
                                     {"file", file},
                                     {"empty", p.empty},
                                     {"sentence", p.sentence}});
    }
    weir::detail::output_file::replace(page, plots_page(table, plots));
    answer(document, arguments.as_json);
}

}  // namespace

void add_plot(CLI::App& app) {
    CLI::App& command =
        *app.add_subcommand("plot",
                            "Writes each plot as SVG, and all plots in one page with a sentence under each");
    auto arguments = std::make_shared<plot_arguments>();
    add_data_arguments(command, *arguments);
    command
        .add_option(
            "--keep", arguments->choice.keep,
            "the treatments that plot `means-kept` leaves out (default: the strongest with a strong pair)")
        ->delimiter(',');
    command.add_option(
        "--treatment", arguments->choice.treatment,
        "the treatment of plots `scatter`, `scatter-flipped` and `crossing` (default: the strongest)");
    command.add_option(
        "--colour", arguments->choice.colour,
        "the treatment that colours them (default: the one that best explains the differences)");
    command.add_option("--out", arguments->out, "the folder for files, made if it does not exist")
        ->capture_default_str();
    command.add_option("--only", arguments->only, "names of plots")->delimiter(',');
    command.callback([arguments] { run_plot(*arguments); });
}

}  // namespace lab
