// lab commands: pca: principal components over sequences of treatments
#include "lab/analysis/sequences.hpp"
#include "lab/commands/command.hpp"

#include <memory>
#include <string>

namespace lab {

namespace {

struct pca_arguments : data_arguments {
    std::size_t sequences = 550;
    std::uint64_t seed = 1;
    bool scores = false;
};

void run_pca(const pca_arguments& arguments) {
    const run_table table = read_data(arguments);
    const sequence_table sequences = sequences_of(table, arguments.sequences, arguments.seed);
    const principal_components components = components_of(sequences);
    json document{{"data", data_summary(table)},
                  {"sequences", sequences.changes.size()},
                  {"treatments", components.treatments}};
    document["components"] = json::array();
    double so_far = 0;
    for (std::size_t c = 0; c < components.variances.size(); ++c) {
        so_far += components.shares[c];
        document["components"].push_back({{"component", c + 1},
                                          {"variance", components.variances[c]},
                                          {"share", components.shares[c]},
                                          {"shares_so_far", so_far}});
    }
    document["loadings"] = json::array();
    for (std::size_t t = 0; t < components.treatments.size(); ++t) {
        json row{{"treatment", components.treatments[t]}};
        for (std::size_t c = 0; c < components.loadings.size(); ++c)
            row["component_" + std::to_string(c + 1)] = components.loadings[c][t];
        document["loadings"].push_back(std::move(row));
    }
    if (arguments.scores) {
        document["scores"] = json::array();
        for (std::size_t s = 0; s < sequences.changes.size(); ++s) {
            json row{{"sequence", s + 1}};
            for (std::size_t c = 0; c < components.scores.size(); ++c)
                row["component_" + std::to_string(c + 1)] = components.scores[c][s];
            document["scores"].push_back(std::move(row));
        }
    }
    answer(document, arguments.as_json);
}

}  // namespace

void add_pca(CLI::App& app) {
    CLI::App& command = *app.add_subcommand(
        "pca", "Principal components of sequences in which all treatments were applied one after the other");
    auto arguments = std::make_shared<pca_arguments>();
    add_data_arguments(command, *arguments);
    command.add_option("--sequences", arguments->sequences, "maximum number of sequences")
        ->capture_default_str();
    command.add_option("--seed", arguments->seed, "of the draw")->capture_default_str();
    command.add_flag("--scores", arguments->scores, "with the position of each sequence");
    command.callback([arguments] { run_pca(*arguments); });
}

}  // namespace lab
