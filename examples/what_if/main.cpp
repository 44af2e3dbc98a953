// what_if: predicts what changes of a pipeline would bring: the given ones, or the usual ones.
// The pipeline is a spec or a stored run.
// SPDX-License-Identifier: BSL-1.0
#include "../simulate/changes_table.hpp"
#include "../simulate/explaining_program.hpp"
#include "../simulate/explanation.hpp"
#include "../simulate/request.hpp"

#include <iostream>  // for std::cout

int main(int argc, char** argv) {
    const auto show = [](const simulate::request& asked, const simulate::explanation& answer) {
        std::cout << asked.title << ": ";
        if (answer.refused.empty()) {
            std::cout << simulate::detail::rate_text(answer.today.rate)
                      << " today; what each change would bring:\n\n"
                      << changes_table(asked, answer, answer.predictions.size());
        } else {
            std::cout << "no prediction: " << answer.refused << ".\n";
        }
        std::cout << std::endl;
    };
    return simulate::explaining_program(argc, argv, "what_if",
                                        "Predicts what changes of the pipelines of FILE would bring.", show);
}
