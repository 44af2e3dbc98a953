// lab driver: the result that a program reports: its score, and the settings that it really had
#ifndef LAB_DRIVER_SCORE_HPP
#define LAB_DRIVER_SCORE_HPP

#include "lab/design/factor_file.hpp"

#include <string>
#include <vector>

namespace lab {

struct reported {
    std::string status = "ok";  // or "no result", "wrong settings"
    std::string message;        // the reason
    double cost = 0;
    std::vector<double> also;             // numbers of factor_file::also
    std::vector<std::string> not_echoed;  // factors that the document does not mention
};

// `output` is the program's output: a JSON document, or one in the last line. `file.score` is the path of the
// cost in it, or "last number" for any text; `file.also` has paths of further numbers. Factors in "@parameters"
// (or "parameters") must have the values of `planned`.
reported report_in(const std::string& output, const factor_file& file, const configuration& planned);

}  // namespace lab

#endif
