// explain: says why a pipeline is not faster, and shows the evidence: the states of its stages, and the
// changes that would bring most. The pipeline is a spec or a stored run.
// SPDX-License-Identifier: BSL-1.0
#include "../simulate/changes_table.hpp"
#include "../simulate/explaining_program.hpp"
#include "../simulate/explanation.hpp"
#include "../simulate/request.hpp"
#include "states.hpp"

#include <cstddef>   // for std::size_t
#include <iostream>  // for std::cout

int main(int argc, char** argv) {
    const auto show = [](const simulate::request& asked, const simulate::explanation& answer) {
        constexpr std::size_t best_changes = 5;
        std::cout << asked.title << ": " << answer.why.sentence << ".\n";
        if (!answer.today.stages.empty()) std::cout << '\n' << explain::states_table(answer.today);
        if (!answer.predictions.empty()) std::cout << '\n' << changes_table(asked, answer, best_changes);
        std::cout << std::endl;
    };
    return simulate::explaining_program(
        argc, argv, "explain",
        "Says why the pipelines of FILE are not faster, and what would make them faster.", show);
}
