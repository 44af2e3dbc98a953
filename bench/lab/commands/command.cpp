// lab commands: shared by the commands
#include "lab/commands/command.hpp"

namespace lab {

json data_summary(const run_table& table) {
    json names = json::array();
    for (const factor& f : table.factors) names.push_back(f.name);
    return {{"file", table.name},
            {"cost", table.cost_name},
            {"better", table.more_is_better ? "more" : "less"},
            {"runs", table.runs.size()},
            {"failed", table.num_failed},
            {"configurations", configurations_of(table).size()},
            {"factors", names},
            {"notes", table.notes}};
}

}  // namespace lab
