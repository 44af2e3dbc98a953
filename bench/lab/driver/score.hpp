// lab driver: the result that a program reports: its score, and the settings that it really had
#ifndef LAB_DRIVER_SCORE_HPP
#define LAB_DRIVER_SCORE_HPP

#include "lab/design/factor_file.hpp"

#include <string>
#include <vector>

namespace lab {

struct reported {
    std::string status = "ok";  // or "no result", "wrong settings"
    std::string message;        // why
    double cost = 0;
    std::vector<double> also;             // as in the factor file
    std::vector<std::string> not_echoed;  // factors that the program says nothing of
};

// `output`: what the program wrote, a JSON document or one in its last line; `file.score` is the path in it, or
// "last number" of any text. So are those of `file.also`, of a document. Factors that "@parameters" (or
// "parameters") names have to have the values of `planned`.
reported report_in(const std::string& output, const factor_file& file, const configuration& planned);

}  // namespace lab

#endif
